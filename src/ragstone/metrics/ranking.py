"""How early the relevant chunks come: the classics of information retrieval that look at ranks.

Whole columns at once. Definitions are trec_eval's unless a parameter says otherwise; see `retrieval` for what is relevant.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragstone.data.columns import Cells, Ragged
from ragstone.data.gains import Gains
from ragstone.metrics.retrieval import CHUNK_IDS, TREC, count_relevant, divide, relevant, unless_none
from ragstone.registry import metric

# Grades above this are all the same to an exponential gain: 2^1000 is as large as a number can well be.
_LARGEST_EXPONENT = 1000.0


@metric(
    "mrr",
    family="retrieval",
    judges="ranking",
    against="relevance",
    source=f"{TREC} recip_rank; unitxt context correctness",
    misleads=f"{CHUNK_IDS} Only the first relevant chunk counts.",
    aliases=(
        *("recip_rank", "rr", "reciprocal_rank"),
        *("context_correctness", "unitxt.context_correctness"),
        *("context_correctness.mrr", "unitxt.context_correctness.mrr"),
    ),
    sets=("traditional", "unitxt"),
    columnar=True,
)
def mrr(gains: Gains, k: int | None = None, rel: float | None = None) -> np.ndarray:
    """How early the first relevant chunk comes.

    1 / rank of the first relevant among the first k; none found: 0.
    """
    hits = relevant(gains, k, rel)
    first = np.flatnonzero(np.diff(hits.rows, prepend=-1))
    values = np.zeros(len(gains))
    values[hits.rows[first]] = 1 / hits.ranks[first]
    return values


@metric(
    "map",
    family="retrieval",
    judges="ranking",
    against="relevance",
    source=f"{TREC} map, map_cut; unitxt map",
    misleads=f"{CHUNK_IDS} With `over=retrieved` a relevant chunk that was never retrieved costs nothing.",
    aliases={
        "ap": {},
        "map_cut": {},
        "average_precision": {},
        "context_correctness.map": {"over": "retrieved"},
        "unitxt.context_correctness.map": {"over": "retrieved"},
    },
    sets={"traditional": {}, "unitxt": {"over": "retrieved"}},
    columnar=True,
)
def average_precision(
    gains: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    over: Literal["relevant", "retrieved"] = "relevant",
    rel: float | None = None,
) -> Cells:
    """How early all the relevant chunks come: average precision.

    Sum over the relevant among the first k of the precision at their ranks, divided by all that are relevant
    (trec_eval) or by those relevant that were retrieved (`over=retrieved`, unitxt). None retrieved: 0. Skipped when
    nothing is relevant.
    """
    wanted = count_relevant(relevant_grades, rel)
    hits = relevant(gains, k, rel)
    precisions = hits.sum(hits.running(hits.is_new) / hits.ranks)
    return unless_none(wanted, rel, divide(precisions, wanted if over == "relevant" else hits.sum()))


@metric(
    "ndcg",
    family="retrieval",
    judges="ranking",
    against="relevance",
    source=f"{TREC} ndcg, ndcg_cut (Järvelin & Kekäläinen 2002); exponential: Burges et al. 2005",
    misleads=f"{CHUNK_IDS} Linear and exponential gain give different numbers under one name.",
    aliases={"ndcg_cut": {}, "ndcg_exp": {"gain": "exponential"}},
    sets=("traditional",),
    columnar=True,
)
def ndcg(
    gains: Gains, relevant_grades: Ragged, k: int | None = None, gain: Literal["linear", "exponential"] = "linear"
) -> Cells:
    """How close the ranking comes to the best possible one, early ranks counting most.

    Sum of gain / log2(rank + 1) over the first k, divided by that of the ideal ranking of all graded chunks.
    Gain is the grade (trec_eval) or 2^grade - 1 (`gain=exponential`). Skipped when nothing is relevant.
    """
    hits = relevant(gains, k, None)
    ideal_ranks = relevant_grades.position + 1
    ideal_worth = _worth(relevant_grades.values, gain) / np.log2(ideal_ranks + 1)
    ideal = relevant_grades.sum(ideal_worth if k is None else ideal_worth * (ideal_ranks <= k))
    found = hits.sum(_worth(hits.grades, gain) / np.log2(hits.ranks + 1))
    # A chunk that holds several of the wanted texts may do better than one text a chunk, which is the ideal.
    return unless_none(relevant_grades.lengths, None, divide(np.minimum(found, ideal), ideal))


@metric(
    "rbp",
    family="retrieval",
    judges="ranking",
    against="relevance",
    source="rank-biased precision (Moffat & Zobel 2008)",
    misleads=f"{CHUNK_IDS} A short list cannot reach 1, however good it is.",
    columnar=True,
)
def rbp(gains: Gains, k: int | None = None, p: float = 0.8, rel: float | None = None) -> np.ndarray:
    """What a reader gains who goes on from each chunk to the next with probability p.

    (1 - p) × sum over the relevant among the first k of p^(rank - 1). None found: 0. trec_eval's own p is 0.9.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be from 0 to 1, got {p:g}")
    hits = relevant(gains, k, rel)
    return (1 - p) * hits.sum(hits.is_new * p ** (hits.ranks - 1))


@metric(
    "err",
    family="retrieval",
    judges="ranking",
    against="relevance",
    source="expected reciprocal rank (Chapelle et al. 2009), as in gdeval",
    misleads=f"{CHUNK_IDS} Grades on another scale than 0 to max_grade give another number.",
    columnar=True,
)
def err(gains: Gains, k: int | None = None, max_grade: float = 4.0) -> np.ndarray:
    """How early a reader finds what satisfies, who leaves at each chunk with a chance that grows with its grade.

    Sum over the first k of 1 / rank × the chance to leave there, (2^grade - 1) / 2^max_grade at each chunk reached.
    Grades above max_grade count as max_grade. None found: 0.
    """
    if max_grade <= 0:
        raise ValueError(f"max_grade must be above 0, got {max_grade:g}")
    hits = relevant(gains, k, None)
    leaves = (np.exp2(np.minimum(hits.grades, max_grade)) - 1) / np.exp2(max_grade)
    values, stays = np.zeros(len(gains)), np.ones(len(gains))
    # The first hit of every row, then the second of those that have one, and so on.
    turn = hits.running(np.ones(len(hits.rows), dtype=np.int64))
    for here in np.split(np.argsort(turn, kind="stable"), np.cumsum(np.bincount(turn)[1:])[:-1]):
        rows = hits.rows[here]
        values[rows] += stays[rows] * leaves[here] / hits.ranks[here]
        stays[rows] *= 1 - leaves[here]
    return values


@metric(
    "bpref",
    family="retrieval",
    judges="ranking",
    against="relevance",
    source=f"{TREC} bpref (Buckley & Voorhees 2004)",
    misleads=f"{CHUNK_IDS} Without chunks that were judged and found irrelevant it is the same as recall.",
    columnar=True,
)
def bpref(judgements: Gains, judged_grades: Ragged, rel: float | None = None) -> Cells:
    """How seldom a chunk that was judged irrelevant comes before a relevant one; chunks that nobody judged do not matter.

    Mean over the R relevant chunks of 1 - min(R, irrelevant above it) / min(R, irrelevant), 0 if it was not retrieved.
    A grade of 0 is a judgement, one below 0 is none. Skipped when nothing is relevant.
    """
    least = np.nextafter(0, 1) if rel is None else max(rel, np.nextafter(0, 1))
    wanted = judged_grades.sum(judged_grades.values >= least)
    most = np.minimum(wanted, judged_grades.lengths - wanted)
    irrelevant = judgements.grades < least
    above = np.minimum(judgements.running(irrelevant), wanted[judgements.rows])
    kept = 1 - divide(above, most[judgements.rows])
    return unless_none(wanted, rel, divide(judgements.sum(kept * ~irrelevant), wanted))


def _worth(grades: np.ndarray, gain: str) -> np.ndarray:
    return grades if gain == "linear" else np.expm1(np.minimum(grades, _LARGEST_EXPONENT) * np.log(2))
