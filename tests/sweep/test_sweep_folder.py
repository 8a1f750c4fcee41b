"""A sweep that is killed with kill -9 at any moment continues: no stored answer is asked for again, the results are the same."""

import json
import signal
import subprocess
import time
from collections import Counter

import pytest

from ragstone.sweep.sweep_folder import RecordedBudget
from tests.e2e.conftest import COMMAND

RUN = ["sweep", "sweep.toml", "-o", "store", "--json"]


@pytest.fixture
def start(home, environment):
    """Start a sweep in a process of its own."""
    started = []

    def run(*options):
        process = subprocess.Popen(
            [*COMMAND, *RUN, *options],
            cwd=home,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def kill_when(process, ready):
    deadline = time.monotonic() + 120
    while not ready():
        if process.poll() is not None:
            return False
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return True


def essence(printed):
    """The results without what differs between any two sweeps: ids, paths, latency."""
    results = json.loads(printed)
    left_out = ("run", "latency_s", "undominated")
    standings = [{name: value for name, value in one.items() if name not in left_out} for one in results["standings"]]
    return standings, results["effects"], results["asked"], results["spent_usd"]


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["true", "false"])
def test_killed_again_and_again(home, start, calls, shell, cache):
    plan = (home / "sweep.toml").read_text().replace("concurrency = 1", f"concurrency = 1\ncache = {cache}")
    (home / "sweep.toml").write_text(plan)
    (home / "pause").write_text("0.01")
    kills = 0
    for asked in (2, 9, 21, 33, 47, 55):
        if not kill_when(start("--resume", "--budget", "9usd"), lambda n=asked: len(calls()) >= n):
            break
        kills += 1
    stored = home / "store"
    # Then while looks and runs are evaluated.
    for pattern in ("sweeps/*/answers/002.parquet", "sweeps/*/runs/002.json"):
        kills += kill_when(start("--resume", "--budget", "9usd"), lambda p=pattern: list(stored.glob(p)))
    process = start("--resume", "--budget", "9usd")
    out, errors = process.communicate(timeout=180)
    assert process.returncode == 0, errors
    assert kills >= 5
    # Only the one call that ran when the process was killed can be repeated.
    repeats = sum(count - 1 for count in Counter(calls()).values())
    assert repeats <= kills
    assert len(list((stored / "sweeps").iterdir())) == 1
    assert len([run for run in (stored / "runs").iterdir() if (run / "run.json").exists()]) == 4
    (home / "calls.txt").unlink()
    fresh = shell("sweep", "sweep.toml", "-o", "other", "--json", "--budget", "9usd", timeout=180)
    mine, undisturbed = essence(out), essence(fresh.stdout)
    assert mine[:3] == undisturbed[:3]
    if cache == "false":
        assert len(calls()) == undisturbed[2]
        # Money of a call that was killed in flight is spent but not known.
        assert mine[3] == pytest.approx(undisturbed[3], abs=0.02 * kills)


def test_what_was_spent_survives_a_torn_line(tmp_path):
    path = str(tmp_path / "work" / "spent")
    budget = RecordedBudget(1.0, path)
    budget.settle(0.0, 0.25)
    budget.settle(0.0, 0.0)
    budget.settle(0.0, 0.125)
    with open(path, "a") as stream:
        stream.write("0.5")  # killed while it was written
    assert RecordedBudget(1.0, path).spent_usd == 0.375


@pytest.mark.slow
def test_a_short_kill_and_resume(home, start, calls):
    text = (home / "sweep.toml").read_text().replace("concurrency = 1", "concurrency = 1\ncache = false")
    (home / "sweep.toml").write_text(text.replace("[data]", "[data]\nlimit = 10"))
    (home / "pause").write_text("0.02")
    process = start("--no-halving")
    # In the middle of a block: three questions of each setting come first, then the other seven.
    assert kill_when(process, lambda: len(calls()) >= 4 * 3 + 5)
    process = start("--no-halving", "--resume")
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert json.loads(out)["asked"] == 4 * 10
    assert len(calls()) <= 4 * 10 + 1  # the call that ran when the process was killed
