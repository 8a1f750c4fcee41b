"""Which fact stands in which chunk: retrieval judged without chunk ids, so that two chunkings can be compared (DIAL)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

from ragstone.data.columns import Gaps
from ragstone.data.places import Counts, Places, Ranks
from ragstone.data.types import FactMatch
from ragstone.registry import evidence
from ragstone.text.folded import fold_texts
from ragstone.text.matchers import FoldingMatcher, Matcher

# Whoever declares a column declares what is in a row of it: hence the casts.


@evidence(columnar=True)
def fact_matches(facts: pa.ListArray, contexts: pa.ListArray, matcher: Matcher) -> list[FactMatch]:
    """Every place where a fact stands in a retrieved chunk, with the characters that it covers."""
    wanted, listed = facts.flatten().field("text"), contexts.flatten().field("text")
    reasons = rows_without_words(wanted.to_pylist(), _offsets(facts))
    if isinstance(matcher, FoldingMatcher):
        rows = zip(_cut(fold_texts(wanted), facts), _cut(fold_texts(listed), contexts), strict=True)
        found = [list(matcher.find_folded(*row)) for row in rows]
    else:
        pairs = zip(_cut(wanted.to_pylist(), facts), _cut(listed.to_pylist(), contexts), strict=True)
        found = [list(matcher.find(*pair)) for pair in pairs]
    return cast("list[FactMatch]", Gaps(Places.from_lists(found, matcher.name), reasons))


@evidence(columnar=True)
def fact_ranks(fact_matches: Places, facts: pa.ListArray) -> list[int | None]:
    """The rank, from 1, of the first chunk in which each fact is found; nothing where it is not."""
    offsets, never = _offsets(facts), np.iinfo(np.int64).max
    ranks = np.full(offsets[-1], never)
    np.minimum.at(ranks, offsets[fact_matches.row_of] + fact_matches.facts, fact_matches.chunks + 1)
    return cast("list[int | None]", Ranks(np.where(ranks == never, 0, ranks), offsets))


@evidence(columnar=True)
def chunk_relevance(fact_matches: Places, contexts: pa.ListArray) -> list[int]:
    """How many of the facts each retrieved chunk contains."""
    offsets = _offsets(contexts)
    chunks = offsets[fact_matches.row_of] + fact_matches.chunks
    most = int(fact_matches.facts.max(initial=0)) + 1
    pairs = np.unique(chunks * most + fact_matches.facts)
    return cast("list[int]", Counts(np.bincount(pairs // most, minlength=offsets[-1]), offsets))


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


def _offsets(lists: pa.ListArray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy(), dtype=np.int64)])
