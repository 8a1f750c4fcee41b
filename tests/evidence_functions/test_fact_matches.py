"""Which fact stands in which chunk."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragstone
from ragstone.data.codec import arrow_type, encoder
from ragstone.data.schema import FIELDS
from ragstone.data.types import FactMatch
from ragstone.errors import Skip
from ragstone.evidence_functions import fact_matches as evidence
from ragstone.evidence_functions.fact_matches import FactMatches
from ragstone.text.matchers import MATCHERS, FoldingMatcher, make_matcher

FACTS = ["opens at 9", "closed on Sunday", "free"]
CHUNKS = ["Nothing.", "Opens at 9, OPENS AT 9.", "It opens at 9 and is closed on Sunday."]

texts = st.lists(st.text("aB .9é東!", max_size=8), max_size=4)


def column(field, rows):
    values = [None if row is None else [{"text": text} for text in row] for row in rows]
    return pa.array(values, type=FIELDS[field].type)


def places(matches):
    """One row of matches as a column."""
    return FactMatches.from_lists([[(m.fact, m.chunk, m.start, m.end, m.confidence) for m in matches]], "m")


def match(facts, chunks):
    return evidence.fact_matches(
        column("facts", [facts]), column("contexts", [chunks]), make_matcher("citation")
    ).column[0]


def fact_ranks(matches, facts):
    return evidence.fact_ranks(places(matches), column("facts", [facts]))[0]


def chunk_relevance(matches, chunks):
    return evidence.chunk_relevance(places(matches), column("contexts", [chunks]))[0]


def test_every_place_with_its_characters():
    matches = match(FACTS, CHUNKS)
    assert matches[0] == FactMatch(0, 1, 0, 10, 1.0, "citation")
    assert [CHUNKS[place.chunk][place.start : place.end] for place in matches] == [
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
    facts = ["free", "FREE!"]
    matches = match(facts, ["free"])
    assert fact_ranks(matches, facts) == [1, 1]
    assert chunk_relevance(matches, ["free"]) == [2]


def test_nothing_retrieved():
    assert match(FACTS, []) == chunk_relevance([], []) == []
    assert fact_ranks([], FACTS) == [None, None, None]


@pytest.mark.parametrize("text", ["", " ", "—…!", "\u0301", "😀"])
def test_a_fact_without_letter_or_digit_is_no_fact(text):
    with pytest.raises(Skip, match=r"^fact 2 \('.*'\) has no letter or digit$"):
        ragstone.match_facts(["ok", text], CHUNKS)
    found = evidence.fact_matches(
        column("facts", [["ok"], ["ok", text, "!"], ["!ok"]]), column("contexts", [[]] * 3), make_matcher("citation")
    )
    assert found.reasons == {1: f"fact 2 ({text!r}) has no letter or digit"}


@given(st.permutations([FactMatch(fact, chunk, 0, 1, 1.0, "m") for fact in range(2) for chunk in range(3)]))
def test_the_order_of_the_matches_does_not_matter(matches):
    assert fact_ranks(matches, FACTS) == [1, 1, None]
    assert chunk_relevance(matches, CHUNKS) == [2, 2, 2]


class Plain:
    """A matcher that knows nothing of folding, as users write them."""

    def __init__(self, matcher):
        self.name, self.signature, self.find = matcher.name, matcher.signature, matcher.find


@pytest.mark.parametrize("name", MATCHERS)
@given(st.lists(st.tuples(texts, texts), max_size=4))
def test_many_rows_at_once_are_the_same_as_one_by_one(name, rows):
    facts, contexts = (column(field, [row[side] for row in rows]) for side, field in enumerate(("facts", "contexts")))
    found = evidence.fact_matches(facts, contexts, make_matcher(name)).column
    plain = evidence.fact_matches(facts, contexts, Plain(make_matcher(name))).column
    expected = [[FactMatch(*place, matcher=name) for place in make_matcher(name).find(*row)] for row in rows]
    assert not isinstance(Plain(make_matcher(name)), FoldingMatcher)
    assert list(found) == list(plain) == expected
    ranks, counts = evidence.fact_ranks(found, facts), evidence.chunk_relevance(found, contexts)
    for row, (wanted, chunks) in enumerate(rows):
        firsts = [[match.chunk + 1 for match in expected[row] if match.fact == fact] for fact in range(len(wanted))]
        assert ranks[row] == [min(chunk, default=None) for chunk in firsts]
        assert counts[row] == [
            len({match.fact for match in expected[row] if match.chunk == chunk}) for chunk in range(len(chunks))
        ]


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_columns_are_stored_taken_and_joined_as_what_they_read_as(rows, random):
    facts, contexts = (column(field, [row[side] for row in rows]) for side, field in enumerate(("facts", "contexts")))
    matches = evidence.fact_matches(facts, contexts, make_matcher("citation")).column
    made = {
        "fact_matches": (matches, list[FactMatch]),
        "fact_ranks": (evidence.fact_ranks(matches, facts), list[int]),
        "chunk_relevance": (evidence.chunk_relevance(matches, contexts), list[int]),
    }
    order = random.sample(range(len(rows)), len(rows))
    for found, kind in made.values():
        encode = encoder(kind) or list
        assert found.to_arrow() == pa.array([encode(value) for value in found], type=arrow_type(kind))
        assert list(found.take(order)) == [found[row] for row in order]
        assert list(type(found).concat([found, found])) == [*found, *found]
