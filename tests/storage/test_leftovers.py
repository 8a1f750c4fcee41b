"""What killed processes leave behind is found and removed; live work and the user's own files never."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pytest

import ragstone
from ragstone.models.store import Store
from ragstone.storage.leftovers import QUIET_S, store_leftovers, temporary_folder, temporary_leftovers
from ragstone.storage.places import open_place
from ragstone.storage.runs import RunFolder
from ragstone.truth.store import claiming

ROWS = [{"question": "q", "answer": "a b", "references": ["a"]}]
KILLED_INGESTION = (
    "import os, signal, ragstone\n"
    "import ragstone.engine.ingest as module\n"
    "class Killed(module.Profiler):\n"
    "    def profile(self): os.kill(os.getpid(), signal.SIGKILL)\n"
    "module.Profiler = Killed\n"
    "ragstone.evaluate([{'question': 'q', 'answer': 'a b', 'references': ['a']}], ['token_f1'], OUT)\n"
)


def kill_while_reading(out, **environment):
    code = KILLED_INGESTION.replace("OUT", repr(out))
    done = subprocess.run([sys.executable, "-c", code], check=False, env={**os.environ, **environment})
    assert done.returncode == -signal.SIGKILL


def age(folder):
    """Make everything look older than work that may be alive."""
    then = time.time() - QUIET_S - 60
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (then, then))


def found(root):
    return [(item.place.path, item.what) for item in store_leftovers(open_place(root))]


def test_killed_ingestions_are_listed_and_removed(tmp_path):
    run = ragstone.evaluate(ROWS, ["token_f1"], tmp_path)
    kill_while_reading(str(tmp_path))
    [leftover] = store_leftovers(open_place(tmp_path))
    assert leftover.what == "data that was being read"
    assert leftover.size_bytes
    leftover.remove()
    assert [place.name for place in (tmp_path / "runs").iterdir()] == [run.id]
    assert found(tmp_path) == []


def test_killed_evaluations_without_a_store(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kill_while_reading(None, TMPDIR=str(tmp_path))
    with temporary_folder() as alive:
        [leftover] = temporary_leftovers()
        assert leftover.place.path != alive
        leftover.remove()
        assert [str(path) for path in tmp_path.iterdir()] == [alive]


def test_live_and_interrupted_runs_are_never_listed(tmp_path):
    reading, interrupted = (RunFolder.create(open_place(tmp_path)) for _ in range(2))
    interrupted.plan.write_bytes(b"{}")
    with reading.owned():
        age(tmp_path)
        assert found(tmp_path) == []
    age(tmp_path)
    assert found(tmp_path) == [(reading.place.path, "data that was being read")]


def test_without_an_owner_only_old_folders_count(tmp_path):
    folder = RunFolder.create(open_place(tmp_path))
    folder.samples.write_bytes(b"1")
    assert found(tmp_path) == []
    age(tmp_path)
    assert found(tmp_path) == [(folder.place.path, "data that was being read")]


def test_files_of_the_user_are_left_alone(tmp_path):
    for path in ("runs/notes/a.txt", "runs/b.txt", "truth/mine/sources/a.pdf", "truth/c.txt", "reports/x.tmp"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("mine")
    age(tmp_path)
    assert found(tmp_path) == []


def test_half_written_files_of_a_finished_run(tmp_path):
    run = ragstone.evaluate(ROWS, ["token_f1"], tmp_path)
    half = tmp_path / "runs" / run.id / "evidence" / "x.parquet.0a1b2c3d.tmp"
    half.parent.mkdir(exist_ok=True)
    half.write_bytes(b"123")
    assert found(tmp_path) == []
    age(tmp_path)
    [leftover] = store_leftovers(open_place(tmp_path))
    assert (leftover.place.path, leftover.place.url, leftover.size_bytes) == (str(half), str(half), 3)
    leftover.remove()
    assert not half.exists()


def test_a_save_of_ground_truth_that_was_killed(tmp_path):
    version = open_place(tmp_path) / "truth" / "mine" / "v1"
    with claiming(version):
        assert found(tmp_path) == []
        age(tmp_path)
        assert found(tmp_path) == [(version.path, "version of a ground truth")]


@pytest.mark.parametrize("alive", [True, False])
def test_downloads(tmp_path, alive):
    store = Store(tmp_path)
    with store._temporary_folder() as part:
        if not alive:
            (part / "owner.json").write_text(json.dumps({"host": socket.gethostname(), "pid": 2**22 + 1}))
        assert [item.place.path for item in store.leftovers()] == ([] if alive else [str(part)])


def test_links_in_the_temporary_folder_are_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "owner.json").write_text(json.dumps({"host": socket.gethostname(), "pid": 2**22 + 1}))
    (tmp_path / "tmp" / "ragstone-link").symlink_to(tmp_path / "elsewhere")
    assert list(temporary_leftovers()) == []
