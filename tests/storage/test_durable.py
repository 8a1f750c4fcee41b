"""Locks, checkpoints and journals after every kind of end."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass

import pytest

from ragstone.errors import StorageError
from ragstone.storage import durable
from ragstone.storage.durable import (
    Checkpoint,
    Journal,
    Spool,
    SpoolFullError,
    describe_process,
    from_fields,
    is_running,
    lock,
    process_start,
    read_journal,
    read_owner,
    user_folder,
)
from ragstone.storage.places import open_place

HOLD = """
import sys, time
from ragstone.storage.durable import Journal, lock
from ragstone.storage.places import open_place
if sys.argv[1] == "folder":
    held = lock(open_place(sys.argv[2]), "it", "Wait.")
    held.__enter__()
else:
    held = Journal(sys.argv[2])
    held.append([{"n": 1}])
print("held", flush=True)
time.sleep(60)
"""


def hold(kind, path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, kind, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def end(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def test_a_lock_names_its_holder_and_ends_with_it(tmp_path):
    place = open_place(tmp_path)
    process = hold("folder", tmp_path)
    try:
        with pytest.raises(StorageError, match=f"it is in use by process {process.pid} of Ragstone. Wait."):
            lock(place, "it", "Wait.").__enter__()
        # The system's lock decides if the record is missing, as in the moment before it is written.
        record = (tmp_path / "owner.json").read_bytes()
        (tmp_path / "owner.json").unlink()
        with pytest.raises(StorageError, match="it is in use by"):
            lock(place, "it", "Wait.").__enter__()
        (tmp_path / "owner.json").write_bytes(record)
    finally:
        end(process)
    with lock(place, "it", "Wait."):
        assert read_owner(place) == describe_process()
        with pytest.raises(StorageError, match="in use"):
            lock(place, "it", "Wait.").__enter__()
    assert list(tmp_path.iterdir()) == []


def test_an_owner_on_another_machine_counts_if_asked_for(tmp_path):
    place = open_place(tmp_path)
    (tmp_path / "owner.json").write_text(json.dumps({"host": "elsewhere", "pid": 1}))
    with pytest.raises(StorageError, match=r"process 1 on elsewhere. Stop it. If that machine is gone, remove .*owner"):
        lock(place, "it", "Stop it.", across_machines=True).__enter__()
    with lock(place, "it", "Stop it."):
        pass


def test_a_journal_is_for_one_process_and_keeps_what_was_acknowledged(tmp_path):
    path = tmp_path / "journal"
    process = hold("file", path)
    try:
        with pytest.raises(StorageError, match="is in use by"):
            Journal(str(path))
    finally:
        end(process)
    with path.open("ab") as stream:
        stream.write(b'{"torn": ')
    assert read_journal(str(path)) == [{"n": 1}]
    with Journal(str(path)) as journal:
        assert journal.size == len(b'{"n": 1}\n')
        journal.append([{"n": 2}, "\ud800"])
    assert read_journal(str(path)) == [{"n": 1}, {"n": 2}, "?"]
    with Journal(str(path), keep=False) as journal:
        journal.append([1.5])
    assert read_journal(str(path)) == [1.5]
    assert os.stat(path).st_mode & 0o077 == 0
    assert read_journal(str(tmp_path / "none")) == []


def test_a_line_longer_than_a_block_is_found_whole_or_torn(tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(b'"a"\n"' + b"x" * 200_000)
    with Journal(str(path)) as journal:
        assert journal.size == 4


def test_a_journal_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot write"):
        Journal(str(tmp_path / "file" / "journal"))
    with pytest.raises(StorageError, match="cannot read"):
        read_journal(str(tmp_path))


@dataclass
class Kept:
    a: int = 0


def test_a_checkpoint_has_a_version_and_says_what_it_belongs_to(tmp_path):
    file = Checkpoint(open_place(tmp_path / "state.json"), 2)
    assert file.read() is None
    assert not file.matches({})
    file.write({"a": 1, "later": [1]})
    assert file.read() == {"a": 1, "later": [1]}
    assert from_fields(Kept, file.read()) == Kept(1)
    assert file.matches({"a": 1, "later": (1,)})
    assert not file.matches({"a": 2})
    assert not file.matches({"a": 1, "b": 2})
    for content in ({"version": 3}, [], {}):
        file.place.write_bytes(json.dumps(content).encode())
        with pytest.raises(StorageError, match="is not of version 2"):
            file.read()


@pytest.mark.parametrize(
    ("platform", "cache", "data"),
    [
        ("linux", ".cache/ragstone", ".local/share/ragstone"),
        ("darwin", "Library/Caches/ragstone", "Library/Application Support/ragstone"),
        ("win32", "AppData/Local/ragstone", "AppData/Local/ragstone"),
    ],
)
def test_folders_of_the_user(monkeypatch, tmp_path, platform, cache, data):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert user_folder("cache") == tmp_path / cache
    assert user_folder("data") == tmp_path / data


def test_this_process_is_running():
    assert is_running(describe_process())


def test_a_process_that_got_the_number_of_a_dead_one_is_not_the_owner():
    stranger = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        owner = {"host": socket.gethostname(), "pid": stranger.pid, "started": "an earlier boot:1"}
        assert not is_running(owner)
        assert is_running(owner | {"started": process_start(stranger.pid)})
    finally:
        stranger.communicate(b"\n")
    assert not is_running(owner | {"started": None})


def test_a_process_elsewhere_is_assumed_to_run():
    assert is_running({"host": "elsewhere", "pid": 1})


def test_without_proc_the_start_comes_from_ps(monkeypatch, tmp_path):
    monkeypatch.setattr(durable, "_PROC", tmp_path)
    shown = subprocess.CompletedProcess([], 0, stdout="Mon Jan  5 10:00:00 2026\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: shown)
    assert process_start(os.getpid()) == "Mon Jan  5 10:00:00 2026"


@pytest.mark.parametrize("content", [b"[]", b"{}", b'{"host": "a"}'])
def test_a_damaged_record_names_nobody(tmp_path, content):
    (tmp_path / "owner.json").write_bytes(content)
    assert read_owner(open_place(tmp_path)) is None


@pytest.fixture
def spool(tmp_path):
    return tmp_path / "spool.jsonl"


def lines(spool):
    return [json.loads(line) for line in spool.read_text().splitlines()]


def test_one_process_per_spool_and_a_torn_line_is_cut_off(spool):
    spool.write_bytes(b'{"whole": 1}\n{"torn": ')
    first = Spool(str(spool), 1000)
    assert spool.read_bytes() == b'{"whole": 1}\n'
    with pytest.raises(StorageError, match=f"in use by process {os.getpid()}"):
        Spool(str(spool), 1000)
    first.close()


def test_a_failed_write_leaves_whole_lines(spool, monkeypatch):
    async def use():
        store = Spool(str(spool), 10_000)
        await store.append([{"a": 1}])
        real, calls = os.write, []

        def full(file, content):
            calls.append(1)
            if len(calls) == 1:
                return real(file, bytes(content)[:3])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(StorageError, match="No space left"):
            await store.append([{"b": 2}])
        monkeypatch.setattr(os, "write", real)
        await asyncio.gather(*(store.append([{"c": number}]) for number in range(20)))
        store.close()

    asyncio.run(use())
    assert lines(spool) == [{"a": 1}, *({"c": number} for number in range(20))]


def test_a_limit_and_the_permissions(spool):
    async def use():
        store = Spool(str(spool), 20)
        await store.append([{"a": 1}])
        with pytest.raises(SpoolFullError, match="limit"):
            await store.append([{"b": "x" * 20}])
        await store.append([])
        store.close()

    asyncio.run(use())
    assert lines(spool) == [{"a": 1}]
    assert spool.stat().st_mode & 0o077 == 0
