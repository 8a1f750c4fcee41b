"""Passages are found by rare words and compared by common names."""

from ragstone.truth.synthesis.writer import Shelf
from tests.truth.synthesis.harbour import passages

ALL = passages()


def test_passages_are_found_by_rare_words() -> None:
    assert [item.heading for item in Shelf(ALL).find("Who commands the Pelican?", 1)] == ["The Pelican"]
    assert Shelf(ALL).find("xyzzy", 3) == []


def test_the_partner_names_the_same_subject() -> None:
    maren = next(passage for passage in ALL if passage.source == "crew.md")
    assert Shelf(ALL).partner(maren).heading == "The Maren"
