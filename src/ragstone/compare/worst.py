"""Which samples of a run to look at first: those with a fault, then those with the lowest scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ragstone.storage.scores import Scores

# What tells most about a system, in the order in which people read it; a run has some of these.
TELLING = (
    "ragchecker.f1",
    "ragchecker.claim_recall",
    "ragchecker.faithfulness",
    "ragchecker.context_utilization",
    "ragchecker.hallucination",
    "ragas.faithfulness",
    "ragas.answer_correctness",
    "ragas.context_recall",
    "fact_recall",
    "fact_ndcg",
    "recall@5",
    "recall",
    "ndcg",
    "token_recall",
    "token_f1",
    "semantic_similarity",
    "answerability_accuracy",
    "rouge_l",
)


def telling_metrics(metrics: Sequence[Mapping[str, Any]], most: int) -> list[Mapping[str, Any]]:
    """The few metrics that tell most, those with a direction first."""
    order = {name: place for place, name in enumerate(TELLING)}
    directed = [metric for metric in metrics if metric["better"] != "none"] or list(metrics)
    chosen = sorted(directed, key=lambda metric: order.get(metric["metric"], len(order)))[:most]
    return [metric for metric in metrics if metric in chosen]


def measure_quality(metrics: Sequence[Mapping[str, Any]], scores: Mapping[str, Scores], rows: int) -> np.ndarray:
    """From 0 to 1, a number a sample: the mean over families of the mean of their metrics; nan where nothing was scored.

    By families, so that ten metrics of one kind do not outvote the only one of another. Metrics without direction or
    bounds say nothing here.
    """
    families: dict[str, list[np.ndarray]] = {}
    for metric in metrics:
        low, high = metric["bounds"]
        if metric["better"] == "none" or low is None or high is None or high <= low:
            continue
        share = (scores[metric["metric"]].values - low) / (high - low)
        families.setdefault(str(metric["family"]), []).append(1 - share if metric["better"] == "lower" else share)
    means = [_mean_of(columns) for columns in families.values()]
    return _mean_of(means) if means else np.full(rows, np.nan)


def find_worst(quality: np.ndarray, faulty: Collection[int], most: int) -> list[int]:
    """Row numbers: samples with a fault first, then the others, each from the lowest quality up; none without a score."""
    fault = np.zeros(len(quality), dtype=bool)
    fault[list(faulty)] = True
    order = np.lexsort((np.nan_to_num(quality, nan=2.0), ~fault))
    return [int(row) for row in order[:most] if fault[row] or not np.isnan(quality[row])]


def _mean_of(columns: Sequence[np.ndarray]) -> np.ndarray:
    table = np.column_stack(columns)
    there = ~np.isnan(table)
    counts = there.sum(axis=1)
    sums = np.where(there, table, 0.0).sum(axis=1)
    means: np.ndarray = np.divide(sums, counts, out=np.full(len(table), np.nan), where=counts > 0)
    return means
