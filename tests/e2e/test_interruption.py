"""Ctrl-C, kill -9, two runs at once: what is finished is kept, and never computed again."""

import json
import platform
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.e2e.conftest import COMMAND

PART = 100
ROWS = 3 * PART + 50
# Async evidence, for its small parts. It writes down each call; while the file `slow` is there, rows from the third
# part on wait for it to go.
MINE = f"""
import asyncio, os
from pathlib import Path
from ragstone.registry import evidence, metric

@evidence
async def verdict(answer: str) -> str:
    with open("calls.txt", "a") as calls:
        calls.write(answer + "\\n")
    while int(answer) >= {2 * PART} and os.path.exists("slow"):
        await asyncio.sleep(0.05)
    return answer

@metric("judged_row", family="mine", bounds=(0, None))
def judged(verdict: str) -> float:
    return float(verdict)
"""
RUN = ["run", "data.jsonl", "--metrics-file", "mine.py", "-m", "judged_row", "-o", "out"]


@pytest.fixture
def work(home):
    rows = [{"id": f"s{number}", "question": "q", "answer": str(number)} for number in range(ROWS)]
    (home / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (home / "mine.py").write_text(MINE)
    return home


@pytest.fixture
def start(work, environment):
    """Start a run that hangs in its third part, and wait until it does."""
    started = []

    def run(*options):
        (work / "slow").touch()
        seen = len(calls())
        process = subprocess.Popen(
            [*COMMAND, *RUN, *options],
            cwd=work,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        deadline = time.monotonic() + 60
        # Parts are worked on side by side: the third one hangs when all rows before it are asked for and stored.
        while len(calls()) < seen + 2 * PART + 16 or len(finished_parts()) < 2:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return process

    yield run
    (work / "slow").unlink(missing_ok=True)
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def calls():
    return Path("calls.txt").read_text().splitlines() if Path("calls.txt").exists() else []


def finished_parts():
    return [path for path in Path("out/runs").glob("*/parts/*/scores.parquet") if not path.name.endswith(".tmp")]


def folders():
    return sorted(Path("out/runs").iterdir())


def scores(folder):
    return pq.read_table(folder / "scores.parquet").to_pydict()


EXPECTED = {"sample_id": [f"s{number}" for number in range(ROWS)], "value": [float(number) for number in range(ROWS)]}


def check_finished(folder):
    found = scores(folder)
    assert {name: found[name] for name in EXPECTED} == EXPECTED
    assert {path.name for path in folder.iterdir()} == {
        "run.json",
        "samples.parquet",
        "scores.parquet",
        "summary.parquet",
        "calls.parquet",
        "evidence",
    }


@pytest.mark.slow
def test_ctrl_c_and_on(start, cli, work):
    process = start()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "stopped; 2 finished parts are kept in out/runs/" in err
    assert "--resume" in err
    assert "Traceback" not in err
    assert out == ""
    [folder] = folders()
    assert not (folder / "run.json").exists()
    Path("slow").unlink()
    Path("calls.txt").unlink()
    printed = cli(*RUN, "--resume", "--json")
    assert printed.code == 0, printed.err
    assert json.loads(printed.out)["id"] == folder.name
    assert sorted(map(int, calls())) == list(range(2 * PART, ROWS))
    assert folders() == [folder]
    check_finished(folder)


@pytest.mark.slow
def test_kill_and_on(start, cli, work):
    process = start()
    process.kill()
    process.communicate(timeout=20)
    [folder] = folders()
    assert (folder / "owner.json").exists()
    Path("slow").unlink()
    Path("calls.txt").unlink()
    printed = cli(*RUN, "--resume", "--json")
    assert printed.code == 0, printed.err
    assert sorted(map(int, calls())) == list(range(2 * PART, ROWS))
    assert folders() == [folder]
    check_finished(folder)


def test_killed_while_finishing(cli, work, monkeypatch):
    """As kill -9 leaves it when the tables are joined but run.json is not there yet: everything but the last step."""

    class KilledError(BaseException):
        pass

    from ragstone.engine import evaluate as evaluation

    def killed(*_):
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "write_run", killed)
        patch.setattr("ragstone.storage.places.Place.remove", lambda self: None)
        with pytest.raises(KilledError):
            cli(*RUN)
    [folder] = folders()
    assert (folder / "scores.parquet").exists()
    assert (folder / "owner.json").exists()
    assert not (folder / "run.json").exists()
    Path("calls.txt").unlink()
    printed = cli(*RUN, "--resume")
    assert printed.code == 0, printed.err
    assert calls() == []
    check_finished(folder)


@pytest.mark.slow
def test_a_run_at_work_is_not_taken_over(start, cli, work):
    process = start()
    [folder] = folders()
    printed = cli(*RUN, "--resume")
    assert printed.code == 1
    assert f"run {folder.name} is in use by process {process.pid}" in printed.err
    assert folders() == [folder]
    Path("slow").unlink()
    process.communicate(timeout=30)
    assert process.returncode == 0
    check_finished(folder)


@pytest.mark.slow
def test_two_runs_at_once_into_one_root(start, work):
    first = start()
    second = start()
    Path("slow").unlink()
    for process in (first, second):
        _, err = process.communicate(timeout=30)
        assert process.returncode == 0, err
    assert len(folders()) == 2
    for folder in folders():
        check_finished(folder)
    assert set(Counter(calls()).values()) == {2}


def test_resuming_what_there_is_not_starts_anew_and_says_so(cli, work):
    printed = cli(*RUN, "--resume")
    assert printed.code == 0
    assert "note: there is no interrupted run of this data with these metrics; starting a new one" in printed.err
    check_finished(*folders())


@pytest.mark.slow
def test_ctrl_c_while_a_plain_metric_computes(work, environment):
    """Plain metrics are computed ten thousand rows at a time: nobody waits for that after Ctrl-C."""
    (work / "plain.py").write_text(
        "import time\n"
        "from ragstone.registry import metric\n"
        '@metric("slow")\n'
        "def slow(answer: str) -> float:\n"
        "    open('computing', 'w').close()\n"
        "    time.sleep(0.2)\n"
        "    return 1.0\n"
    )
    command = [*COMMAND, "run", "data.jsonl", "--metrics-file", "plain.py", "-m", "slow", "-o", "out"]
    with subprocess.Popen(
        command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 60
        while not Path("computing").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - pressed < 25
    assert "--resume" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", ["run", "validate"])
def test_ctrl_c_while_reading(work, environment, command):
    process = subprocess.Popen(
        [*COMMAND, command, "-"],
        cwd=work,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write('{"question": "q"}\n')
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not _waits_for_input(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert out == ""
    assert not Path("ragstone-store").exists()


def _waits_for_input(pid):
    """Whether the process sleeps in a read of its standard input, by what Linux says of it."""
    try:
        words = Path(f"/proc/{pid}/syscall").read_text().split()
    except OSError:
        pytest.skip("needs /proc to know when the command reads")
    return words[:2] == [{"aarch64": "63"}.get(platform.machine(), "0"), "0x0"]
