"""The order in which to inspect samples: failures first, then the lowest scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run
from ragstone.storage.scores import Scores, read_scores

M = TypeVar("M", bound=Mapping[str, Any])
# The most informative metrics, in reading order; a run has some of them.
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


def telling_metrics(metrics: Sequence[M], most: int) -> list[M]:
    """The most informative metrics, in the order of the run; metrics with a direction are preferred."""
    order = {name: place for place, name in enumerate(TELLING)}
    directed = [metric for metric in metrics if metric["better"] != "none"] or list(metrics)
    chosen = sorted(directed, key=lambda metric: order.get(metric["metric"], len(order)))[:most]
    return [metric for metric in metrics if metric in chosen]


def measure_quality(metrics: Sequence[MetricInfo], scores: Mapping[str, Scores], rows: int) -> np.ndarray:
    """One number from 0 to 1 per sample: the mean over metric families of their means; nan if nothing was scored.

    Averaging by family keeps ten metrics of one kind from outvoting a single metric of another. Metrics without a direction
    or bounds are ignored.
    """
    families: dict[str, list[np.ndarray]] = {}
    for metric in metrics:
        low, high = metric.bounds
        if metric.better == "none" or low is None or high is None or high <= low:
            continue
        share = (scores[metric.metric].values - low) / (high - low)
        families.setdefault(metric.family, []).append(1 - share if metric.better == "lower" else share)
    means = [_mean_of(columns) for columns in families.values()]
    return _mean_of(means) if means else np.full(rows, np.nan)


def find_worst(quality: np.ndarray, faulty: Collection[int], most: int) -> list[int]:
    """Row numbers: failing samples first, then the others, each by ascending quality; unscored samples are left out."""
    fault = np.zeros(len(quality), dtype=bool)
    fault[list(faulty)] = True
    order = np.lexsort((np.nan_to_num(quality, nan=2.0), ~fault))
    return [int(row) for row in order[:most] if fault[row] or not np.isnan(quality[row])]


def worst_rows(run: Run, faulty: Collection[int], most: int) -> list[int]:
    """The row numbers of the worst samples of a run, by the order of `find_worst`."""
    scores = read_scores(run, [metric.metric for metric in run.info.metrics])
    return find_worst(measure_quality(run.info.metrics, scores, run.info.rows), faulty, most)


def _mean_of(columns: Sequence[np.ndarray]) -> np.ndarray:
    table = np.column_stack(columns)
    there = ~np.isnan(table)
    counts = there.sum(axis=1)
    sums = np.where(there, table, 0.0).sum(axis=1)
    means: np.ndarray = np.divide(sums, counts, out=np.full(len(table), np.nan), where=counts > 0)
    return means
