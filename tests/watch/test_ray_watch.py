"""A watch whose runs are computed on Ray: the same series, also if the watch is killed while Ray works."""

import json
import os
import subprocess
import sys
import time

import pytest

from ragstone.storage.places import open_place
from ragstone.storage.runs import RunFolder
from ragstone.watch.store import WatchStore
from tests.watch.logs import check_exactly_once, request, write_lines

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("ray")
NOW = ("--now", "2026-11-14T00:00:00")
ROWS = 800
# Each row leaves a line, so that a row that is computed twice is seen.
METRICS = '''
import asyncio, os
from ragstone.registry import evidence, metric

@evidence
async def slow_look(question: str, id: str) -> str:
    await asyncio.sleep({seconds})
    with open(os.path.join({folder!r}, str(os.getpid())), "a") as stream:
        stream.write(id + "\\n")
    return question

@metric("looked_at")
def looked_at(slow_look: str) -> float:
    """Whether it was looked at."""
    return 1 / len(slow_look)
'''


@pytest.fixture
def home(tmp_path):
    rows = [request(number, f"2026-11-{10 + number % 2}") for number in range(ROWS)]
    write_lines(tmp_path / "app.jsonl", rows)
    (tmp_path / "seen").mkdir()
    (tmp_path / "mine.py").write_text(METRICS.format(seconds=0.05, folder=str(tmp_path / "seen")))
    return tmp_path


def command(home, name, *more):
    words = [sys.executable, "-m", "ragstone", "watch", str(home / name), "--once", "-q", *NOW, "-j", "4"]
    return [*words, "--metrics-file", str(home / "mine.py"), *more]


def options(home):
    return ["--from", str(home / "app.jsonl"), "--rate", "1", "-m", "looked_at,refusal"]


def environment():
    return {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}


def seen(home):
    return [line for file in (home / "seen").iterdir() for line in file.read_text().split()]


def test_a_watch_that_is_killed_while_ray_works(home):
    on_ray = command(home, "ray", "--backend", "ray", "--workers", "2")
    process = subprocess.Popen([*on_ray, *options(home)], env=environment(), stderr=subprocess.PIPE)
    folder = RunFolder(open_place(str(home / "ray" / "runs" / "2026-11-11-000")))
    deadline = time.monotonic() + 240
    while not folder.finished_parts():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    process.stderr.close()
    assert not folder.manifest.exists()
    time.sleep(5)  # the workers of Ray end with the process that started them
    done = folder.finished_parts()
    before = len(seen(home))
    subprocess.run(on_ray, check=True, timeout=400, env=environment())
    days = {f"2026-11-{10 + day}": {f"r{number}" for number in range(day, ROWS, 2)} for day in range(2)}
    store = WatchStore(home / "ray")
    check_exactly_once(store, days)
    # Finished parts are kept: at most the rows of unfinished ones are computed again.
    assert len(seen(home)) - before <= ROWS - 100 * len(done)
    subprocess.run([*command(home, "alone"), *options(home)], check=True, timeout=200, env=environment())
    alone = WatchStore(home / "alone")
    for day in days:
        assert dict(alone.scores(day)) == dict(store.scores(day))
        assert json.dumps(alone.period(day).weights) == json.dumps(store.period(day).weights)
