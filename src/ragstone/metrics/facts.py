"""Retrieval judged by the facts in the chunks (DIAL rag-eval). No chunk ids are used, so chunkings can be compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from ragstone.data.columns import Ragged
from ragstone.metrics.retrieval import FEWER, FIND_MORE, divide
from ragstone.registry import Good, metric

_SPLIT = "A fact cut in two by the splitter is found in neither chunk; a paraphrased fact needs another matcher."
_CONTEXTS: dict[str, Any] = {
    "family": "facts",
    "judges": "contexts",
    "against": "facts",
    "source": "DIAL rag-eval",
    "columnar": True,
}
_RANKING: dict[str, Any] = {**_CONTEXTS, "judges": "ranking", "source": "DIAL's slides"}


@metric(
    "fact_recall",
    **_CONTEXTS,
    misleads=_SPLIT,
    aliases=("dial.recall",),
    sets=("dial",),
    headline=1,
    good=Good(0.8, order=3, unless=("ragchecker.claim_recall",)),
    advice=FIND_MORE,
)
def fact_recall(fact_ranks: Ragged, k: int | None = None) -> np.ndarray:
    """Share of the needed facts that were retrieved: below 1 the chunks do not contain the full answer.

    Facts found in the first k chunks / facts. Skipped if there are no facts.
    """
    return divide(fact_ranks.sum(_found(fact_ranks, k)), fact_ranks.lengths)


@metric(
    "fact_precision",
    **_CONTEXTS,
    misleads=f"{_SPLIT} A useful chunk whose fact is not listed counts as noise.",
    aliases=("dial.precision",),
    sets=("dial",),
    headline=2,
    good=Good(0.3, order=6, decides=False, unless=("ragchecker.context_precision",), share_of_chunks=True),
    advice=FEWER,
)
def fact_precision(chunk_relevance: Ragged, k: int | None = None) -> np.ndarray:
    """Share of the retrieved chunks that are useful: a low value means that fewer chunks would do.

    Chunks with at least one fact among the first k / min(k, retrieved). Nothing retrieved: 0.
    """
    lengths = chunk_relevance.lengths
    useful = chunk_relevance.sum(_useful(chunk_relevance, k))
    return divide(useful, lengths if k is None else np.minimum(lengths, k))


@metric("fact_f1", **_CONTEXTS, misleads=_SPLIT, aliases=("dial.f1",), sets=("dial",))
def fact_f1(fact_ranks: Ragged, chunk_relevance: Ragged, k: int | None = None) -> np.ndarray:
    """Harmonic mean of fact recall and fact precision; 0 if either is 0."""
    recall, precision = fact_recall(fact_ranks, k), fact_precision(chunk_relevance, k)
    return divide(2 * recall * precision, recall + precision)


@metric("fact_mrr", **_RANKING, misleads=f"{_SPLIT} Only the first useful chunk counts.")
def fact_mrr(chunk_relevance: Ragged, k: int | None = None) -> np.ndarray:
    """How early the first useful chunk comes.

    1 / rank of the first chunk with a fact among the first k; 0 if there is none.
    """
    useful = np.flatnonzero(_useful(chunk_relevance, k))
    rows, first = np.unique(chunk_relevance.row_of[useful], return_index=True)
    values = np.zeros(len(chunk_relevance))
    values[rows] = 1 / (chunk_relevance.position[useful[first]] + 1)
    return values


@metric(
    "fact_mrr_mean",
    **{**_RANKING, "source": "DIAL rag-eval's library"},
    misleads=_SPLIT,
    aliases=("dial.mrr",),
    sets=("dial",),
)
def fact_mrr_mean(fact_ranks: Ragged, k: int | None = None) -> np.ndarray:
    """How early the facts come on average.

    Mean over the facts of 1 / rank of the first chunk that contains it; 0 for a fact not in the first k.
    """
    reciprocals = divide(_found(fact_ranks, k), fact_ranks.values)
    return divide(fact_ranks.sum(reciprocals), fact_ranks.lengths)


@metric(
    "fact_ndcg",
    **_RANKING,
    misleads=f"{_SPLIT} The ideal is the best order of the retrieved chunks, so a retrieval that misses facts can reach 1.",
    aliases=("dial.ndcg",),
)
def fact_ndcg(chunk_relevance: Ragged, k: int | None = None) -> np.ndarray:
    """How close the order of the chunks is to their best order, by number of facts.

    Sum of facts in chunk i / log2(i + 1) over the first k, divided by the same sum for all retrieved chunks sorted by
    their facts. No fact in any chunk: 0.
    """
    best = np.lexsort((-chunk_relevance.values, chunk_relevance.row_of))
    discounts = _within(chunk_relevance, k) / np.log2(chunk_relevance.position + 2)
    gain, ideal = (chunk_relevance.sum(chunk_relevance.values[order] * discounts) for order in (slice(None), best))
    return divide(gain, ideal)


def _within(lists: Ragged, k: int | None) -> np.ndarray:
    """Mask of the entries that are among the first k of their row."""
    return np.ones(len(lists.values), dtype=bool) if k is None else lists.position < k


def _found(fact_ranks: Ragged, k: int | None) -> np.ndarray:
    """Mask of the facts that are in the first k chunks."""
    ranks = fact_ranks.values
    found: np.ndarray = (ranks > 0) if k is None else (ranks > 0) & (ranks <= k)
    return found


def _useful(chunk_relevance: Ragged, k: int | None) -> np.ndarray:
    """Mask of the chunks among the first k that contain a fact."""
    useful: np.ndarray = (chunk_relevance.values > 0) & _within(chunk_relevance, k)
    return useful
