"""Several processes give what one gives, and small runs do not use them."""

import os
import signal
import subprocess
import sys
import time

import pytest

import ragstone
from ragstone.engine.backends import processes
from ragstone.engine.evaluate import evaluate
from ragstone.errors import StopRunError, UsageError
from ragstone.registry import metric
from tests.engine.backends.rows import METRICS, is_short, rows


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    """Row groups of a few rows, so that there is something to share."""
    monkeypatch.setattr("ragstone.formats.reader.BATCH_ROWS", 100)


def test_two_processes_give_what_one_gives(tmp_path):
    alone = evaluate(rows(400), METRICS, tmp_path)
    shared = evaluate(rows(400), METRICS, tmp_path, workers=2)
    assert shared.scores.equals(alone.scores)
    assert list(shared.summary()) == list(alone.summary())
    assert alone.info["evidence"]
    for name in alone.info["evidence"]:
        assert shared.evidence(name).equals(alone.evidence(name))


def test_small_runs_and_users_own_functions_stay_in_one_process(catalogue, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("no process was needed")

    monkeypatch.setattr(processes, "work_in_processes", refuse)
    evaluate(rows(30), METRICS, tmp_path)

    @metric("length")
    def length(answer: str) -> float:
        return 1.0

    assert evaluate(rows(30), ["length"], tmp_path, workers=2).summary()["length"].n_ok == 30


def test_a_function_of_a_module_goes_to_other_processes(tmp_path, monkeypatch):
    used, original, notes = [], processes.work_in_processes, []
    monkeypatch.setattr(processes, "work_in_processes", lambda *given, **how: used.append(1) or original(*given, **how))
    shared = evaluate(rows(300), [is_short, "token_f1"], tmp_path, workers=2, note=notes.append)
    assert (used, notes) == ([1], [])
    assert shared.scores.equals(evaluate(rows(300), [is_short, "token_f1"], tmp_path).scores)

    def inside(answer: str) -> float:
        return 1.0

    evaluate(rows(30), inside, tmp_path, workers=2, note=notes.append)
    assert len(used) == 1
    [note] = notes
    assert "inside cannot be imported from tests.engine.backends.test_processes" in note
    assert "define it at the top level of a module" in note


@pytest.mark.slow
def test_a_killed_process_is_told_and_what_is_finished_is_kept(tmp_path, monkeypatch):
    original = processes.ProcessPoolExecutor.submit
    killed = []

    def submit(pool, function, part):
        future = original(pool, function, part)
        if part.number == 2 and not killed:
            while not pool._processes:
                time.sleep(0.01)
            killed.append(next(iter(pool._processes)))
            os.kill(killed[0], signal.SIGKILL)
        return future

    monkeypatch.setattr(processes.ProcessPoolExecutor, "submit", submit)
    with pytest.raises(StopRunError, match="a process of this run was killed"):
        evaluate(rows(400), METRICS, tmp_path, workers=2)
    monkeypatch.setattr(processes.ProcessPoolExecutor, "submit", original)
    again = evaluate(rows(400), METRICS, tmp_path, workers=2, resume=True)
    assert again.scores.equals(evaluate(rows(400), METRICS).scores)


@pytest.mark.slow
def test_no_process_outlives_a_run_that_was_killed(tmp_path):
    code = (
        "import os, signal; import ragstone.formats.reader; from ragstone.engine.evaluate import evaluate\n"
        "from tests.engine.backends.rows import METRICS, is_short, rows\n"
        "ragstone.formats.reader.BATCH_ROWS = 100\n"
        "def die(progress):\n"
        "    if progress.stage == 'evaluating' and progress.done: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"evaluate(rows(400), METRICS, {str(tmp_path)!r}, workers=2, progress=die)"
    )
    # The pipes end when the last process that holds them does.
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, check=False)
    assert found.returncode == -signal.SIGKILL


def test_mistakes(tmp_path):
    with pytest.raises(UsageError, match=r"unknown backend 'rai'\. Did you mean ray"):
        ragstone.evaluate(rows(2), METRICS, tmp_path, backend="rai")
    with pytest.raises(UsageError, match="workers must be 1 or more, got 0"):
        ragstone.evaluate(rows(2), METRICS, tmp_path, workers=0)
