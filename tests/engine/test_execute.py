"""Interrupted runs: what is finished is kept, and never computed again."""

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ragstone
from ragstone.engine import execute as execution
from ragstone.engine import execute as parts
from ragstone.errors import InterruptedRunError, StorageError
from ragstone.registry import evidence, metric
from ragstone.storage.places import Place

pytestmark = pytest.mark.usefixtures("catalogue")

PART = parts.WAITING_PART_ROWS
DATA = [{"id": f"s{number}", "question": f"q{number}", "answer": str(number)} for number in range(4 * PART + 50)]


class Judge:
    """Async evidence, for its small parts; at a row of our choice somebody presses Ctrl-C. Remembers what it was asked."""

    def __init__(self):
        self.asked = []
        self.stop_at = None
        self.register(version=1)

    def register(self, version):
        @evidence(version=version)
        async def verdict(answer: str) -> str:
            if answer == self.stop_at:
                os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0)
            self.asked.append(answer)
            return answer

        @metric("judged_row", bounds=(0, None))
        def judged(verdict: str) -> float:
            return float(verdict)

        @metric("judged_too", bounds=(0, None))
        def judged_too(verdict: str) -> float:
            return float(verdict)


@pytest.fixture(autouse=True)
def one_part_at_a_time(monkeypatch):
    """So that it is known which parts are finished when somebody presses Ctrl-C."""
    monkeypatch.setattr(execution, "PARTS_IN_FLIGHT", 1)


@pytest.fixture
def judge():
    return Judge()


@pytest.fixture
def interrupted(judge, tmp_path):
    """The folder of a run that was stopped in its third part."""
    judge.stop_at = str(2 * PART + 10)
    with pytest.raises(InterruptedRunError, match="2 finished parts are kept"):
        ragstone.evaluate(DATA, "judged_row", tmp_path)
    judge.stop_at = None
    judge.asked.clear()
    [folder] = (tmp_path / "runs").iterdir()
    return folder


def resume(root, metrics="judged_row", data=DATA, **options):
    notes = []
    run = ragstone.evaluate(data, metrics, root, resume=True, note=notes.append, **options)
    return run, notes


def test_an_interrupted_run_says_how_to_go_on(judge, tmp_path):
    judge.stop_at = "0"
    with pytest.raises(InterruptedRunError) as caught:
        ragstone.evaluate(DATA, "judged_row", tmp_path)
    assert caught.value.exit_code == 130
    assert "--resume" in str(caught.value)
    assert "0 finished parts are kept" in str(caught.value)


def test_an_interrupted_run_is_not_a_run_yet(interrupted):
    with pytest.raises(StorageError, match=r"unfinished.*--resume"):
        ragstone.open_run(interrupted)
    assert not (interrupted / "owner.json").exists()
    assert not list(interrupted.rglob("*.tmp"))


def test_a_resumed_run_equals_an_undisturbed_one_and_asks_only_what_is_missing(judge, interrupted, tmp_path):
    run, notes = resume(tmp_path)
    assert run.id == interrupted.name
    assert judge.asked == [row["answer"] for row in DATA[2 * PART :]]
    undisturbed = ragstone.evaluate(DATA, "judged_row", tmp_path / "other")
    assert run.scores.equals(undisturbed.scores)
    assert run.evidence("verdict").equals(undisturbed.evidence("verdict"))
    assert list(run.summary()) == list(undisturbed.summary())
    assert len(notes) == 1
    assert notes[0].endswith(": 2 parts are finished")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [run.id]
    assert not (interrupted / "parts").exists()
    assert not (interrupted / "plan.json").exists()


def test_without_resume_a_new_run_is_started_and_the_old_one_stays(judge, interrupted, tmp_path):
    run = ragstone.evaluate(DATA, "judged_row", tmp_path)
    assert run.id != interrupted.name
    assert len(judge.asked) == len(DATA)
    assert interrupted.exists()


def test_a_finished_run_is_not_resumed(judge, tmp_path):
    first = ragstone.evaluate(DATA, "judged_row", tmp_path)
    second, notes = resume(tmp_path)
    assert first.id != second.id
    assert "no interrupted run" in notes[0]


@pytest.mark.parametrize(
    "other",
    [
        {"metrics": "judged_too"},
        {"metrics": "judged_row,judged_too"},
        {"data": [*DATA[:-1], {**DATA[-1], "answer": "0"}]},
        {"data": DATA[:-1]},
        {"data": list(reversed(DATA))},
        {"matcher": "exact"},
        {"limit": 450 - 1},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_question_is_another_run(judge, interrupted, tmp_path, other):
    run, notes = resume(tmp_path, **other)
    assert run.id != interrupted.name
    assert "starting a new one" in notes[0]
    assert len(judge.asked) == run.info["dataset"]["rows"]
    assert interrupted.exists()


def test_a_new_version_of_the_evidence_is_another_run(judge, interrupted, tmp_path):
    judge.register(version=2)
    run, notes = resume(tmp_path)
    assert run.id != interrupted.name
    assert "starting a new one" in notes[0]
    assert set(run.scores["signature"].to_pylist()) == {"judged_row|v1|verdict/2"}


def test_parts_of_another_size_are_not_mixed(interrupted, tmp_path):
    """The same evidence, rewritten without `async`, is computed in one part: number 0 would mean other rows."""

    def verdict(answer: str) -> str:
        return answer

    verdict.__qualname__ = "Judge.register.<locals>.verdict"
    evidence(verdict)
    run, notes = resume(tmp_path)
    assert "starting a new one" in notes[0]
    assert run.scores["sample_id"].to_pylist() == [row["id"] for row in DATA]


def test_a_part_without_scores_is_computed_again(judge, interrupted, tmp_path):
    (interrupted / "parts" / "000001" / "scores.parquet").unlink()
    run, _ = resume(tmp_path)
    assert judge.asked == [row["answer"] for row in [*DATA[PART : 2 * PART], *DATA[2 * PART :]]]
    assert run.summary()["judged_row"].n_ok == len(DATA)


def test_a_stray_file_among_runs_and_parts_is_no_obstacle(judge, interrupted, tmp_path):
    (tmp_path / "runs" / ".DS_Store").write_text("macOS was here")
    (interrupted / "parts" / ".DS_Store").write_text("and here")
    run, notes = resume(tmp_path)
    assert run.id == interrupted.name
    assert len(notes) == 1
    assert notes[0].endswith(": 2 parts are finished")


@pytest.mark.parametrize("content", ["{}", "[]", '{"fingerprint": "other"}'])
def test_a_plan_that_is_not_ours_is_passed_over(judge, interrupted, tmp_path, content):
    """As a later or earlier version of Ragstone may have written it."""
    stranger = tmp_path / "runs" / "99990101-000000-aaaa"
    stranger.mkdir()
    (stranger / "plan.json").write_text(content)
    run, _ = resume(tmp_path)
    assert run.id == interrupted.name


def test_a_run_with_a_fingerprint_of_an_earlier_version_goes_on(judge, interrupted, tmp_path):
    plan = json.loads((interrupted / "plan.json").read_text())
    (interrupted / "plan.json").write_text(json.dumps({**plan, "fingerprint": "0123abcd"}))
    run, _ = resume(tmp_path)
    assert run.id == interrupted.name


def test_a_full_disk_keeps_the_finished_parts(judge, tmp_path, monkeypatch):
    """The manifest is the last file of all."""
    written = []
    real = Place.write_bytes

    def full(self, content):
        if self.name == "run.json":
            raise StorageError(
                "cannot write run.json: the disk is full. Free some space, then run again with --resume."
            )
        written.append(self.name)
        real(self, content)

    with monkeypatch.context() as patch:
        patch.setattr(Place, "write_bytes", full)
        with pytest.raises(StorageError, match="--resume"):
            ragstone.evaluate(DATA, "judged_row", tmp_path)
    [folder] = (tmp_path / "runs").iterdir()
    assert not (folder / "run.json").exists()
    judge.asked.clear()
    run, _ = resume(tmp_path)
    assert run.id == folder.name
    assert judge.asked == []
    assert run.summary()["judged_row"].n_ok == len(DATA)


@pytest.mark.parametrize("name", ["scores.parquet", "summary.parquet", "verdict.parquet", "calls.parquet"])
def test_an_error_while_finishing_is_mended_by_resuming(judge, tmp_path, monkeypatch, name):
    real = Place._writing_locally

    def failing(self):
        if self.name == name and "parts" not in self.path:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(self)

    with monkeypatch.context() as patch:
        patch.setattr(Place, "_writing_locally", failing)
        with pytest.raises(StorageError, match=f"cannot write .*{name}.*Input/output error"):
            ragstone.evaluate(DATA, "judged_row", tmp_path)
    judge.asked.clear()
    run, _ = resume(tmp_path)
    assert judge.asked == []
    assert run.scores.num_rows == len(DATA)


def test_a_run_that_somebody_works_on_is_left_alone(interrupted, tmp_path):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as worker:
        owner = {"host": socket.gethostname(), "pid": worker.pid}
        (interrupted / "owner.json").write_text(json.dumps(owner))
        with pytest.raises(StorageError, match=f"in use by process {worker.pid}"):
            resume(tmp_path)
        assert [path.name for path in (tmp_path / "runs").iterdir()] == [interrupted.name]
        assert json.loads((interrupted / "owner.json").read_text()) == owner
        worker.communicate(b"\n")
    run, _ = resume(tmp_path)
    assert run.id == interrupted.name


def test_an_owner_on_another_machine_cannot_be_asked(interrupted, tmp_path):
    (interrupted / "owner.json").write_text(json.dumps({"host": "elsewhere", "pid": 1}))
    run, _ = resume(tmp_path)
    assert run.id == interrupted.name


def test_ctrl_c_stops_plain_work_at_once(tmp_path):
    """Plain metrics never wait, so there is no place where asyncio would deliver a cancellation."""
    computed = []

    @metric("slow", bounds=(0, None))
    def slow(answer: str) -> float:
        computed.append(answer)
        if len(computed) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return 1.0

    with pytest.raises(InterruptedRunError):
        ragstone.evaluate(DATA, "slow", tmp_path)
    assert len(computed) == 5


def test_ctrl_c_in_a_notebook(judge, tmp_path):
    """There a loop is running already, and the interrupt arrives in the main thread while ours computes."""
    judge.stop_at = str(PART + 10)

    async def notebook_cell():
        previous = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            ragstone.evaluate(DATA, "judged_row", tmp_path)
        finally:
            signal.signal(signal.SIGINT, previous)

    with pytest.raises(InterruptedRunError, match="finished part"):
        asyncio.run(notebook_cell())
    judge.stop_at = None
    run, _ = resume(tmp_path)
    assert run.summary()["judged_row"].n_ok == len(DATA)


def test_plain_functions_may_start_a_loop_of_their_own(tmp_path):
    """As synchronous clients of models do."""

    @metric("looping")
    def looping(answer: str) -> float:
        async def ask():
            return 1.0

        return asyncio.run(ask())

    assert ragstone.evaluate(DATA[:2], "looping", tmp_path).summary()["looping"].n_ok == 2


def test_ctrl_c_while_reading_leaves_nothing(tmp_path):
    def rows():
        raise KeyboardInterrupt

    def progress(told):
        rows()

    with pytest.raises(InterruptedRunError, match="nothing was stored"):
        ragstone.evaluate(DATA, "token_f1", tmp_path / "out", progress=progress)
    assert not (tmp_path / "out").exists()


def test_a_damaged_part_is_told(interrupted, tmp_path):
    part = interrupted / "parts" / "000000" / "scores.parquet"
    part.write_bytes(part.read_bytes()[:50])
    with pytest.raises(StorageError, match=r"cannot read .*000000/scores\.parquet"):
        resume(tmp_path)


def test_samples_of_the_resumed_run_are_those_it_began_with(interrupted, tmp_path):
    before = pq.read_table(interrupted / "samples.parquet")
    run, _ = resume(tmp_path)
    assert pq.read_table(Path(run.path) / "samples.parquet").equals(before)
