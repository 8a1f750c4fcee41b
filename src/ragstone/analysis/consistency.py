"""How far answers to the same question differ: the spread of every metric within questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.engine.metric_choice import find_metric
from ragstone.storage.runs import Run
from ragstone.storage.scores import Scores, read_questions, read_scores, repeats_questions


@dataclass(frozen=True)
class Spread:
    """One metric: its standard deviation within questions, and that part of its variance."""

    metric: str
    questions: int
    rows: int
    within: float
    # The part of the total variance that is within questions; None if the metric does not vary.
    share: float | None


@dataclass(frozen=True)
class Consistency:
    """A run in which questions were asked repeatedly."""

    questions: int
    repeated: int
    rows: int
    spreads: tuple[Spread, ...]


def measure_consistency(run: Run) -> Consistency | None:
    """The spread of each metric within questions; None if no question was asked twice."""
    if not repeats_questions(run):
        return None
    questions = read_questions(run.folder.samples)
    names, counts = np.unique(questions.astype(str), return_counts=True)
    if not np.any(counts > 1):
        return None
    known = {metric.metric: find_metric(metric.metric) for metric in run.info.metrics}
    # The rows of a quantile are those of its mean.
    chosen = [name for name, metric in known.items() if metric is None or metric.quantile is None]
    spreads = spread_within(questions, read_scores(run, chosen))
    return Consistency(len(names), int(np.count_nonzero(counts > 1)), len(questions), tuple(spreads))


def spread_within(questions: np.ndarray, scores: Mapping[str, Scores]) -> Sequence[Spread]:
    """One spread per metric that has two values or more for some question.

    The variance within questions is pooled over questions (mean square within). Its share is that of the sum of the
    variances within and between questions (one-way random effects; 1 − the intraclass correlation).
    """
    found = []
    for name, column in scores.items():
        known = ~np.isnan(column.values)
        values = column.values[known]
        labels, group, counts = np.unique(questions[known].astype(str), return_inverse=True, return_counts=True)
        freedom = len(values) - len(labels)
        if freedom < 1:
            continue
        means = np.bincount(group, values) / counts
        within = float(((values - means[group]) ** 2).sum()) / freedom
        found.append(Spread(name, len(labels), len(values), within**0.5, _share(within, values, means, counts)))
    return found


def _share(within: float, values: np.ndarray, means: np.ndarray, counts: np.ndarray) -> float | None:
    groups, rows = len(means), len(values)
    if groups < 2:
        return None
    square = float((counts * (means - values.mean()) ** 2).sum()) / (groups - 1)
    # The number of rows per question, for questions of unequal size.
    size = (rows - float((counts**2).sum()) / rows) / (groups - 1)
    between = max(0.0, (square - within) / size)
    return within / (within + between) if within + between > 0 else None
