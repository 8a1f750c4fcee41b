"""What was retrieved against what should have been: the classics of information retrieval that count.

Whole columns at once. Definitions are trec_eval's unless a parameter says otherwise. A chunk is relevant if its grade is
above 0, or at least `rel` where that is given. What comes early matters to the metrics in `ranking`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragstone.data.columns import Cells, Ragged
from ragstone.data.gains import Gains
from ragstone.registry import metric

TREC = "trec_eval"
CHUNK_IDS = (
    "Chunk ids depend on how the documents were split: two chunkings cannot be compared by them. "
    "Reference contexts are matched by their words only."
)


@metric(
    "precision",
    family="retrieval",
    judges="contexts",
    against="relevance",
    source=f"{TREC} P, set_P; unitxt retrieval at k",
    misleads=f"{CHUNK_IDS} What nobody judged counts as noise.",
    aliases={
        "p": {},
        "set_p": {},
        "setp": {},
        "context_correctness.precision": {"over": "retrieved"},
        "unitxt.context_correctness.precision": {"over": "retrieved"},
    },
    sets={"traditional": {}, "unitxt": {"over": "retrieved", "k": 5}},
    columnar=True,
)
def precision(
    gains: Gains, k: int | None = None, over: Literal["k", "retrieved"] = "k", rel: float | None = None
) -> np.ndarray:
    """How many of the first k retrieved chunks are relevant.

    Relevant among the first k / k, even when fewer were retrieved (`over=retrieved`, unitxt's: / min(k, retrieved)).
    Without k, over all that was retrieved. Nothing retrieved: 0.
    """
    hits = relevant(gains, k, rel)
    retrieved = gains.lengths if k is None else np.minimum(gains.lengths, k)
    divisor = retrieved if k is None or over == "retrieved" else np.full(len(gains), k)
    return divide(hits.sum(hits.is_new), divisor)


@metric(
    "recall",
    family="retrieval",
    judges="contexts",
    against="relevance",
    source=f"{TREC} recall, set_recall; unitxt retrieval at k",
    misleads=CHUNK_IDS,
    aliases=("r", "set_recall", "setr", "context_correctness.recall", "unitxt.context_correctness.recall"),
    sets={"traditional": {}, "unitxt": {"k": 5}},
    columnar=True,
)
def recall(gains: Gains, relevant_grades: Ragged, k: int | None = None, rel: float | None = None) -> Cells:
    """How many of the relevant chunks are among the first k retrieved.

    Skipped when nothing is relevant.
    """
    wanted = count_relevant(relevant_grades, rel)
    return unless_none(wanted, rel, divide(relevant(gains, k, rel).sum(), wanted))


@metric(
    "f1",
    family="retrieval",
    judges="contexts",
    against="relevance",
    source=f"{TREC} set_F",
    misleads=f"{CHUNK_IDS} One number hides which of the two is low.",
    aliases=("set_f", "setf"),
    columnar=True,
)
def f1(
    gains: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    over: Literal["k", "retrieved"] = "k",
    rel: float | None = None,
) -> Cells:
    """The balance of precision and recall among the first k retrieved chunks.

    Their harmonic mean, 0 unless both are above 0; `over` is precision's. Skipped when nothing is relevant.
    """
    exact, complete = precision(gains, k, over, rel), recall(gains, relevant_grades, k, rel)
    complete.values = divide(2 * exact * complete.values, exact + complete.values)
    return complete


@metric(
    "hit",
    family="retrieval",
    judges="contexts",
    against="relevance",
    source=f"{TREC} success; unitxt match at k",
    misleads=f"{CHUNK_IDS} One relevant chunk is enough, however many are needed.",
    aliases=("success", "hit_rate", "context_correctness.match", "unitxt.context_correctness.match"),
    sets={"unitxt": {"k": 1}},
    columnar=True,
)
def hit(gains: Gains, relevant_grades: Ragged, k: int | None = None, rel: float | None = None) -> Cells:
    """At least one relevant chunk is among the first k retrieved.

    1 or 0. Skipped when nothing is relevant.
    """
    return unless_none(count_relevant(relevant_grades, rel), rel, relevant(gains, k, rel).sum() > 0)


@metric(
    "r_precision",
    family="retrieval",
    judges="contexts",
    against="relevance",
    source=f"{TREC} Rprec",
    misleads=CHUNK_IDS,
    aliases=("rprec",),
    columnar=True,
)
def r_precision(gains: Gains, relevant_grades: Ragged, rel: float | None = None) -> Cells:
    """How many of the first R chunks are relevant, where R are relevant in all: precision and recall at once.

    Relevant among the first R / R. Skipped when nothing is relevant.
    """
    wanted = count_relevant(relevant_grades, rel)
    hits = relevant(gains, None, rel)
    return unless_none(wanted, rel, divide(hits.where(hits.ranks <= wanted[hits.rows]).sum(), wanted))


def relevant(gains: Gains, k: int | None, rel: float | None) -> Gains:
    """The grades that count as relevant among the first k."""
    chosen = gains.grades > 0 if rel is None else (gains.grades > 0) & (gains.grades >= rel)
    return gains.where(chosen if k is None else chosen & (gains.ranks <= k))


def count_relevant(relevant_grades: Ragged, rel: float | None) -> np.ndarray:
    """How many are relevant, retrieved or not."""
    return relevant_grades.lengths if rel is None else relevant_grades.sum(relevant_grades.values >= rel)


def unless_none(wanted: np.ndarray, rel: float | None, values: np.ndarray) -> Cells:
    """The values, but for rows in which nothing is relevant."""
    reason = "no grade in relevance is above 0" if rel is None else f"no grade in relevance is {rel:g} or more"
    return Cells.unless(wanted == 0, reason, values)


def divide(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Part / whole, and 0 where there is no whole."""
    share: np.ndarray = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return share
