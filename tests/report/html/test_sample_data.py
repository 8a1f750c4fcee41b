"""Texts with marked claims and facts."""

from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import FactMatch
from ragstone.report.html.sample_data import Piece, cut_for_print, mark_claims, mark_facts


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


def test_marks_and_what_is_near_them_are_printed():
    far = "word " * 200
    parts = list(cut_for_print([Piece(far), Piece("the fact", "good", (1,)), Piece(far)], 100))
    assert "".join(piece.text for piece, _ in parts) == f"{far}the fact{far}"
    text = "".join(piece.text if printed else "…" for piece, printed in parts)
    assert text.startswith("… word")
    assert "word the factword" in text
    assert text.endswith("word …")
    assert len(text) < 150


def test_the_start_of_a_text_without_marks_is_printed():
    assert list(cut_for_print("a short text", 100)) == [(Piece("a short text"), True)]
    (start, yes), (rest, no) = cut_for_print("word " * 100, 100)
    assert (yes, no) == (True, False)
    assert start.text + rest.text == "word " * 100
    assert 50 < len(start.text) <= 100
    assert [printed for _, printed in cut_for_print("漢" * 500, 100)] == [True, False]


def test_not_all_of_a_text_full_of_marks_is_printed():
    parts = list(cut_for_print([Piece("x" * 90, "good", (1,)), Piece(" ")] * 20, 100))
    assert sum(len(piece.text) for piece, printed in parts if printed) < 500
