"""Places: what a URL means, and what a person is told when a disk or a bucket fails."""

import builtins
import errno
import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from ragstone.errors import MissingExtraError, StorageError, UsageError
from ragstone.storage.places import Place, open_place, read_json, show_url, storage_errors


@pytest.mark.parametrize("url", ["folder", "./folder", "folder/", "../here/folder"])
def test_local_paths(url, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    place = open_place(url)
    assert place.is_local
    assert place.path == str(tmp_path / "here" / "folder")
    assert str(place) == url
    assert place.name == "folder"


def test_a_path_object_and_a_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert open_place(Path("/a/b")).path == "/a/b"
    assert open_place("~/b").path == str(tmp_path / "b")
    assert open_place("file:///a/b").path == "/a/b"
    assert open_place("FILE:///a/b").is_local


@pytest.mark.parametrize("url", ["s3://", "s3:///", "memory://"])
def test_a_url_must_name_something(url):
    with pytest.raises(UsageError, match="has no bucket or host"):
        open_place(url)


def test_an_empty_path_is_not_the_folder_one_stands_in():
    with pytest.raises(UsageError, match="path is empty"):
        open_place("")


def test_an_unknown_scheme_is_told():
    with pytest.raises(UsageError, match=r"cannot open 'nonsense://x'.*nonsense"):
        open_place("nonsense://x")


def test_capital_letters_in_a_scheme_do_not_make_a_folder(bucket, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (open_place(f"S3://{bucket.name}") / "file").write_bytes(b"1")
    assert bucket.list() == ["file"]
    assert list(tmp_path.iterdir()) == []


def test_without_fsspec_the_line_that_installs_it(monkeypatch):
    real = builtins.__import__

    def without_fsspec(name, *arguments, **options):
        if name == "fsspec":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_fsspec)
    with pytest.raises(MissingExtraError, match=r"pip install 'ragstone\[fsspec\]'") as caught:
        open_place("memory://somewhere/file")
    assert "memory://somewhere/file" in str(caught.value)
    assert caught.value.exit_code == 2


def test_temporary_names_are_gone_after_a_failure(tmp_path):
    def fail():
        with (open_place(tmp_path) / "file").writing() as stream:
            stream.write(b"half")
            assert [path.suffix for path in tmp_path.iterdir()] == [".tmp"]
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_two_writers_at_once_do_not_mix(tmp_path):
    place = open_place(tmp_path) / "file"
    with place.writing() as first, place.writing() as second:
        first.write(b"1" * 1000)
        second.write(b"2" * 1000)
    assert place.read_bytes() in (b"1" * 1000, b"2" * 1000)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "x"), "the disk is full. Free some space"),
        (OSError(errno.EROFS, "x"), "read-only. Choose another"),
        (OSError(errno.EACCES, "x"), "permission denied. Fix the permissions"),
        (OSError(errno.EPERM, "x"), "permission denied"),
        (OSError(errno.ENOENT, "x"), "no such file or folder. Check the name"),
        (OSError(errno.EIO, "x"), "Input/output error"),
        (OSError(errno.ENOTDIR, "x"), "Not a directory"),
        (OSError("When reading: AWS Error NETWORK_CONNECTION during GetObject"), "the server does not answer"),
        (OSError("AWS Error NO_SUCH_BUCKET during PutObject"), "there is no such bucket. Create it first"),
        (OSError("AWS Error ACCESS_DENIED during PutObject"), "permission denied"),
        (pa.ArrowInvalid("Parquet magic bytes not found. Detail: noise"), "Parquet magic bytes not found."),
    ],
)
def test_failures_say_what_why_and_what_to_do(error, words):
    with pytest.raises(StorageError) as caught, storage_errors("cannot write here"):
        raise error
    assert str(caught.value).startswith("cannot write here: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("call", ["makedirs", "fsync", "replace"])
def test_every_step_of_a_write_may_fail(number, call, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(StorageError, match=r"cannot write .*file"):
        (open_place(tmp_path) / "file").write_bytes(b"1")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("where", ["/proc/nonsense/file", "{file}/below/file"])
def test_places_where_nothing_can_be(where, tmp_path):
    (tmp_path / "a-file").write_text("in the way")
    place = open_place(where.format(file=tmp_path / "a-file"))
    with pytest.raises(StorageError, match="cannot write"):
        place.write_bytes(b"1")
    assert not place.exists()


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(StorageError, match="cannot read"):
        open_place(tmp_path).read_bytes()


def write_to_full_device():
    with storage_errors("cannot write"), open("/dev/full", "wb", buffering=0) as stream:
        stream.write(b"1")


def test_a_device_that_is_always_full():
    """A real ENOSPC, from the kernel."""
    with pytest.raises(StorageError, match="the disk is full"):
        write_to_full_device()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of one megabyte, where we may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting is not permitted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_fills_up(small_disk):
    place = open_place(small_disk) / "file"
    place.write_bytes(b"old")
    with pytest.raises(StorageError, match=r"the disk is full\. Free some space"):
        place.write_bytes(os.urandom(2 << 20))
    assert place.read_bytes() == b"old"
    assert [path.name for path in small_disk.iterdir()] == ["file"]


def test_a_run_on_a_disk_that_fills_up(small_disk):
    import ragstone

    rows = [{"question": os.urandom(2000).hex()} for _ in range(1000)]
    with pytest.raises(StorageError, match="the disk is full"):
        ragstone.evaluate(rows, "token_f1", small_disk)
    assert list(small_disk.rglob("*.parquet*")) == []


def test_a_file_that_may_not_grow(tmp_path):
    """A limit of the shell (ulimit -f) on the size of files."""
    code = (
        "import sys; from ragstone.storage.places import open_place\n"
        "try: open_place(sys.argv[1]).write_bytes(bytes(1 << 20))\n"
        "except Exception as error: print(type(error).__name__, error)"
    )

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "file")], capture_output=True, text=True, preexec_fn=limit
    )
    assert done.stdout.startswith("StorageError cannot write")
    assert "File too large" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_json_that_is_none(tmp_path):
    place = open_place(tmp_path) / "file"
    place.write_bytes(b"{")
    with pytest.raises(StorageError, match=r"cannot read .*file: it is not JSON"):
        read_json(place)


def test_json_that_is_replaced_while_it_is_read(bucket, monkeypatch):
    """S3 gives the size first; a longer object that replaces it meanwhile would be cut."""
    place = open_place(bucket.url) / "owner.json"
    opens = Place.open_input

    def replaced(self):
        stream = opens(self)
        monkeypatch.setattr(Place, "open_input", opens)
        place.write_bytes(b'{"pid": 12345}')
        return stream

    for read, expected in ((place.read_bytes, b'{"pid": 12'), (lambda: read_json(place), {"pid": 12345})):
        place.write_bytes(b'{"pid": 7}')
        monkeypatch.setattr(Place, "open_input", replaced)
        assert read() == expected


def test_places_are_values():
    assert isinstance(open_place("a") / "b", Place)
    assert str(open_place("s3://bucket/prefix/") / "key") == "s3://bucket/prefix/key"
    assert str(open_place("a/") / "b") == "a/b"


@pytest.mark.parametrize("url", ["s3://user:geheim@bucket/key", "ftp://user:geheim@host/file", "s3://user:ge:heim@b"])
def test_a_password_in_an_address_is_refused_and_not_shown(url):
    with pytest.raises(UsageError, match="password") as error:
        open_place(url)
    assert "heim" not in str(error.value)


def test_addresses_are_shown_without_secrets():
    signed = "https://host/a.jsonl?X-Amz-Signature=geheim&x=1"
    assert show_url(signed) == "https://host/a.jsonl?…"
    assert show_url("abfs://container@account.host/a") == "abfs://container@account.host/a"
    assert show_url("s3://bucket/day-?.jsonl") == "s3://bucket/day-?.jsonl"
    assert show_url("what?a=b") == "what?a=b"


@pytest.mark.parametrize(("late", "removed"), [(1, True), (2, True), (3, False)])
def test_a_folder_into_which_a_process_still_writes(late, removed, tmp_path, monkeypatch):
    """A worker that is about to end may write a reply between the listing and the removal of the folder."""
    place = open_place(tmp_path / "replies")
    (tmp_path / "replies").mkdir()
    tries = []

    class Files:
        def delete_dir(self, path):
            tries.append(path)
            if len(tries) <= late:
                raise OSError(errno.ENOTEMPTY, "Directory not empty")
            os.rmdir(path)

    monkeypatch.setattr("ragstone.storage.places.time.sleep", lambda seconds: None)
    slow = replace(place, files=Files())
    monkeypatch.setattr(type(slow), "is_folder", lambda self: (tmp_path / "replies").exists())
    if removed:
        slow.remove_folder()
        assert len(tries) == late + 1
    else:
        with pytest.raises(StorageError, match="not empty"):
            slow.remove_folder()
    assert (tmp_path / "replies").exists() != removed
