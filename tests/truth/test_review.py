"""What waits for a decision, and deciding on it."""

from dataclasses import replace

from ragstone.data.types import Chunk
from ragstone.truth.model import Case, TruthFact
from ragstone.truth.review import ANSWER, Choice, Decision, choose, citable_passages, find_lost

CASES = [
    Case(
        "fare",
        "What does a ticket cost?",
        ["9 crowns"],
        [
            TruthFact("A ticket costs 9 crowns.", provenance="judge", standing="proposed", confidence=0.9),
            TruthFact("A ticket costs 12 crowns.", provenance="judge", standing="proposed", confidence=0.4),
            TruthFact("Tickets are cheap.", "statement", standing="proposed"),
            TruthFact("Old news.", standing="rejected"),
        ],
        passages=[Chunk("A ticket costs 9 crowns.")],
        standing="proposed",
    ),
    Case("captain", "Who is the captain?", answerable=False, provenance="synthetic", standing="proposed"),
    Case("pier", "How long is the pier?", ["300 metres"]),
]


def chosen(**filters):
    return [(item.case, item.position) for item in choose(CASES, Choice(**filters))]


def test_what_is_proposed_is_chosen_by_case_kind_provenance_and_confidence():
    everything = [("fare", ANSWER), ("fare", 0), ("fare", 1), ("fare", 2), ("captain", ANSWER)]
    assert chosen() == everything
    assert chosen(cases=["captain", "pier"]) == everything[-1:]
    assert chosen(kinds=["citation"]) == [("fare", 0), ("fare", 1)]
    assert chosen(kinds=["unanswerable", "answer"]) == [("fare", ANSWER), ("captain", ANSWER)]
    assert chosen(provenances=["synthetic"]) == everything[-1:]
    assert chosen(least=0.5) == [("fare", 0)]
    assert chosen(most=0.5) == [("fare", 1)]
    assert chosen(cases=["fare"], facts=[2]) == [("fare", 2)]
    assert chosen(standing="rejected") == [("fare", 3)]


def test_decisions_change_the_standing_and_nothing_else():
    items = choose(CASES, Choice(kinds=["statement", "unanswerable"]))
    fare, captain, pier = Decision(items, "accepted").apply(CASES)
    assert [fact.standing for fact in fare.facts] == ["proposed", "proposed", "accepted", "rejected"]
    assert fare.standing == "proposed"
    assert captain == replace(CASES[1], standing="accepted")
    assert pier is CASES[2]


def test_citations_that_are_not_in_their_passages_are_found():
    lost = find_lost(CASES, choose(CASES, Choice()))
    assert [(item.position, check.verdict) for item, check in lost.items()] == [(1, "invalid")]
    bare = [replace(CASES[0], passages=[])]
    assert find_lost(bare, choose(bare, Choice())) == {}


def test_a_text_that_is_both_passage_and_context_is_one_text():
    case = Case(
        "a", "?", passages=[Chunk("One.", "p1"), Chunk("Two.")], reference_contexts=["Two.", "Three.", "Three."]
    )
    assert [passage.text for passage in citable_passages(case)] == ["One.", "Two.", "Three."]
