"""Retrieval judged by the facts that the chunks contain (DIAL rag-eval): no chunk ids, so two chunkings can be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
)
def fact_recall(fact_ranks: Sequence[int | None], k: int | None = None) -> float:
    """How many of the needed facts were retrieved; below 1 the right answer cannot come from the documents.

    Facts found in the first k chunks / facts. Skipped without facts.
    """
    return sum(rank is not None and (k is None or rank <= k) for rank in fact_ranks) / len(fact_ranks)


@metric(
    "fact_precision",
    family="facts",
    judges="contexts",
    against="facts",
    source=DIAL,
    misleads=f"{SPLIT} A useful chunk whose fact nobody wrote down counts as noise.",
    aliases=("dial.precision",),
    sets=("dial",),
)
def fact_precision(chunk_relevance: Sequence[int], k: int | None = None) -> float:
    """How many of the retrieved chunks are useful; a low value means that fewer chunks would do.

    Chunks with at least one fact among the first k / min(k, retrieved). Nothing retrieved: 0.
    """
    first = chunk_relevance[:k]
    return sum(count > 0 for count in first) / len(first) if first else 0.0


@metric(
    "fact_f1",
    family="facts",
    judges="contexts",
    against="facts",
    source=DIAL,
    misleads=SPLIT,
    aliases=("dial.f1",),
    sets=("dial",),
)
def fact_f1(fact_ranks: Sequence[int | None], chunk_relevance: Sequence[int], k: int | None = None) -> float:
    """The harmonic mean of fact recall and fact precision; 0 unless both are above 0."""
    recall, precision = fact_recall(fact_ranks, k), fact_precision(chunk_relevance, k)
    return 2 * recall * precision / (recall + precision) if recall and precision else 0.0


@metric(
    "fact_mrr",
    family="facts",
    judges="ranking",
    against="facts",
    source="DIAL's slides",
    misleads=f"{SPLIT} Only the first useful chunk counts.",
)
def fact_mrr(chunk_relevance: Sequence[int], k: int | None = None) -> float:
    """How early the first useful chunk comes.

    1 / rank of the first chunk with a fact among the first k; none: 0.
    """
    return next((1 / rank for rank, count in enumerate(chunk_relevance[:k], start=1) if count), 0.0)


@metric(
    "fact_mrr_mean",
    family="facts",
    judges="ranking",
    against="facts",
    source="DIAL rag-eval's library",
    misleads=SPLIT,
    aliases=("dial.mrr",),
    sets=("dial",),
)
def fact_mrr_mean(fact_ranks: Sequence[int | None], k: int | None = None) -> float:
    """How early the facts come, on average.

    Mean over the facts of 1 / rank of the first chunk that has it; a fact not found in the first k counts 0.
    """
    return sum(1 / rank for rank in fact_ranks if rank is not None and (k is None or rank <= k)) / len(fact_ranks)


@metric(
    "fact_ndcg",
    family="facts",
    judges="ranking",
    against="facts",
    source="DIAL's slides",
    misleads=f"{SPLIT} The ideal is the best order of what was retrieved, so a retrieval that missed facts can still reach 1.",
    aliases=("dial.ndcg",),
)
def fact_ndcg(chunk_relevance: Sequence[int], k: int | None = None) -> float:
    """How close the order of the chunks comes to the best order of the same chunks, by the facts that they contain.

    Sum of facts in chunk i / log2(i + 1) over the first k, divided by that of all retrieved chunks sorted by their facts.
    No fact in any chunk: 0.
    """
    ideal = _discounted(sorted(chunk_relevance, reverse=True)[:k])
    return _discounted(chunk_relevance[:k]) / ideal if ideal else 0.0


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))
