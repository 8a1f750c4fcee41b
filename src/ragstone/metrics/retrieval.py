"""The classics of information retrieval, on the grades of the retrieved chunk ids.

Whole columns at once. Definitions are trec_eval's unless a parameter says otherwise; a chunk retrieved twice counts once.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragstone.data.columns import Cells, Ragged
from ragstone.registry import metric

TREC = "trec_eval"
CHUNK_IDS = "Chunk ids depend on how the documents were split: two chunkings cannot be compared by them."
NO_RELEVANT = "no grade in relevance is above 0"


@metric(
    "precision",
    family="retrieval",
    judges="contexts",
    against="relevance",
    source=TREC,
    misleads=CHUNK_IDS,
    aliases=("p",),
    sets=("traditional",),
    columnar=True,
)
def precision(gains: Ragged, k: int | None = None, over: Literal["k", "retrieved"] = "k") -> np.ndarray:
    """How many of the first k retrieved chunks are relevant.

    Relevant among the first k / k, even when fewer were retrieved (`over=retrieved`, unitxt's: / min(k, retrieved)).
    Without k, over all that was retrieved. Nothing retrieved: 0.
    """
    retrieved = gains.lengths if k is None else np.minimum(gains.lengths, k)
    divisor = retrieved if k is None or over == "retrieved" else np.full(len(gains), k)
    return _divide(_relevant_found(gains, k), divisor)


@metric(
    "recall",
    family="retrieval",
    judges="contexts",
    against="relevance",
    source=TREC,
    misleads=CHUNK_IDS,
    sets=("traditional",),
    columnar=True,
)
def recall(gains: Ragged, relevant_grades: Ragged, k: int | None = None) -> Cells:
    """How many of the relevant chunks are among the first k retrieved.

    Skipped when nothing is relevant.
    """
    relevant = relevant_grades.lengths
    return Cells.unless(relevant == 0, NO_RELEVANT, _divide(_relevant_found(gains, k), relevant))


@metric(
    "mrr",
    family="retrieval",
    judges="ranking",
    against="relevance",
    source=f"{TREC} recip_rank; unitxt context correctness",
    misleads=f"{CHUNK_IDS} Only the first relevant chunk counts.",
    aliases=("recip_rank", "unitxt.context_correctness"),
    sets=("traditional", "unitxt"),
    columnar=True,
)
def mrr(gains: Ragged, k: int | None = None) -> np.ndarray:
    """How early the first relevant chunk comes.

    1 / rank of the first relevant among the first k; none found: 0.
    """
    hits = np.flatnonzero(_relevant(gains, k))
    rows, first = np.unique(gains.row_of[hits], return_index=True)
    values = np.zeros(len(gains))
    values[rows] = 1 / (gains.position[hits[first]] + 1)
    return values


@metric(
    "ndcg",
    family="retrieval",
    judges="ranking",
    against="relevance",
    source=f"{TREC} ndcg_cut (Järvelin & Kekäläinen 2002)",
    misleads=CHUNK_IDS,
    sets=("traditional",),
    columnar=True,
)
def ndcg(
    gains: Ragged, relevant_grades: Ragged, k: int | None = None, gain: Literal["linear", "exponential"] = "linear"
) -> Cells:
    """How close the ranking comes to the best possible one, early ranks counting most.

    Sum of gain / log2(rank + 1) over the first k, divided by that of the ideal ranking of all graded chunks.
    Gain is the grade (trec_eval) or 2^grade - 1 (`gain=exponential`). Skipped when nothing is relevant.
    """
    ideal = _discounted(relevant_grades, k, gain)
    return Cells.unless(ideal == 0, NO_RELEVANT, _divide(_discounted(gains, k, gain), ideal))


def _relevant(gains: Ragged, k: int | None) -> np.ndarray:
    """Which chunks are relevant and among the first k."""
    relevant: np.ndarray = (gains.values > 0) & _among_first(gains, k)
    return relevant


def _relevant_found(gains: Ragged, k: int | None) -> np.ndarray:
    return gains.sum(_relevant(gains, k))


def _among_first(gains: Ragged, k: int | None) -> np.ndarray:
    return np.ones(len(gains.values), dtype=bool) if k is None else gains.position < k


def _discounted(gains: Ragged, k: int | None, gain: str) -> np.ndarray:
    worth = gains.values if gain == "linear" else np.exp2(gains.values) - 1
    return gains.sum(_among_first(gains, k) * worth / np.log2(gains.position + 2))


def _divide(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Part / whole, and 0 where there is no whole."""
    share: np.ndarray = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return share
