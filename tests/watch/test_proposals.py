"""The worst answers of a period as proposed cases."""

from __future__ import annotations

from ragstone.truth.store import TruthStore
from ragstone.watch.proposals import Desk, propose
from tests.watch.logs import request, write_lines
from tests.watch.test_watch import World


def test_answers_are_proposed_once(tmp_path):
    rows = [request(number) for number in range(6)]
    write_lines(tmp_path / "logs" / "a.jsonl", [*rows, {**rows[1], "id": "again"}])
    world = World(tmp_path)
    world.at("12T00:00")
    desk = Desk(TruthStore(str(tmp_path / "store")), "desk", "ann")
    assert propose(world.store, "2026-11-10", ["r1", "again", "r2", "unknown"], desk) == 2
    version = desk.store.read("desk")
    case = version.cases[0]
    assert [one.id for one in version.cases] == ["r1", "r2"]
    assert (case.standing, case.provenance, case.weight) == ("proposed", "harvested", 1.0)
    assert case.references == ["It is 1, as the table says."]
    assert case.accepted_references == []
    assert version.info.lineage.sources[0]["period"] == "2026-11-10"
    assert propose(world.store, "2026-11-10", ["r1", "r2"], desk) == 0
    assert desk.store.numbers("desk") == [1]
    assert propose(world.store, "2026-11-10", ["r3", "r1"], desk) == 1
    assert propose(world.store, "2026-11-09", ["r3"], desk) == 0
