"""A watch that is killed at any moment and started again loses no request and doubles none."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragstone.watch.store import WatchStore
from tests.watch.logs import check_exactly_once, request, write_lines

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("design", "steps"), [({"rate": 0.3}, 1), ({"per_period": 4, "strata": "app"}, 5)])
def test_killed_at_every_change_of_the_disk(tmp_path, design, steps):
    """Every rename and removal in turn, just before and just after it."""
    days = {"2026-11-10": range(20), "2026-11-11": range(20, 40)}
    for part in range(3):
        rows = [request(number, day) for day, numbers in days.items() for number in numbers if number % 3 == part]
        write_lines(tmp_path / "logs" / f"part{part}.jsonl", [*rows, rows[0]])
    nows = ["2026-11-11T23:50:00+00:00", "2026-11-13T00:00:00+00:00", "2026-11-13T00:01:00+00:00"]
    driver = [sys.executable, "-m", "tests.watch.crash_driver", str(tmp_path), json.dumps(design), json.dumps(nows)]
    shown = subprocess.run([*driver, str(steps)], check=True, capture_output=True, text=True, timeout=900).stdout
    statuses = [json.loads(line)["status"] for line in shown.splitlines()]
    assert statuses.count(0) == 2
    assert statuses.count(-signal.SIGKILL) == len(statuses) - 2 > 60 // steps
    expected = {day: {f"r{number}" for number in numbers} for day, numbers in days.items()}
    drawn = set()
    for done in tmp_path.glob("done-*"):
        store = WatchStore(done)
        check_exactly_once(store, expected)
        drawn.add(tuple(sorted(name for record in store.periods() for name in record.weights)))
    assert len(drawn) == 1


def command(watch: str, *more: str) -> list[str]:
    return [sys.executable, "-m", "ragstone", "watch", watch, "-q", *more]


def start(*words: str) -> subprocess.Popen:
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def kill_after(process: subprocess.Popen, seconds: float) -> None:
    time.sleep(seconds)
    assert process.poll() is None, process.stderr.read()
    process.kill()
    process.wait()
    process.stderr.close()


class GrowingLog:
    """A log that is appended to in pieces that end anywhere, and rotated."""

    def __init__(self, folder: Path, rows: list[dict], seed: int) -> None:
        folder.mkdir()
        self.path = folder / "app.jsonl"
        self.content = "".join(json.dumps(row) + "\n" for row in rows).encode()
        self.random = random.Random(seed)
        self.rotations = 0

    def grow(self, size: int) -> None:
        piece, self.content = self.content[:size], self.content[size:]
        with self.path.open("ab") as stream:
            stream.write(piece)
        if self.random.random() < 0.3 and piece.endswith(b"\n") is False:
            # The rest of the line goes into the same file: rotation happens between lines.
            end = self.content.find(b"\n") + 1
            with self.path.open("ab") as stream:
                stream.write(self.content[:end])
            self.content = self.content[end:]
            self.rotations += 1
            self.path.rename(self.path.with_name(f"app.jsonl.{self.rotations}"))


def test_random_kills_of_the_real_command(tmp_path):
    rows = [request(number, f"2026-11-{10 + number % 3}") for number in range(3000)]
    log = GrowingLog(tmp_path / "logs", rows, seed=1)
    dice = random.Random(2)
    base = command(str(tmp_path / "w"), "--every", "0.02s", "--grace", "0s")
    options = ["--from", str(log.path), "--rate", "0.2", "-m", "refusal,k_precision"]
    size = len(log.content) // 45 + 1
    for _ in range(15):
        process = start(*base, *options, "--now", "2026-11-12T23:59:59")
        for _ in range(3):
            log.grow(size)
            time.sleep(dice.uniform(0.3, 0.8))
        kill_after(process, dice.uniform(0.0, 0.4))
    log.grow(len(log.content))
    assert log.rotations
    for _ in range(8):  # all three days are over: kills while they are closed and evaluated
        kill_after(start(*base, "--now", "2026-11-14T00:00:00"), dice.uniform(0.6, 2.0))
    subprocess.run([*base, "--once", "--now", "2026-11-14T00:00:00"], check=True, timeout=120)
    days = {f"2026-11-{10 + day}": {f"r{number}" for number in range(day, 3000, 3)} for day in range(3)}
    store = WatchStore(tmp_path / "w")
    # The first two days were over from the start; their requests that arrived later are late.
    late = sum(record.late for record in store.periods())
    assert sum(record.requests for record in store.periods()) + late == 3000
    assert store.period("2026-11-12").requests == 1000
    check_exactly_once(store, days, late)
