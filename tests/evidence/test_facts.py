"""Which fact stands in which chunk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.data.types import Chunk, Fact, FactMatch
from ragstone.errors import Skip
from ragstone.evidence.facts import chunk_relevance, fact_matches, fact_ranks
from ragstone.text.matchers import make_matcher

FACTS = [Fact("opens at 9"), Fact("closed on Sunday"), Fact("free")]
CHUNKS = [Chunk("Nothing."), Chunk("Opens at 9, OPENS AT 9."), Chunk("It opens at 9 and is closed on Sunday.")]


def match(facts, chunks):
    return fact_matches(facts, chunks, make_matcher("citation"))


def test_every_place_with_its_characters():
    matches = match(FACTS, CHUNKS)
    assert matches[0] == FactMatch(0, 1, 0, 10, 1.0, "citation")
    assert [CHUNKS[place.chunk].text[place.start : place.end] for place in matches] == [
        "Opens at 9",
        "OPENS AT 9",
        "opens at 9",
        "closed on Sunday",
    ]


def test_ranks_are_those_of_the_first_chunk():
    assert fact_ranks(match(FACTS, CHUNKS), FACTS) == [2, 3, None]


def test_relevance_counts_facts_and_not_places():
    assert chunk_relevance(match(FACTS, CHUNKS), CHUNKS) == [0, 1, 2]


def test_the_same_fact_twice_counts_twice():
    facts = [Fact("free"), Fact("FREE!")]
    matches = match(facts, [Chunk("free")])
    assert fact_ranks(matches, facts) == [1, 1]
    assert chunk_relevance(matches, [Chunk("free")]) == [2]


def test_nothing_retrieved():
    assert match(FACTS, []) == chunk_relevance([], []) == []
    assert fact_ranks([], FACTS) == [None, None, None]


@pytest.mark.parametrize("text", ["", " ", "—…!", "\u0301", "😀"])
def test_a_fact_without_letter_or_digit_is_no_fact(text):
    with pytest.raises(Skip, match=r"^fact 2 \('.*'\) has no letter or digit$"):
        match([Fact("ok"), Fact(text)], CHUNKS)


@given(st.permutations([FactMatch(fact, chunk, 0, 1, 1.0, "m") for fact in range(2) for chunk in range(3)]))
def test_the_order_of_the_matches_does_not_matter(matches):
    assert fact_ranks(matches, FACTS) == [1, 1, None]
    assert chunk_relevance(matches, CHUNKS) == [2, 2, 2]
