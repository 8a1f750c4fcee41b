"""Retrieval judged by the facts that the chunks contain (DIAL rag-eval): no chunk ids, so two chunkings can be compared."""

from __future__ import annotations

import numpy as np

from ragstone.data.columns import Ragged
from ragstone.registry import metric

DIAL = "DIAL rag-eval"
SPLIT = "A fact that the splitter cut in two is found in neither chunk; a fact in other words needs another matcher."


@metric(
    "fact_recall",
    family="facts",
    judges="contexts",
    against="facts",
    source=DIAL,
    misleads=SPLIT,
    aliases=("dial.recall",),
    sets=("dial",),
    columnar=True,
)
def fact_recall(fact_ranks: Ragged, k: int | None = None) -> np.ndarray:
    """How many of the needed facts were retrieved; below 1 the right answer cannot come from the documents.

    Facts found in the first k chunks / facts. Skipped without facts.
    """
    return _share(fact_ranks.sum(_found(fact_ranks, k)), fact_ranks.lengths)


@metric(
    "fact_precision",
    family="facts",
    judges="contexts",
    against="facts",
    source=DIAL,
    misleads=f"{SPLIT} A useful chunk whose fact nobody wrote down counts as noise.",
    aliases=("dial.precision",),
    sets=("dial",),
    columnar=True,
)
def fact_precision(chunk_relevance: Ragged, k: int | None = None) -> np.ndarray:
    """How many of the retrieved chunks are useful; a low value means that fewer chunks would do.

    Chunks with at least one fact among the first k / min(k, retrieved). Nothing retrieved: 0.
    """
    lengths = chunk_relevance.lengths
    useful = chunk_relevance.sum(_useful(chunk_relevance, k))
    return _share(useful, lengths if k is None else np.minimum(lengths, k))


@metric(
    "fact_f1",
    family="facts",
    judges="contexts",
    against="facts",
    source=DIAL,
    misleads=SPLIT,
    aliases=("dial.f1",),
    sets=("dial",),
    columnar=True,
)
def fact_f1(fact_ranks: Ragged, chunk_relevance: Ragged, k: int | None = None) -> np.ndarray:
    """The harmonic mean of fact recall and fact precision; 0 unless both are above 0."""
    recall, precision = fact_recall(fact_ranks, k), fact_precision(chunk_relevance, k)
    return _share(2 * recall * precision, recall + precision)


@metric(
    "fact_mrr",
    family="facts",
    judges="ranking",
    against="facts",
    source="DIAL's slides",
    misleads=f"{SPLIT} Only the first useful chunk counts.",
    columnar=True,
)
def fact_mrr(chunk_relevance: Ragged, k: int | None = None) -> np.ndarray:
    """How early the first useful chunk comes.

    1 / rank of the first chunk with a fact among the first k; none: 0.
    """
    places = np.flatnonzero(_useful(chunk_relevance, k))
    rows, first = np.unique(chunk_relevance.row_of[places], return_index=True)
    values = np.zeros(len(chunk_relevance))
    values[rows] = 1 / (chunk_relevance.position[places[first]] + 1)
    return values


@metric(
    "fact_mrr_mean",
    family="facts",
    judges="ranking",
    against="facts",
    source="DIAL rag-eval's library",
    misleads=SPLIT,
    aliases=("dial.mrr",),
    sets=("dial",),
    columnar=True,
)
def fact_mrr_mean(fact_ranks: Ragged, k: int | None = None) -> np.ndarray:
    """How early the facts come, on average.

    Mean over the facts of 1 / rank of the first chunk that has it; a fact not found in the first k counts 0.
    """
    shares = _share(_found(fact_ranks, k), fact_ranks.values)
    return _share(fact_ranks.sum(shares), fact_ranks.lengths)


@metric(
    "fact_ndcg",
    family="facts",
    judges="ranking",
    against="facts",
    source="DIAL's slides",
    misleads=f"{SPLIT} The ideal is the best order of what was retrieved, so a retrieval that missed facts can still reach 1.",
    aliases=("dial.ndcg",),
    columnar=True,
)
def fact_ndcg(chunk_relevance: Ragged, k: int | None = None) -> np.ndarray:
    """How close the order of the chunks comes to the best order of the same chunks, by the facts that they contain.

    Sum of facts in chunk i / log2(i + 1) over the first k, divided by that of all retrieved chunks sorted by their facts.
    No fact in any chunk: 0.
    """
    best = np.lexsort((-chunk_relevance.values, chunk_relevance.row_of))
    discounts = _within(chunk_relevance, k) / np.log2(chunk_relevance.position + 2)
    found, ideal = (chunk_relevance.sum(chunk_relevance.values[order] * discounts) for order in (slice(None), best))
    return _share(found, ideal)


def _within(lists: Ragged, k: int | None) -> np.ndarray:
    """Which entries are among the first k of their row."""
    return np.ones(len(lists.values), dtype=bool) if k is None else lists.position < k


def _found(fact_ranks: Ragged, k: int | None) -> np.ndarray:
    """Which facts are found in the first k chunks."""
    ranks = fact_ranks.values
    found: np.ndarray = (ranks > 0) if k is None else (ranks > 0) & (ranks <= k)
    return found


def _useful(chunk_relevance: Ragged, k: int | None) -> np.ndarray:
    """Which chunks hold a fact and are among the first k."""
    useful: np.ndarray = (chunk_relevance.values > 0) & _within(chunk_relevance, k)
    return useful


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Part / whole, and 0 where there is no whole."""
    share: np.ndarray = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return share
