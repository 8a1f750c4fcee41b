"""Texts with marked claims and facts."""

from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import FactMatch
from ragstone.views.marks import mark_claims, mark_facts


def test_sentences_have_the_tone_of_their_worst_claim():
    pieces = mark_claims(
        "The boat is red and old. It leaves at nine. Hello.",
        ["The boat is red.", "The boat is old.", "It leaves at nine.", "Something else entirely different here."],
        ["good", "bad", "good", "bad"],
    )
    marked = [(piece.text, piece.tone, piece.numbers) for piece in pieces if piece.numbers]
    assert marked == [("The boat is red and old.", "bad", (1, 2)), ("It leaves at nine.", "good", (3,))]


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=4))
def test_no_letter_is_lost_or_added(text, claims):
    assert "".join(piece.text for piece in mark_claims(text, claims, ["good"] * len(claims))) == text


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=5))
def test_facts_may_overlap_and_lie_outside(text, places):
    matches = [FactMatch(number, 0, start, end, 1.0, "m") for number, (start, end) in enumerate(places)]
    assert "".join(piece.text for piece in mark_facts(text, matches, 1000)) == text


def test_overlapping_facts_by_hand():
    pieces = mark_facts("abcdef", [FactMatch(0, 0, 0, 4, 1.0, "m"), FactMatch(1, 0, 2, 6, 1.0, "m")], 5)
    assert [(piece.text, piece.numbers) for piece in pieces] == [("ab", (1,)), ("cd", (1, 2)), ("e", (2,))]
