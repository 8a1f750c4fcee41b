"""Which questions are planned from which passages."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from ragstone.formats.documents import Passage
from ragstone.truth.synthesis.writer import PAIRED, SHARES, Order, has_table, is_row, plan_jobs
from tests.truth.synthesis.harbour import passages

ALL = passages()
PROSE = [passage for passage in ALL if passage.source != "register.md"]


def _keys(seed: int, count: int = 60) -> list[tuple[str, ...]]:
    return [job.key for job in islice(plan_jobs(ALL, Order(1, seed)), count)]


def test_the_seed_decides() -> None:
    assert _keys(0) == _keys(0)
    assert _keys(0) != _keys(1)


def test_kinds_come_by_their_shares() -> None:
    counts = Counter(job.kind for job in islice(plan_jobs(ALL, Order(1, 3)), 100))
    assert counts == SHARES


def test_kinds_that_are_not_possible_leave_their_place_to_others() -> None:
    assert "table" not in {job.kind for job in islice(plan_jobs(PROSE, Order(1, 3)), 100)}
    counts = Counter(job.kind for job in islice(plan_jobs(PROSE[:1], Order(1, 3)), 100))
    assert counts == {"single": 40, "several": 20, "unanswerable": 20, "paraphrase": 20}
    assert {job.passages for job in islice(plan_jobs(PROSE[:1], Order(1, 3)), 10)} == {(PROSE[0],)}


def test_questions_are_spread_over_documents_and_sections() -> None:
    single = [job for job in islice(plan_jobs(ALL, Order(1, 0)), 200) if job.kind == "single"]
    first = [job.passages[0] for job in single[: len(ALL)]]
    assert sorted(passage.id for passage in first) == sorted(passage.id for passage in ALL)
    documents = len({passage.source for passage in ALL})
    assert len({passage.source for passage in first[:documents]}) == documents


def test_a_comparison_takes_two_passages_that_name_the_same() -> None:
    for job in islice(plan_jobs(ALL, Order(1, 0)), 100):
        assert len({passage.id for passage in job.passages}) == (2 if job.kind in PAIRED else 1)


def test_passages_that_hold_nothing_are_not_asked_about() -> None:
    short = Passage("a#1", "Too short.", "a")
    assert list(islice(plan_jobs([short], Order(1, 0)), 3)) == []
    assert {job.passages[0].id for job in islice(plan_jobs([short, *PROSE], Order(1, 0)), 50)} == {
        item.id for item in PROSE
    }


def test_tables_are_recognised_by_their_rows() -> None:
    assert has_table("| a | b |\n|---|---|\n| 1 | 2 |")
    assert has_table("pump\tpower\nP-1\t5 MW")
    assert not has_table("| a | b |\n|---|---|")
    assert not has_table("Either | or. And so on.")
    assert is_row("Verrin | 21:40")
    assert not is_row("Verrin 21:40")
