"""Texts as words that match across spellings."""

import pytest

from ragstone.truth.citations.spelled_text import Spelled, has_footnotes, misread


def test_invisible_characters_do_not_count_and_spans_are_those_of_the_original():
    spelled = Spelled("the\u200b pier")
    assert spelled.shown == "the pier"
    assert spelled.original(4, 8) == (5, 9)
    assert not Spelled("…")


def test_gaps_include_both_ends():
    spelled = Spelled("(Pier 3, open)")
    assert [spelled.gap(number) for number in range(4)] == ["(", " ", ", ", ")"]
    assert spelled.raw(0) == "Pier"


def test_words_torn_at_the_end_of_a_line():
    spelled = Spelled("infor-\nmation desk")
    assert spelled.is_torn(1)
    assert not spelled.is_torn(2)


def test_initials_sentence_starts_and_positions():
    spelled = Spelled("The U.S.A. joined. The fee rose.")
    assert spelled.initials(1) == "USA"
    assert spelled.initials(0) == ""
    assert spelled.sentence_starts == {5}
    assert spelled.places["the"] == [0, 5]


def test_footnotes_can_be_left_out():
    assert has_footnotes("The Alps[1] rise")
    assert not has_footnotes("The Alps rise")
    assert Spelled("The Alps[1] rise", footnotes=False).shown == "The Alps rise"


@pytest.mark.parametrize(
    ("noisy", "true", "expected"),
    [
        ("modem", "modern", False),  # too short to be sure
        ("govemment", "government", True),
        ("inf0rmation", "information", True),
        ("million", "billion", False),
        ("hypertension", "hypotension", False),
    ],
)
def test_only_scanner_confusions_are_misread(noisy, true, expected):
    assert misread(noisy, true) is expected


def test_a_citation_may_begin_at_a_misread_word():
    passage = Spelled("The govemment decided. The government agreed.")
    assert passage.beginnings(Spelled("government agreed")) == [1, 4]
