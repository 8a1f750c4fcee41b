"""The folder of a watch."""

from __future__ import annotations

import json

import pytest

from ragstone import evaluate
from ragstone.errors import StorageError
from ragstone.storage.places import open_place
from ragstone.watch.store import PeriodRecord, WatchStore


def test_records_round_trip_in_order(tmp_path):
    store = WatchStore(tmp_path / "w")
    late = PeriodRecord("2026-11-16", {"all": 10}, {"all": 2}, ("2026-11-16-000",), {"a": 5.0, "b": 5.0}, complete=True)
    store.write_period(late)
    store.write_period(PeriodRecord("2026-11-15", {"all": 3}))
    assert [record.period for record in store.periods()] == ["2026-11-15", "2026-11-16"]
    assert store.period("2026-11-16") == late
    assert late.requests == 10
    assert store.period("2026-11-17") is None


def test_a_field_of_a_later_version_is_ignored(tmp_path):
    store = WatchStore(tmp_path)
    file = open_place(tmp_path) / "periods" / "2026-11-15.json"
    file.write_bytes(json.dumps({"period": "2026-11-15", "new": 1}).encode())
    assert store.periods() == [PeriodRecord("2026-11-15")]
    file.write_bytes(b"[]")
    with pytest.raises(StorageError, match="not the record of a period"):
        store.periods()


def test_scores_of_all_runs_of_a_period(tmp_path):
    store = WatchStore(tmp_path)
    runs = []
    for number in range(2):
        rows = [{"id": f"{number}-{row}", "question": "Why?", "answer": "Because of it."} for row in range(2)]
        runs.append(evaluate(rows, "refusal", out=tmp_path).id)
    store.write_period(PeriodRecord("2026-11-15", runs=tuple(runs)))
    scores = store.scores("2026-11-15")
    assert [name for name, _ in scores["refusal"]] == ["0-0", "0-1", "1-0", "1-1"]
    assert all(value is not None for _, value in scores["refusal"])
    assert store.scores("2026-11-14") == {}


def test_settings(tmp_path):
    store = WatchStore(tmp_path)
    with pytest.raises(StorageError, match="not a watch"):
        store.settings()
    store.write_settings({"period": "day"})
    assert store.settings() == {"period": "day"}
    assert json.loads(store.settings_file.read_bytes()) == {"version": 1, "period": "day"}
    store.settings_file.write_bytes(b'{"version": 2}')
    with pytest.raises(StorageError, match="version 1"):
        store.settings()
