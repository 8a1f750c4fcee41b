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

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragstone.storage.durable import read_owner
from ragstone.storage.places import open_place
from ragstone.watch.store import WatchStore
from tests.watch.logs import check_exactly_once, request, write_lines

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("design", "steps"), [({"rate": 0.3}, 9), ({"per_period": 4, "strata": "app"}, 17)])
def test_killed_at_every_change_of_the_disk(tmp_path, design, steps):
    """Renames and removals in turn, just before and just after each; with steps of 1 all of them are tried."""
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


def start(watch: str, *words: str) -> subprocess.Popen:
    """A process that has begun to work on the watch."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while (read_owner(open_place(watch)) or {}).get("pid") != process.pid:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


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
    watch = str(tmp_path / "w")
    base = command(watch, "--every", "0.02s", "--grace", "0s")
    options = ["--from", str(log.path), "--rate", "0.2", "-m", "refusal,k_precision"]
    size = len(log.content) // 24 + 1
    for _ in range(8):
        process = start(watch, *base, *options, "--now", "2026-11-12T23:59:59")
        for _ in range(3):
            log.grow(size)
            time.sleep(dice.uniform(0.0, 0.3))
        kill_after(process, dice.uniform(0.0, 0.5))
    log.grow(len(log.content))
    assert log.rotations
    for _ in range(5):  # all three days are over: kills while they are closed and evaluated
        kill_after(start(watch, *base, "--now", "2026-11-14T00:00:00"), dice.uniform(0.0, 1.5))
    subprocess.run([*base, "--once", "--now", "2026-11-14T00:00:00"], check=True, timeout=120)
    days = {f"2026-11-{10 + day}": {f"r{number}" for number in range(day, 3000, 3)} for day in range(3)}
    store = WatchStore(watch)
    # The first two days were over from the start; their requests that arrived later are late.
    late = sum(record.late for record in store.periods())
    assert sum(record.requests for record in store.periods()) + late == 3000
    assert store.period("2026-11-12").requests == 1000
    check_exactly_once(store, days, late)


def test_kills_on_s3(bucket, tmp_path):
    """Logs of DIAL as Parquet parts, and the watch itself, in a bucket."""
    days = {}
    for day in (10, 11):
        for part in range(3):
            names = [f"d{day}-{part}-{number}" for number in range(40)]
            days.setdefault(f"2026-11-{day}", set()).update(names)
            rows = [
                {
                    "question": f"What is {name}?",
                    "answer": "It is.",
                    "attachments": "[]",
                    "response_id": name,
                    "time": f"2026-11-{day}T10:00:00Z",
                }
                for name in names
            ]
            pq.write_table(pa.Table.from_pylist(rows), tmp_path / "part.parquet")
            key = f"logs/assistant/2026-11-{day}/part-{part}.parquet"
            bucket.write(key, (tmp_path / "part.parquet").read_bytes())
    watch, dice = f"{bucket.url}/watch", random.Random(3)
    base = command(watch, "--every", "0.02s", "--now", "2026-11-14T00:00:00")
    options = ["--from", f"{bucket.url}/logs", "--rate", "0.5", "-m", "refusal"]
    for number in range(5):
        kill_after(
            start(watch, *base, *(() if WatchStore(watch).exists() else options)), 0.1 * number + dice.uniform(0.2, 0.6)
        )
    subprocess.run([*base, "--once"], check=True, timeout=120)
    check_exactly_once(WatchStore(watch), days)
