"""Logs for the tests of a watch."""

from __future__ import annotations

import json
from pathlib import Path

from ragstone.watch.store import WatchStore


def request(number: int, day: str = "2026-11-10", **more) -> dict:
    """One request of a log."""
    hour = f"{number % 24:02d}:{number % 60:02d}:00"
    answer = "I do not know." if number % 5 == 0 else f"It is {number}, as the table says."
    return {
        "id": f"r{number}",
        "question": f"What is number {number}?",
        "answer": answer,
        "contexts": [f"The table has {number}."],
        "time": f"{day}T{hour}Z",
        "app": "mobile" if number % 3 == 0 else "web",
        **more,
    }


def write_lines(path: Path, rows: list[dict]) -> Path:
    """Append rows to a file of JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def check_exactly_once(store: WatchStore, expected: dict[str, set[str]], late: int = 0) -> None:
    """Every request is counted once, every drawn row is in exactly one run, and weights sum to the requests."""
    records = store.periods()
    assert {record.period for record in records} == set(expected)
    assert sum(record.late for record in records) == late
    for record in records:
        assert record.complete
        if not late:
            assert record.requests == len(expected[record.period])
        ids = [sample.id for run in store.runs(record.period) for sample in run.samples]
        assert sorted(ids) == sorted(record.weights)
        assert set(ids) <= expected[record.period]
        assert record.evaluated == record.drawn
        assert abs(sum(record.weights.values()) - record.requests) < 1e-6
        for values in store.scores(record.period).values():
            assert sorted(name for name, _ in values) == sorted(ids)
    # No run that no record names.
    stored = {place.name for place in (store.place / "runs").children()}
    assert stored == {name for record in records for name in record.runs}
