"""Retrieval judged by the facts in the chunks (DIAL rag-eval). No chunk ids are used, so chunkings can be compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ragstone.data.columns import Cells, Ragged
from ragstone.data.share import Items
from ragstone.metrics.retrieval import FEWER, FIND_MORE, POSSIBLE, divide, items_of_both
from ragstone.registry import Threshold, metric

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
    good=Threshold(0.8, order=3, unless=("ragchecker.claim_recall",)),
    advice=FIND_MORE,
)
def fact_recall(fact_ranks: Ragged, k: int | None = None) -> Cells:
    """Share of the needed facts that were retrieved: below 1 the chunks do not contain the full answer.

    Facts found in the first k chunks / facts. Skipped if there are no facts.
    """
    return _share("fact", fact_ranks, _found(fact_ranks, k), _within(fact_ranks, None))


@metric(
    "fact_complete",
    **{**_CONTEXTS, "source": "fact recall = 1"},
    misleads=f"{_SPLIT} One missing fact of ten counts as much as all ten.",
    slow=True,
)
def fact_complete(fact_ranks: Ragged, k: int | None = None) -> Cells:
    """Whether all needed facts are in the first k chunks: only then can the answer be complete.

    1 if fact recall is 1, otherwise 0. Skipped if there are no facts.
    """
    found = fact_recall(fact_ranks, k)
    return replace(found, values=(found.values == 1).astype(float))


@metric(
    "fact_precision",
    **_CONTEXTS,
    misleads=f"{_SPLIT} A useful chunk whose fact is not listed counts as noise.",
    aliases=("dial.precision",),
    sets=("dial",),
    headline=2,
    good=Threshold(0.3, order=6, decides=False, unless=("ragchecker.context_precision",), share_of_chunks=True),
    advice=FEWER,
)
def fact_precision(chunk_relevance: Ragged, k: int | None = None) -> Cells:
    """Share of the retrieved chunks that are useful: a low value means that fewer chunks would do.

    Chunks with at least one fact among the first k / min(k, retrieved). Nothing retrieved: 0.
    """
    return _share("chunk", chunk_relevance, _useful(chunk_relevance, k), _within(chunk_relevance, k))


@metric("fact_f1", **_CONTEXTS, misleads=_SPLIT, aliases=("dial.f1",), sets=("dial",))
def fact_f1(fact_ranks: Ragged, chunk_relevance: Ragged, k: int | None = None) -> Cells:
    """Harmonic mean of fact recall and fact precision; 0 if either is 0."""
    recall, precision = fact_recall(fact_ranks, k), fact_precision(chunk_relevance, k)
    values = divide(2 * recall.values * precision.values, recall.values + precision.values)
    return Cells.all_ok(values).counting(items_of_both(recall, precision))


@metric("fact_mrr", **_RANKING, misleads=f"{_SPLIT} Only the first useful chunk counts.")
def fact_mrr(chunk_relevance: Ragged, k: int | None = None) -> Cells:
    """How early the first useful chunk comes.

    1 / rank of the first chunk with a fact among the first k; 0 if there is none.
    """
    useful = np.flatnonzero(_useful(chunk_relevance, k))
    _, first = np.unique(chunk_relevance.row_of[useful], return_index=True)
    added = np.zeros(len(chunk_relevance.values))
    added[useful[first]] = 1 / (chunk_relevance.position[useful[first]] + 1)
    return _share_of(chunk_relevance, added, np.ones(len(chunk_relevance)), POSSIBLE)


@metric(
    "fact_mrr_mean",
    **{**_RANKING, "source": "DIAL rag-eval's library"},
    misleads=_SPLIT,
    aliases=("dial.mrr",),
    sets=("dial",),
)
def fact_mrr_mean(fact_ranks: Ragged, k: int | None = None) -> Cells:
    """How early the facts come on average.

    Mean over the facts of 1 / rank of the first chunk that contains it; 0 for a fact not in the first k.
    """
    reciprocals = divide(_found(fact_ranks, k), fact_ranks.values)
    return _share("fact", fact_ranks, reciprocals, _within(fact_ranks, None))


@metric(
    "fact_ndcg", **_RANKING, misleads=f"{_SPLIT} A retrieval that misses facts can reach 1.", aliases=("dial.ndcg",)
)
def fact_ndcg(chunk_relevance: Ragged, k: int | None = None) -> Cells:
    """How close the order of the chunks is to their best order, by number of facts.

    Sum of facts in chunk i / log2(i + 1) over the first k, divided by the same sum for all retrieved chunks sorted by
    their facts. No fact in any chunk: 0.
    """
    best = np.lexsort((-chunk_relevance.values, chunk_relevance.row_of))
    discounts = _within(chunk_relevance, k) / np.log2(chunk_relevance.position + 2)
    ideal = chunk_relevance.sum(chunk_relevance.values[best] * discounts)
    return _share_of(chunk_relevance, chunk_relevance.values * discounts, ideal, "the best order")


def _share(kind: str, lists: Ragged, added: np.ndarray, counts: np.ndarray) -> Cells:
    """Sum of `added` over the entries of a row / entries that count."""
    above, below = Ragged(added, lists.offsets), Ragged(counts, lists.offsets)

    def items(row: int) -> tuple[Items, ...]:
        return (Items.counted(kind, above[row].tolist(), below[row].tolist()),)

    return Cells.all_ok(divide(lists.sum(added), lists.sum(counts))).counting(items)


def _share_of(chunk_relevance: Ragged, added: np.ndarray, whole: np.ndarray, of: str) -> Cells:
    """Sum of `added` over the chunks of a row / whole of the row."""
    above = Ragged(added, chunk_relevance.offsets)

    def items(row: int) -> tuple[Items, ...]:
        return (Items.counted("chunk", above[row].tolist(), whole=float(whole[row]), of=of),)

    return Cells.all_ok(divide(chunk_relevance.sum(added), whole)).counting(items)


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
