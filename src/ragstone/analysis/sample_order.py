"""The order in which to inspect samples: failures first, then the lowest scores; and the first of them with their causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.diagnosis import Diagnosis
from ragstone.engine.metric_choice import find_metric
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import Scores, read_scores, unless_nan

_QUESTION_WIDTH = 60

M = TypeVar("M", bound=Mapping[str, Any])
# The most informative metrics, in reading order; a run has some of them.
TELLING = (
    *("ragchecker.f1", "ragchecker.claim_recall", "ragchecker.faithfulness"),
    *("ragchecker.context_utilization", "ragchecker.hallucination", "ragas.faithfulness"),
    *("ragas.answer_correctness", "ragas.context_recall", "fact_recall", "fact_ndcg", "recall@5", "recall"),
    *("ndcg", "token_recall", "token_f1", "semantic_similarity", "answerability_accuracy", "rouge_l"),
)


def telling_metrics(metrics: Sequence[M], most: int) -> list[M]:
    """The most informative metrics, in the order of the run: one per family, then the next ones.

    Metrics with a direction are preferred.
    """
    order = {name: place for place, name in enumerate(TELLING)}
    directed = [metric for metric in metrics if metric["better"] != "none"] or list(metrics)
    known = sorted(directed, key=lambda metric: order.get(metric["metric"], len(order)))
    first = {_family(metric): metric["metric"] for metric in reversed(known)}
    chosen = sorted(known, key=lambda metric: metric["metric"] not in first.values())[:most]
    return [metric for metric in metrics if metric in chosen]


def _family(metric: Mapping[str, Any]) -> str:
    """The family of a metric of a run; aggregates have only its name."""
    known = None if "family" in metric else find_metric(metric["metric"])
    return known.spec.family if known else str(metric.get("family", metric["metric"]))


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


def find_worst(quality: np.ndarray, faulty: Mapping[int, float], most: int) -> list[int]:
    """Row numbers: the most probably wrong first, then the others by ascending quality; unscored samples are left out."""
    wrong = np.zeros(len(quality))
    wrong[list(faulty)] = list(faulty.values())
    order = np.lexsort((np.nan_to_num(quality, nan=2.0), -wrong))
    return [int(row) for row in order[:most] if wrong[row] or not np.isnan(quality[row])]


def worst_rows(run: Run, faulty: Mapping[int, float], most: int) -> list[int]:
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


@dataclass(frozen=True, repr=False)
class WorstSample:
    """A sample with its cause of failure, if one was found, and its scores.

    Attributes:
        row: Row number, from 1.
        id: Id of the sample.
        question: The question.
        answer: The answer.
        status: "wrong", "look", "fine" or "no judgement".
        wrong: The probability that the row is wrong; None without a judgement.
        cause: Name of the main cause; None if no fault was found.
        part: The part of the system to blame: "retriever" or "generator".
        quality: Mean of all scores from 0 to 1, equal weight per family; only for sorting.
        scores: The scores by metric; None if a cell has no value.
    """

    row: int
    id: str
    question: str
    answer: str
    status: str
    wrong: float | None
    cause: str | None
    part: str | None
    quality: float | None
    scores: Mapping[str, float | None]

    def __repr__(self) -> str:
        quality = "None" if self.quality is None else f"{self.quality:.2f}"
        question = shorten(self.question, _QUESTION_WIDTH, placeholder=" …")
        found = f"row={self.row}, id={self.id!r}, status={self.status!r}, cause={self.cause!r}, quality={quality}, question={question!r}"
        return f"WorstSample({found}, {len(self.scores)} scores)"


def find_worst_samples(run: Run, diagnosis: Diagnosis, most: int) -> list[WorstSample]:
    """Failing samples first, then the lowest scores; samples without any score are left out."""
    metrics = run.info.metrics
    scores = read_scores(run, [metric.metric for metric in metrics])
    samples = read_table(run.folder.samples, ["id", "question", "answer"])
    quality = measure_quality(metrics, scores, len(samples))
    outcomes = diagnosis.outcomes
    rows = find_worst(quality, diagnosis.faulty, most)
    texts = samples.take(pa.array(rows, pa.int64())).to_pylist()
    found = [
        outcomes[row] if row < len(outcomes) else Outcome(text["id"]) for row, text in zip(rows, texts, strict=True)
    ]
    return [
        WorstSample(
            row=row + 1,
            id=text["id"],
            question=text["question"] or "",
            answer=text["answer"] or "",
            status=one.status,
            wrong=one.wrong,
            cause=one.cause.name if one.cause else None,
            part=one.cause.part if one.cause else None,
            quality=unless_nan(quality[row]),
            scores={name: unless_nan(column.values[row]) for name, column in scores.items()},
        )
        for row, text, one in zip(rows, texts, found, strict=True)
    ]
