"""How early the relevant chunks come: the rank metrics of information retrieval.

Definitions are trec_eval's unless a parameter changes them. `retrieval` defines which chunks are relevant.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ragstone.data.columns import Cells, Ragged
from ragstone.data.gains import Gains
from ragstone.metrics.retrieval import (
    CHUNK_IDS,
    POSSIBLE,
    RELEVANT,
    chunk_items,
    count_relevant,
    divide,
    first_of_row,
    relevant,
    unless_none,
)
from ragstone.registry import metric

# Exponential gains are capped here, as 2^1024 overflows.
_LARGEST_EXPONENT = 1000.0
_COMMON: dict[str, Any] = {"family": "retrieval", "judges": "ranking", "against": "relevance", "columnar": True}


@metric(
    "mrr",
    **_COMMON,
    source="trec_eval recip_rank; unitxt context correctness",
    misleads=f"{CHUNK_IDS} Only the first relevant chunk counts.",
    aliases=(
        *("recip_rank", "rr", "reciprocal_rank"),
        *("context_correctness", "unitxt.context_correctness"),
        *("context_correctness.mrr", "unitxt.context_correctness.mrr"),
    ),
    sets=("traditional", "unitxt"),
    headline=5,
    version=2,
)
def mrr(
    gains: Gains,
    judgements: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    rel: float | None = None,
    condensed: bool = False,
) -> Cells:
    """How early the first relevant chunk comes.

    1 / rank of the first relevant chunk among the first k; 0 if there is none. Skipped if nothing is relevant.
    """
    hits = relevant(judgements.condensed() if condensed else gains, k, rel)
    added = first_of_row(hits) / hits.ranks
    cells = unless_none(count_relevant(relevant_grades, rel), rel, hits.sum(added))
    return cells.counting(chunk_items(hits, k, added, np.ones(len(hits)), POSSIBLE))


@metric(
    "map",
    **_COMMON,
    source="trec_eval map, map_cut; unitxt map",
    misleads=f"{CHUNK_IDS} With `over=retrieved`, missed relevant chunks cost nothing.",
    aliases={
        "ap": {},
        "map_cut": {},
        "average_precision": {},
        "context_correctness.map": {"over": "retrieved"},
        "unitxt.context_correctness.map": {"over": "retrieved"},
    },
    sets={"traditional": {}, "unitxt": {"over": "retrieved"}},
)
def average_precision(
    gains: Gains,
    judgements: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    over: Literal["relevant", "retrieved"] = "relevant",
    rel: float | None = None,
    condensed: bool = False,
) -> Cells:
    """How early all the relevant chunks come: average precision.

    Sum of the precision at the ranks of the relevant chunks among the first k, divided by all relevant chunks (trec_eval)
    or by those retrieved (`over=retrieved`, unitxt). None retrieved: 0. Skipped if nothing is relevant.
    """
    wanted = count_relevant(relevant_grades, rel)
    hits = relevant(judgements.condensed() if condensed else gains, k, rel)
    precisions = hits.running(hits.is_new) / hits.ranks
    whole = wanted if over == "relevant" else hits.sum()
    cells = unless_none(wanted, rel, divide(hits.sum(precisions), whole))
    return cells.counting(chunk_items(hits, k, precisions, whole, RELEVANT))


@metric(
    "ndcg",
    **_COMMON,
    source="trec_eval ndcg, ndcg_cut (Järvelin & Kekäläinen 2002); exponential: Burges et al. 2005",
    misleads=f"{CHUNK_IDS} Linear and exponential gain share a name but give different values.",
    aliases={"ndcg_cut": {}, "ndcg_exp": {"gain": "exponential"}},
    sets=("traditional",),
    headline=4,
)
def ndcg(
    gains: Gains,
    judgements: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    gain: Literal["linear", "exponential"] = "linear",
    condensed: bool = False,
) -> Cells:
    """How close the ranking is to the best possible one; early ranks weigh most.

    Sum of gain / log2(rank + 1) over the first k, divided by the same sum for the ideal ranking of all graded chunks. Gain
    is the grade (trec_eval) or 2^grade - 1 (`gain=exponential`). Skipped if nothing is relevant.
    """
    hits = relevant(judgements.condensed() if condensed else gains, k, None)
    ideal_ranks = relevant_grades.position + 1
    ideal_worth = _worth(relevant_grades.values, gain) / np.log2(ideal_ranks + 1)
    ideal = relevant_grades.sum(ideal_worth if k is None else ideal_worth * (ideal_ranks <= k))
    worth = _worth(hits.grades, gain) / np.log2(hits.ranks + 1)
    # The ideal assumes one wanted text per chunk; a chunk with several of them can exceed it.
    cells = unless_none(relevant_grades.lengths, None, divide(np.minimum(hits.sum(worth), ideal), ideal))
    return cells.counting(chunk_items(hits, k, worth, ideal, "the ideal ranking"))


@metric(
    "rbp",
    **_COMMON,
    source="rank-biased precision (Moffat & Zobel 2008)",
    misleads=f"{CHUNK_IDS} A short list cannot reach 1.",
    version=2,
)
def rbp(
    gains: Gains,
    judgements: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    p: float = 0.8,
    rel: float | None = None,
    condensed: bool = False,
) -> Cells:
    """Expected gain of a reader who continues to the next chunk with probability p.

    (1 - p) × sum of p^(rank - 1) over the relevant chunks among the first k. None found: 0. Skipped if nothing is
    relevant. trec_eval's p is 0.9.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p must be from 0 to 1, got {p:g}")
    hits = relevant(judgements.condensed() if condensed else gains, k, rel)
    chances = hits.is_new * p ** (hits.ranks - 1)
    cells = unless_none(count_relevant(relevant_grades, rel), rel, (1 - p) * hits.sum(chances))
    return cells.counting(chunk_items(hits, k, (1 - p) * chances, np.ones(len(hits)), POSSIBLE))


@metric(
    "err",
    **_COMMON,
    source="expected reciprocal rank (Chapelle et al. 2009), as in gdeval",
    misleads=f"{CHUNK_IDS} Grades must be on a scale from 0 to max_grade.",
    version=2,
)
def err(
    gains: Gains,
    judgements: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    max_grade: float = 4.0,
    condensed: bool = False,
) -> Cells:
    """How early a reader is satisfied, if the chance to stop at a chunk grows with its grade.

    Sum over the first k of 1 / rank × the chance to stop there, (2^grade - 1) / 2^max_grade at each chunk reached. Grades
    above max_grade count as max_grade. None found: 0. Skipped if nothing is relevant.
    """
    if max_grade <= 0:
        raise ValueError(f"max_grade must be above 0, got {max_grade:g}")
    hits = relevant(judgements.condensed() if condensed else gains, k, None)
    stops = (np.exp2(np.minimum(hits.grades, max_grade)) - 1) / np.exp2(max_grade)
    added, reaches = np.zeros(len(hits.rows)), np.ones(len(gains))
    # The first hit of every row, then the second hit of the rows that have one, and so on.
    turn = hits.running(np.ones(len(hits.rows), dtype=np.int64))
    for here in np.split(np.argsort(turn, kind="stable"), np.cumsum(np.bincount(turn)[1:])[:-1]):
        rows = hits.rows[here]
        added[here] = reaches[rows] * stops[here] / hits.ranks[here]
        reaches[rows] *= 1 - stops[here]
    cells = unless_none(relevant_grades.lengths, None, hits.sum(added))
    return cells.counting(chunk_items(hits, k, added, np.ones(len(hits)), POSSIBLE))


@metric(
    "bpref",
    **_COMMON,
    source="trec_eval bpref (Buckley & Voorhees 2004)",
    misleads=f"{CHUNK_IDS} Without chunks judged irrelevant it equals recall.",
)
def bpref(judgements: Gains, judged_grades: Ragged, rel: float | None = None) -> Cells:
    """How rarely a chunk judged irrelevant ranks above a relevant one; unjudged chunks are ignored.

    Mean over the R relevant chunks of 1 - min(R, irrelevant above it) / min(R, irrelevant); 0 if it was not retrieved.
    Grade 0 means judged irrelevant, below 0 unjudged. Skipped if nothing is relevant.
    """
    least = np.nextafter(0, 1) if rel is None else max(rel, np.nextafter(0, 1))
    wanted = judged_grades.sum(judged_grades.values >= least)
    most = np.minimum(wanted, judged_grades.lengths - wanted)
    irrelevant = judgements.grades < least
    above = np.minimum(judgements.running(irrelevant), wanted[judgements.rows])
    kept = (1 - divide(above, most[judgements.rows])) * ~irrelevant
    cells = unless_none(wanted, rel, divide(judgements.sum(kept), wanted))
    return cells.counting(chunk_items(judgements, None, kept, wanted, RELEVANT))


def _worth(grades: np.ndarray, gain: str) -> np.ndarray:
    return grades if gain == "linear" else np.expm1(np.minimum(grades, _LARGEST_EXPONENT) * np.log(2))
