"""Owners: a process is recognised by its number and its start."""

import os
import socket
import subprocess
import sys

import pytest

from ragstone.storage import owners
from ragstone.storage.owners import describe_process, is_running, owning, process_start, read_owner
from ragstone.storage.places import open_place


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
    monkeypatch.setattr(owners, "_PROC", tmp_path)
    shown = subprocess.CompletedProcess([], 0, stdout="Mon Jan  5 10:00:00 2026\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: shown)
    assert process_start(os.getpid()) == "Mon Jan  5 10:00:00 2026"


@pytest.mark.parametrize("content", [b"[]", b"{}", b'{"host": "a"}'])
def test_a_damaged_record_names_nobody(tmp_path, content):
    (tmp_path / "owner.json").write_bytes(content)
    assert read_owner(open_place(tmp_path)) is None


def test_a_record_is_removed_at_the_end(tmp_path):
    with owning(open_place(tmp_path)):
        assert read_owner(open_place(tmp_path)) == describe_process()
    assert list(tmp_path.iterdir()) == []
