"""Replies on disk: found again, never wrong, never in the way."""

import json
import multiprocessing
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import StorageError
from ragstone.llm.cache import Cache, default_folder, make_key

KEY = make_key({"a": 1})


def entry(folder):
    (path,) = folder.rglob("*.json")
    return path


@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(), st.lists, max_leaves=8))
def test_what_is_written_is_read(tmp_path_factory, value):
    cache = Cache(tmp_path_factory.getbasetemp() / "any")
    cache.write(KEY, {"value": value})
    assert cache.read(KEY) == {"value": value}
    assert cache.problem is None


def test_an_entry_is_one_json_file(tmp_path):
    Cache(tmp_path).write(KEY, {"text": "fine"})
    stored = json.loads(entry(tmp_path).read_bytes())
    assert stored.keys() == {"ragstone", "key", "checksum", "value"}
    assert stored["value"] == {"text": "fine"}


def test_keys():
    assert make_key({"a": 1, "b": [2]}) == make_key({"b": [2], "a": 1})
    different = [{"a": 1}, {"a": "1"}, {"a": 1.5}, {"a": None}, {"a": [1]}, {"b": 1}, {}, {"a": "é"}, {"a": "e\u0301"}]
    assert len({make_key(parts) for parts in different}) == len(different)


def test_every_cut_and_every_changed_byte_is_a_miss(tmp_path):
    cache = Cache(tmp_path)
    cache.write(KEY, {"text": "fine", "n": [1, 2]})
    path = entry(tmp_path)
    good = path.read_bytes()
    for end in range(len(good)):
        path.write_bytes(good[:end])
        assert cache.read(KEY) is None, end
    for at in range(len(good)):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        assert cache.read(KEY) is None, at
    path.write_bytes(good + b"}")
    assert cache.read(KEY) is None
    path.write_bytes(good)
    assert cache.read(KEY) == {"text": "fine", "n": [1, 2]}


def test_an_entry_under_a_foreign_name_is_a_miss(tmp_path):
    cache, other = Cache(tmp_path), make_key({"a": 2})
    cache.write(KEY, "one")
    target = tmp_path / other[:2] / f"{other[2:]}.json"
    target.parent.mkdir(exist_ok=True)
    os.replace(entry(tmp_path), target)
    assert cache.read(other) is None


def test_an_entry_that_cannot_be_read_is_a_miss(tmp_path):
    cache = Cache(tmp_path)
    cache.write(KEY, "one")
    path = entry(tmp_path)
    path.unlink()
    path.mkdir()
    assert cache.read(KEY) is None


def test_a_folder_that_cannot_be_made_is_noted_and_no_failure(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file" / "cache")
    cache.write(KEY, "one")
    assert cache.read(KEY) is None
    assert cache.problem == f"replies are not stored in {tmp_path / 'file' / 'cache'}: Not a directory"


def test_a_full_disk_is_noted_and_no_failure(tmp_path):
    """A limit on the size of files stops the writing half-way, as a full disk does."""
    script = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
from ragstone.llm.cache import Cache
cache = Cache({str(tmp_path)!r})
cache.write({KEY!r}, "x" * 5000)
assert cache.read({KEY!r}) is None
print(cache.problem)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"replies are not stored in {tmp_path}: File too large"
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_size_and_clear(tmp_path):
    cache = Cache(tmp_path)
    assert cache.size() == (0, 0)
    for number in range(20):
        cache.write(make_key(number), "x" * 100)
    (tmp_path / KEY[:2]).mkdir(exist_ok=True)
    (tmp_path / KEY[:2] / "half.json.1.tmp").write_text("left by a killed process")
    (tmp_path / "notes.txt").write_text("not ours")
    entries, total = cache.size()
    assert entries == 20
    assert total == sum(path.stat().st_size for path in tmp_path.rglob("*") if path.suffix in (".json", ".tmp"))
    assert cache.clear() == (20, total)
    assert cache.size() == (0, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    cache.write(KEY, "again")
    assert cache.read(KEY) == "again"


def test_clearing_what_is_not_there(tmp_path):
    assert Cache(tmp_path / "none").clear() == (0, 0)


def test_clearing_what_may_not_be_removed(tmp_path, monkeypatch):
    Cache(tmp_path).write(KEY, "one")

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.unlink", refuse)
    with pytest.raises(StorageError, match=r"cannot clear .*: Permission denied"):
        Cache(tmp_path).clear()


def test_where_replies_are_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "mine"))
    assert default_folder() == Cache().folder == tmp_path / "mine"
    monkeypatch.delenv("RAGSTONE_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "ragstone" / "replies"


def _hammer(folder, seed):
    cache = Cache(folder)
    for round_number in range(60):
        for number in range(10):
            key = make_key(number)
            found = cache.read(key)
            if found is not None and found != {"number": number, "text": str(number) * 2000}:
                raise SystemExit(3)
            cache.write(key, {"number": number, "text": str(number) * 2000})
        if round_number % 20 == seed:
            cache.clear()
    if cache.problem:
        raise SystemExit(4)


@pytest.mark.slow
def test_several_processes_share_a_folder(tmp_path):
    """They write and read the same entries, and clear them under each other's feet; nobody ever reads a wrong one."""
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_hammer, args=(str(tmp_path), seed)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 4
    cache = Cache(tmp_path)
    for number in range(10):
        assert cache.read(make_key(number)) in (None, {"number": number, "text": str(number) * 2000})
