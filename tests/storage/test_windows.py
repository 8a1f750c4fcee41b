"""What Windows does otherwise, played here: paths, locks, open files and processes. It has not run on Windows itself."""

# ruff: noqa: N802, RUF012  (the names of kernel32)

import ctypes
import errno
import ntpath
import os
import sys
import types

import pytest

from ragstone.errors import StorageError, UsageError
from ragstone.llm.providers import command
from ragstone.storage import durable, places, runs
from ragstone.storage.places import open_place
from ragstone.truth.store import check_name
from ragstone.watch import sources

fcntl = pytest.importorskip("fcntl", reason="Windows has the real thing")


def namespace(module, **changes):
    return types.SimpleNamespace(**{**vars(module), **changes})


@pytest.mark.parametrize(
    "text", [r"C:\data\runs\one", "C:/data/runs/one/", "file:///C:/data/runs/one", r"c:\data\runs\x\..\one"]
)
def test_a_path_has_slashes(monkeypatch, text):
    monkeypatch.setattr(places, "os", namespace(os, path=ntpath, sep="\\"))
    place = open_place(text)
    assert (place.is_local, place.path.lower(), place.name) == (True, "c:/data/runs/one", "one")
    assert (place / "run.json").path.lower() == "c:/data/runs/one/run.json"


def test_a_network_share_has_slashes(monkeypatch):
    monkeypatch.setattr(places, "os", namespace(os, path=ntpath, sep="\\"))
    assert open_place(r"\\server\share\runs").path == "//server/share/runs"


def test_a_missing_drive_is_an_error_and_no_endless_search(monkeypatch):
    made = []

    def mkdir(path, _mode):
        made.append(path)
        raise FileNotFoundError(errno.ENOENT, "The system cannot find the path specified", path)

    absent = namespace(ntpath, isdir=lambda _: False, lexists=lambda _: False)
    monkeypatch.setattr(places, "os", namespace(os, path=absent, sep="\\", mkdir=mkdir))
    monkeypatch.setattr(runs, "os", namespace(os, path=absent, sep="\\"))
    with pytest.raises(FileNotFoundError):
        places.make_private_folders("Z:/store/runs")
    assert made == ["Z:/"]
    assert runs._missing_folders("Z:/store/runs") == ["Z:/store/runs", "Z:/store"]


def test_a_run_and_a_log_have_the_folders_that_were_typed(monkeypatch):
    monkeypatch.setattr(places, "os", namespace(os, path=ntpath, sep="\\"))
    assert str(open_place(r"C:\store\runs\20261118-1") / "run.json") == "C:/store/runs/20261118-1/run.json"
    assert sources._parent(open_place(r"logs\today.jsonl")).url == "logs"


@pytest.fixture
def windows(monkeypatch):
    """Another `sys.platform` for the lock kit, and its `msvcrt`: the lock of a byte, which also the same process cannot get twice."""
    locked = []

    def locking(descriptor, mode, size):
        locked.append((os.lseek(descriptor, 0, os.SEEK_CUR), mode, size))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(errno.EACCES, "Permission denied") from None

    monkeypatch.setitem(sys.modules, "msvcrt", types.SimpleNamespace(locking=locking, LK_NBLCK=2))
    monkeypatch.setattr(durable, "sys", namespace(sys, platform="win32"))
    monkeypatch.setattr(places, "sys", namespace(sys, platform="win32"))
    return locked


def test_a_second_process_is_kept_away(windows, tmp_path):
    folder = open_place(tmp_path / "run")
    with durable.lock(folder, "the run", "Wait."):
        assert {path.name for path in (tmp_path / "run").iterdir()} == {"owner.json", "owner.lock"}
        with (
            pytest.raises(StorageError, match=r"the run is in use by another process\. Wait\."),
            durable.lock(folder, "the run", "Wait."),
        ):
            pass
    assert windows == [(2**31 - 2, 2, 1)] * 2
    assert list((tmp_path / "run").iterdir()) == []


def test_a_journal_is_locked_beyond_its_end(windows, tmp_path):
    path = str(tmp_path / "rows.jsonl")
    with durable.Journal(path) as journal:
        journal.append([{"a": 1}])
        with pytest.raises(StorageError, match="in use by another process"):
            durable.Journal(path)
    assert (tmp_path / "rows.jsonl").read_bytes() == b'{"a": 1}\n'
    assert all(byte > 10**9 for byte, *_ in windows)


@pytest.mark.parametrize("refusals", [0, 3])
def test_a_file_that_is_being_read_is_replaced_later(windows, tmp_path, monkeypatch, refusals):
    left = [refusals]

    def replace(old, new):
        if left[0]:
            left[0] -= 1
            raise PermissionError(errno.EACCES, "being used by another process")
        os.rename(old, new)

    monkeypatch.setattr(places, "os", namespace(os, replace=replace))
    open_place(tmp_path / "file").write_bytes(b"new")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"new"]


class OpenProcess:
    """A function with a `restype`, as those of ctypes."""

    restype = None

    def __call__(self, _rights, _inherit, pid):
        return pid if pid in (7, 8) else 0


class Kernel:
    """The functions of kernel32 that are called; process 7 runs, 8 has ended, others are unknown."""

    closed = []

    def __init__(self, _name):
        self.OpenProcess = OpenProcess()

    def GetExitCodeProcess(self, handle, code):
        code._obj.value = 259 if handle.value == 7 else 1
        return 1

    def GetProcessTimes(self, _handle, created, *_):
        created._obj.value = 133_000_000_000_000_000
        return 1

    def CloseHandle(self, handle):
        self.closed.append(handle.value)


def test_processes(windows, monkeypatch, tmp_path):
    monkeypatch.setattr(ctypes, "WinDLL", Kernel, raising=False)
    monkeypatch.setattr(Kernel, "closed", [])
    monkeypatch.setattr(durable, "_PROC", tmp_path / "no-proc")
    host = durable.describe_process()["host"]
    assert durable.process_start(7) == "133000000000000000"
    running = [durable.is_running({"host": host, "pid": pid, "started": "133000000000000000"}) for pid in (7, 8, 9)]
    assert running == [True, False, False]
    assert not durable.is_running({"host": host, "pid": 7, "started": "1"})
    assert set(Kernel.closed) == {7, 8}


def test_commands_keep_their_backslashes(monkeypatch):
    monkeypatch.setattr(command, "os", namespace(os, name="nt"))
    system = command.CommandSystem(r'"C:\Program Files\rag.exe" --data C:\data --q "{question}"', 1.0)
    assert system._fill({"question": "a b"}) == [r"C:\Program Files\rag.exe", "--data", r"C:\data", "--q", "a b"]


@pytest.mark.parametrize("name", ["con", "NUL", "aux.v2", "Com1", "desk."])
def test_names_that_windows_cannot_store(name):
    with pytest.raises(UsageError, match="Windows has no such folder"):
        check_name(name)
    assert [check_name(fine) for fine in ("console", "nullable", "com", "v1.2")]


def test_a_system_without_locks(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with durable.lock(open_place(tmp_path), "it", "Wait."), durable.Journal(str(tmp_path / "rows")) as journal:
        journal.append([1])
    assert (tmp_path / "rows").read_bytes() == b"1\n"
