"""Exports of other platforms as requests."""

from __future__ import annotations

import pytest

from tests.watch.logs import check_exactly_once, write_lines
from tests.watch.test_watch import World


@pytest.mark.parametrize("name", ["langfuse_observations", "phoenix_spans", "langsmith_runs"])
def test_exports_of_platforms(tmp_path, name):
    records = pytest.importorskip("tests.platforms.records", reason="the readers of platforms are not there")
    rows = getattr(records, name)()
    log = write_lines(tmp_path / "logs" / "export.jsonl", rows[:1])
    world = World(tmp_path)
    world.at("01T10:00")
    write_lines(log, rows[1:])
    world.at("01T23:00")
    world.at("03T00:00")
    samples = {sample.id: sample for run in world.store.runs("2026-11-01") for sample in run.samples}
    check_exactly_once(world.store, {"2026-11-01": set(samples)})
    assert {sample.question: len(sample.contexts) for sample in samples.values()} == {records.FERRY: 2, records.FARE: 1}
