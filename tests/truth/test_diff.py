from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.truth.diff import Change, Conflict, Merged, count_changes, diff, merge
from ragstone.truth.model import Case, TruthFact

DEEP, LONG, OLD = TruthFact("It is 12 metres deep"), TruthFact("It is 300 metres long"), TruthFact("It is old")
CASE = Case("a", "How deep?", ["12 metres"], [DEEP, LONG], metadata={"language": "en"})
PLAIN = Case("a", "How deep?", ["12 metres"], [DEEP, LONG])


def test_nothing_changed():
    assert diff([PLAIN], [PLAIN]) == []
    assert count_changes([]) == {
        "added": 0, "removed": 0, "changed": 0, "facts_gained": 0, "facts_lost": 0, "facts_changed": 0,
    }  # fmt: skip


def test_each_field_and_each_fact_is_one_change():
    gained, changed = TruthFact("It was dredged"), replace(DEEP, standing="rejected", note="old")
    new = replace(PLAIN, references=["13 metres"], facts=[changed, gained], answerable=True)
    other, gone = Case("b", "New?"), Case("c", "Gone?")
    found = diff([gone, PLAIN], [other, new])
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
    twice = replace(PLAIN, facts=[DEEP, DEEP, LONG])
    assert diff([PLAIN], [twice]) == [Change("changed", "a", "How deep?", "facts", None, DEEP)]


def test_what_only_one_side_changed_is_taken():
    ours = replace(
        CASE, references=["13 metres"], facts=[DEEP, LONG, OLD], metadata={"language": "en", "topic": "port"}
    )
    theirs = replace(CASE, question="How deep is it?", facts=[DEEP], metadata={"language": "de"})
    both = replace(
        CASE,
        question="How deep is it?",
        references=["13 metres"],
        facts=[DEEP, OLD],
        metadata={"language": "de", "topic": "port"},
    )
    assert merge([CASE], [ours], [theirs]) == Merged([both], [])


def test_what_both_changed_alike_is_no_conflict():
    same = replace(CASE, references=["13 metres"], facts=[DEEP])
    assert merge([CASE], [same], [same]) == Merged([same], [])


@pytest.mark.parametrize(("prefer", "kept"), [("ours", "13 metres"), ("theirs", "14 metres")])
def test_what_both_changed_differently_is_told(prefer, kept):
    ours, theirs = replace(CASE, references=["13 metres"]), replace(CASE, references=["14 metres"])
    found = merge([CASE], [ours], [theirs], prefer)
    assert found.cases[0].references == [kept]
    assert found.conflicts == [Conflict("a", "references", ["12 metres"], ["13 metres"], ["14 metres"])]


def test_both_judged_one_fact_differently():
    proposed = replace(DEEP, standing="proposed")
    base = replace(CASE, facts=[proposed, LONG])
    accepted, rejected = replace(DEEP, note="checked"), replace(DEEP, standing="rejected", note="an old edition")
    ours, theirs = replace(CASE, facts=[accepted, LONG]), replace(CASE, facts=[rejected, LONG])
    found = merge([base], [ours], [theirs])
    assert found.conflicts == [Conflict("a", "facts", proposed, accepted, rejected)]
    assert found.cases[0].facts == [accepted, LONG]
    assert merge([base], [ours], [theirs], "theirs").cases[0].facts == [rejected, LONG]
    # Without a base nobody knows who changed it.
    assert merge([], [ours], [theirs]).conflicts == [Conflict("a", "facts", None, accepted, rejected)]


def test_what_each_side_says_about_a_fact_is_put_together():
    ours = replace(CASE, facts=[replace(DEEP, note="checked"), LONG])
    theirs = replace(CASE, facts=[replace(DEEP, source="guide.pdf"), LONG])
    both = replace(CASE, facts=[replace(DEEP, note="checked", source="guide.pdf"), LONG])
    assert merge([CASE], [ours], [theirs]) == merge([], [ours], [theirs]) == Merged([both], [])


@pytest.mark.parametrize("prefer", ["ours", "theirs"])
def test_a_change_outlives_a_removal_and_says_so(prefer):
    changed = replace(CASE, references=["13 metres"])
    assert merge([CASE], [], [changed], prefer) == Merged([changed], [Conflict("a", "case", CASE, None, changed)])
    assert merge([CASE], [changed], [], prefer) == Merged([changed], [Conflict("a", "case", CASE, changed, None)])
    noted = replace(DEEP, note="checked")
    found = merge([CASE], [replace(CASE, facts=[LONG])], [replace(CASE, facts=[noted, LONG])], prefer)
    assert sorted(fact.text for fact in found.cases[0].facts) == [DEEP.text, LONG.text]
    assert found.conflicts == [Conflict("a", "facts", DEEP, None, noted)]


def test_cases_come_and_go():
    mine, yours, gone = Case("b", "Mine?"), Case("c", "Yours?"), Case("d", "Gone?")
    found = merge([CASE, gone], [CASE, gone, mine], [CASE, yours])
    assert found == Merged([CASE, mine, yours], [])


def test_without_a_base_what_one_side_lacks_is_filled_in():
    ours = Case("a", "How deep?", ["12 metres"], [DEEP])
    theirs = Case("a", "How deep?", [], [LONG], answerable=True)
    assert merge([], [ours], [theirs]) == Merged(
        [Case("a", "How deep?", ["12 metres"], [DEEP, LONG], answerable=True)], []
    )


FACTS = st.lists(st.sampled_from([DEEP, LONG, OLD, replace(DEEP, note="x")]), max_size=3, unique_by=lambda f: f.text)
CASES = st.lists(
    st.builds(Case, st.sampled_from("abc"), st.sampled_from("?!"), st.lists(st.sampled_from("xyz"), max_size=2), FACTS),
    max_size=3,
    unique_by=lambda case: case.id,
)


@given(CASES, CASES)
def test_who_changed_nothing_gets_all_that_the_other_did(base, edited):
    for found in (merge(base, edited, base), merge(base, base, edited)):
        assert not found.conflicts
        assert {case.id: (case.question, case.references, set(case.facts)) for case in found.cases} == {
            case.id: (case.question, case.references, set(case.facts)) for case in edited
        }


@given(CASES, CASES, CASES)
def test_sides_matter_only_where_there_is_a_conflict(base, ours, theirs):
    one, other = merge(base, ours, theirs, "ours"), merge(base, theirs, ours, "theirs")
    assert {c.id: (c.question, c.references, set(c.facts)) for c in one.cases} == {
        c.id: (c.question, c.references, set(c.facts)) for c in other.cases
    }
    assert len(one.conflicts) == len(other.conflicts)
