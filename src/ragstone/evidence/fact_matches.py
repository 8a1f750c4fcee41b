"""Which chunk contains which fact: judges retrieval without chunk ids, so that two chunkings can be compared (DIAL)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.fact_columns import Counts, FactMatches, Ranks
from ragstone.data.types import Gaps
from ragstone.evidence.tokens import list_offsets
from ragstone.registry import evidence
from ragstone.text.matchers import FoldingMatcher, Matcher
from ragstone.text.word_columns import fold_texts


@evidence(columnar=True)
def fact_matches(facts: pa.ListArray, contexts: pa.ListArray, matcher: Matcher) -> Gaps[FactMatches]:
    """Every occurrence of a fact in a retrieved chunk, with its character span."""
    wanted, listed = facts.flatten().field("text"), contexts.flatten().field("text")
    reasons = rows_without_words(wanted.to_pylist(), list_offsets(facts))
    if isinstance(matcher, FoldingMatcher):
        rows = zip(_cut(fold_texts(wanted), facts), _cut(fold_texts(listed), contexts), strict=True)
        matches = [list(matcher.find_folded(*row)) for row in rows]
    else:
        pairs = zip(_cut(wanted.to_pylist(), facts), _cut(listed.to_pylist(), contexts), strict=True)
        matches = [list(matcher.find(*pair)) for pair in pairs]
    return Gaps(FactMatches.from_lists(matches, matcher.name), reasons)


@evidence(columnar=True)
def fact_ranks(fact_matches: FactMatches, facts: pa.ListArray) -> Ranks:
    """The rank, from 1, of the first chunk in which each fact is found; nothing where it is not."""
    offsets, never = list_offsets(facts), np.iinfo(np.int64).max
    ranks = np.full(offsets[-1], never)
    np.minimum.at(ranks, offsets[fact_matches.row_of] + fact_matches.facts, fact_matches.chunks + 1)
    return Ranks(np.where(ranks == never, 0, ranks), offsets)


@evidence(columnar=True)
def chunk_relevance(fact_matches: FactMatches, contexts: pa.ListArray) -> Counts:
    """How many of the facts each retrieved chunk contains."""
    offsets = list_offsets(contexts)
    chunks = offsets[fact_matches.row_of] + fact_matches.chunks
    most = int(fact_matches.facts.max(initial=0)) + 1
    pairs = np.unique(chunks * most + fact_matches.facts)
    return Counts(np.bincount(pairs // most, minlength=offsets[-1]), offsets)


def rows_without_words(facts: Sequence[str], offsets: np.ndarray) -> dict[int, str]:
    """The rows in which a fact has no letter or digit, and which."""
    reasons: dict[int, str] = {}
    for place, fact in enumerate(facts):
        # Most facts begin with a letter.
        if not fact[:1].isalnum() and not any(character.isalnum() for character in fact):
            row = int(np.searchsorted(offsets, place, side="right")) - 1
            reasons.setdefault(row, f"fact {place - offsets[row] + 1} ({fact[:20]!r}) has no letter or digit")
    return reasons


def _cut(items: Sequence[Any], lists: pa.ListArray) -> Iterator[Sequence[Any]]:
    """The items of each list."""
    start = 0
    for length in lists.value_lengths().to_pylist():
        yield items[start : start + length]
        start += length
