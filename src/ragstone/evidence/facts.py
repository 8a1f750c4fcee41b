"""Which fact stands in which chunk: retrieval judged without chunk ids, so that two chunkings can be compared (DIAL)."""

from __future__ import annotations

from ragstone.data.types import Chunk, Fact, FactMatch
from ragstone.errors import Skip
from ragstone.registry import evidence
from ragstone.text.matchers import Matcher


@evidence
def fact_matches(facts: list[Fact], contexts: list[Chunk], matcher: Matcher) -> list[FactMatch]:
    """Every place where a fact stands in a retrieved chunk, with the characters that it covers."""
    for number, fact in enumerate(facts, start=1):
        if not any(character.isalnum() for character in fact.text):
            raise Skip(f"fact {number} ({fact.text[:20]!r}) has no letter or digit")
    found = matcher.find([fact.text for fact in facts], [chunk.text for chunk in contexts])
    return [FactMatch(*place, matcher=matcher.name) for place in found]


@evidence
def fact_ranks(fact_matches: list[FactMatch], facts: list[Fact]) -> list[int | None]:
    """The rank, from 1, of the first chunk in which each fact is found; nothing where it is not."""
    ranks: list[int | None] = [None] * len(facts)
    for match in fact_matches:
        rank = ranks[match.fact]
        ranks[match.fact] = match.chunk + 1 if rank is None else min(rank, match.chunk + 1)
    return ranks


@evidence
def chunk_relevance(fact_matches: list[FactMatch], contexts: list[Chunk]) -> list[int]:
    """How many of the facts each retrieved chunk contains."""
    pairs = {(match.chunk, match.fact) for match in fact_matches}
    counts = [0] * len(contexts)
    for chunk, _ in pairs:
        counts[chunk] += 1
    return counts
