"""Retrieved chunks compared with the relevant ones: the counting metrics of information retrieval.

Definitions are trec_eval's unless a parameter changes them. A chunk is relevant if its grade is above 0, and at least `rel`
if that is set. A row in which nothing is relevant is skipped by every metric but `judged`, so that all of them average the same
rows. With `condensed=true`, chunks without a judgement are removed from the list first (Sakai 2007). Metrics that depend on
ranks are in `ranking`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ragstone.data.columns import Cells, Ragged
from ragstone.data.gains import Gains
from ragstone.data.share import Items
from ragstone.registry import Threshold, metric

CHUNK_IDS = (
    "Chunk ids depend on the splitter, so chunkings cannot be compared. Reference contexts are matched by words only."
)
FIND_MORE = (
    "Retrieve more chunks, or use a better retriever: a larger embedding model, hybrid search, a reranker over more "
    "candidates. If you can, tune it on your own questions."
)
FEWER = "Retrieve fewer chunks, or rerank and cut: most of the text that the generator reads is not useful."
RELEVANT, POSSIBLE = "relevant chunks", "possible"
_COMMON: dict[str, Any] = {"family": "retrieval", "judges": "contexts", "against": "relevance", "columnar": True}


@metric(
    "precision",
    **_COMMON,
    source="trec_eval P, set_P; unitxt retrieval at k",
    misleads=f"{CHUNK_IDS} Unjudged chunks count as noise.",
    aliases={
        "p": {},
        "set_p": {},
        "setp": {},
        "context_correctness.precision": {"over": "retrieved"},
        "unitxt.context_correctness.precision": {"over": "retrieved"},
    },
    sets={"traditional": {}, "unitxt": {"over": "retrieved", "k": 5}},
    version=2,
)
def precision(
    gains: Gains,
    judgements: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    over: Literal["k", "retrieved"] = "k",
    rel: float | None = None,
    condensed: bool = False,
) -> Cells:
    """Share of the first k retrieved chunks that are relevant.

    Relevant among the first k / k, even if fewer were retrieved (`over=retrieved`, as in unitxt: / min(k, retrieved)).
    Without k, over all retrieved chunks. Nothing retrieved: 0. Skipped if nothing is relevant.
    """
    ranking = judgements.condensed() if condensed else gains
    hits = relevant(ranking, k, rel)
    retrieved = ranking.lengths if k is None else np.minimum(ranking.lengths, k)
    divisor = retrieved if k is None or over == "retrieved" else np.full(len(ranking), k)
    cells = unless_none(count_relevant(relevant_grades, rel), rel, divide(hits.sum(hits.is_new), divisor))
    return cells.counting(chunk_items(hits, k, hits.is_new, divisor, "chunks"))


@metric(
    "recall",
    **_COMMON,
    source="trec_eval recall, set_recall; unitxt retrieval at k",
    misleads=CHUNK_IDS,
    aliases=("r", "set_recall", "setr", "context_correctness.recall", "unitxt.context_correctness.recall"),
    sets={"traditional": {}, "unitxt": {"k": 5}},
    headline=3,
    good=Threshold(0.8, order=4, unless=("ragchecker.claim_recall", "fact_recall", "ragas.context_recall")),
    advice=FIND_MORE,
)
def recall(
    gains: Gains,
    judgements: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    rel: float | None = None,
    condensed: bool = False,
) -> Cells:
    """Share of the relevant chunks that are among the first k retrieved.

    Relevant among the first k / relevant. Skipped if nothing is relevant.
    """
    wanted = count_relevant(relevant_grades, rel)
    ranking = judgements.condensed() if condensed else gains
    hits = relevant(ranking, k, rel)
    cells = unless_none(wanted, rel, divide(hits.sum(), wanted))
    return cells.counting(chunk_items(hits, k, np.ones(len(hits.rows)), wanted, RELEVANT))


@metric(
    "f1",
    **_COMMON,
    source="trec_eval set_F",
    misleads=f"{CHUNK_IDS} It hides which of the two is low.",
    aliases=("set_f", "setf"),
)
def f1(
    gains: Gains,
    judgements: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    over: Literal["k", "retrieved"] = "k",
    rel: float | None = None,
    condensed: bool = False,
) -> Cells:
    """Balance of precision and recall among the first k retrieved chunks.

    Harmonic mean, 0 if either is 0; `over` as in `precision`. Skipped if nothing is relevant.
    """
    ranking = judgements.condensed() if condensed else gains
    exact = precision(ranking, judgements, relevant_grades, k, over, rel)
    complete = recall(ranking, judgements, relevant_grades, k, rel)
    values = divide(2 * exact.values * complete.values, exact.values + complete.values)
    return replace(complete, values=values, items=items_of_both(exact, complete))


@metric(
    "hit",
    **_COMMON,
    source="trec_eval success; unitxt match at k",
    misleads=f"{CHUNK_IDS} One relevant chunk is enough, even if more are needed.",
    aliases=("success", "hit_rate", "context_correctness.match", "unitxt.context_correctness.match"),
    sets={"unitxt": {"k": 1}},
)
def hit(
    gains: Gains,
    judgements: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    rel: float | None = None,
    condensed: bool = False,
) -> Cells:
    """Whether at least one relevant chunk is among the first k retrieved.

    1 or 0. Skipped if nothing is relevant.
    """
    ranking = judgements.condensed() if condensed else gains
    hits = relevant(ranking, k, rel)
    cells = unless_none(count_relevant(relevant_grades, rel), rel, hits.sum() > 0)
    return cells.counting(chunk_items(hits, k, first_of_row(hits), np.ones(len(hits)), POSSIBLE))


@metric(
    "complete",
    **_COMMON,
    source="recall = 1; paragraph exact match of multi-hop retrieval (Asai et al. 2020)",
    misleads=f"{CHUNK_IDS} One missing chunk of ten counts as much as all ten. Two chunks that say the same are both needed.",
    aliases=("all_retrieved", "full_recall", "paragraph_exact_match"),
    slow=True,
)
def complete(
    gains: Gains,
    judgements: Gains,
    relevant_grades: Ragged,
    k: int | None = None,
    rel: float | None = None,
    condensed: bool = False,
) -> Cells:
    """Whether all relevant chunks are among the first k retrieved.

    1 if recall is 1, otherwise 0. Skipped if nothing is relevant.
    """
    found = recall(gains, judgements, relevant_grades, k, rel, condensed)
    return replace(found, values=(found.values == 1).astype(float))


@metric("r_precision", **_COMMON, source="trec_eval Rprec", misleads=CHUNK_IDS, aliases=("rprec",))
def r_precision(
    gains: Gains, judgements: Gains, relevant_grades: Ragged, rel: float | None = None, condensed: bool = False
) -> Cells:
    """Precision and recall at rank R, where R chunks are relevant in total.

    Relevant among the first R / R. Skipped if nothing is relevant.
    """
    wanted = count_relevant(relevant_grades, rel)
    hits = relevant(judgements.condensed() if condensed else gains, None, rel)
    hits = hits.where(hits.ranks <= wanted[hits.rows])
    cells = unless_none(wanted, rel, divide(hits.sum(), wanted))
    return cells.counting(chunk_items(hits, None, np.ones(len(hits.rows)), wanted, RELEVANT))


@metric(
    "judged",
    **_COMMON,
    source="ir_measures Judged; judgement rate of BEIR and TREC",
    misleads="If it is low, precision and nDCG are too low; retrieval may be good.",
    aliases=("judged_rate", "judgement_rate"),
    slow=True,
)
def judged(judgements: Gains, judged_grades: Ragged, k: int | None = None) -> Cells:
    """Share of the first k retrieved chunks that have a judgement, relevant or not.

    Chunks with a grade of 0 or more among the first k / min(k, retrieved). Grades below 0 and reference contexts that do not
    match are no judgements. Nothing retrieved: 0. Skipped if nothing is judged.
    """
    known = judgements if k is None else judgements.where(judgements.ranks <= k)
    retrieved = judgements.lengths if k is None else np.minimum(judgements.lengths, k)
    values = divide(known.sum(known.is_new), retrieved)
    cells = Cells.unless(judged_grades.lengths == 0, "no chunk is judged", values)
    return cells.counting(chunk_items(known, k, known.is_new, retrieved, "chunks"))


def relevant(gains: Gains, k: int | None, rel: float | None) -> Gains:
    """The relevant grades among the first k."""
    chosen = gains.grades > 0 if rel is None else (gains.grades > 0) & (gains.grades >= rel)
    return gains.where(chosen if k is None else chosen & (gains.ranks <= k))


def count_relevant(relevant_grades: Ragged, rel: float | None) -> np.ndarray:
    """Number of relevant chunks, retrieved or not."""
    return relevant_grades.lengths if rel is None else relevant_grades.sum(relevant_grades.values >= rel)


def unless_none(wanted: np.ndarray, rel: float | None, values: np.ndarray) -> Cells:
    """The values; rows in which nothing is relevant are skipped."""
    reason = "no grade in relevance is above 0" if rel is None else f"no grade in relevance is {rel:g} or more"
    return Cells.unless(wanted == 0, reason, values)


def first_of_row(hits: Gains) -> np.ndarray:
    """Whether a grade is the first of its row."""
    first: np.ndarray = np.diff(hits.rows, prepend=-1) != 0
    return first


def chunk_items(
    hits: Gains, k: int | None, added: np.ndarray, whole: np.ndarray, of: str
) -> Callable[[int], tuple[Items, ...]]:
    """The retrieved chunks of a row with the part that each adds; `added` has a number per grade, `whole` one per row."""

    def items(row: int) -> tuple[Items, ...]:
        here = slice(*np.searchsorted(hits.rows, (row, row + 1)))
        shown = max(hits.chunks[here], default=0)  # in a condensed list, the first k may be further down
        shown = max(shown, int(hits.lengths[row]) if k is None else min(int(hits.lengths[row]), k))
        parts = np.bincount(hits.chunks[here] - 1, weights=added[here], minlength=shown)
        return (Items.counted("chunk", parts.tolist(), whole=float(whole[row]), of=of),)

    return items


def items_of_both(one: Cells, other: Cells) -> Callable[[int], tuple[Items, ...]]:
    """The items of two shares, for their harmonic mean."""
    return lambda row: tuple(item for cells in (one, other) if cells.items for item in cells.items(row))


def divide(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Part / whole, and 0 if the whole is 0."""
    share: np.ndarray = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return share
