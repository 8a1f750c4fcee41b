from dataclasses import replace

from ragstone.truth.cases import Case, TruthFact
from ragstone.truth.differences import Change, count_changes, diff

DEEP, LONG = TruthFact("It is 12 metres deep"), TruthFact("It is 300 metres long")
CASE = Case("a", "How deep?", ["12 metres"], [DEEP, LONG])


def test_nothing_changed():
    assert diff([CASE], [CASE]) == []
    assert count_changes([]) == {
        "added": 0, "removed": 0, "changed": 0, "facts_gained": 0, "facts_lost": 0, "facts_changed": 0,
    }  # fmt: skip


def test_each_field_and_each_fact_is_told_by_itself():
    gained, changed = TruthFact("It was dredged"), replace(DEEP, standing="rejected", note="old")
    new = replace(CASE, references=["13 metres"], facts=[changed, gained], answerable=True)
    other, gone = Case("b", "New?"), Case("c", "Gone?")
    found = diff([gone, CASE], [other, new])
    assert found == [
        Change("removed", "c", "Gone?"),
        Change("added", "b", "New?"),
        Change("changed", "a", "How deep?", "references", ["12 metres"], ["13 metres"]),
        Change("changed", "a", "How deep?", "answerable", None, after=True),
        Change("changed", "a", "How deep?", "facts", LONG, None),
        Change("changed", "a", "How deep?", "facts", DEEP, changed),
        Change("changed", "a", "How deep?", "facts", None, gained),
    ]
    assert count_changes(found) == {
        "added": 1, "removed": 1, "changed": 1, "facts_gained": 1, "facts_lost": 1, "facts_changed": 1,
    }  # fmt: skip


def test_a_second_fact_of_the_same_text_is_another_fact():
    twice = replace(CASE, facts=[DEEP, DEEP, LONG])
    assert diff([CASE], [twice]) == [Change("changed", "a", "How deep?", "facts", None, DEEP)]
