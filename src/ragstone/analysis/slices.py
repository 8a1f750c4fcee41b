"""Slices of one run: the mean of each metric over the samples with the same label."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.data.summary import SummaryRow
from ragstone.data.usage import OTHER_ANSWERS, REPEAT_OF, USAGE
from ragstone.engine.metric_choice import find_metric
from ragstone.stats.intervals import mean_interval
from ragstone.stats.quantiles import quantile_interval, quantile_of
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import FAILED, Scores

# A column with more labels identifies samples and is not a slice; more columns are not readable.
MOST_LABELS = 12
MOST_COLUMNS = 4
_EMPTY = ('""', "null")
# Measurements and names of repeated questions are not groups.
_NO_SLICES = {*USAGE, REPEAT_OF, OTHER_ANSWERS}


@dataclass(frozen=True)
class RunSlice:
    """The samples with one label, and their means."""

    column: str
    label: str
    rows: int
    metrics: tuple[SummaryRow, ...]


def find_columns(run: Run) -> list[str]:
    """The metadata columns that divide the samples into a few groups."""
    labels: dict[str, Counter[str]] = {}
    for cell in read_table(run.folder.samples, ["metadata"])["metadata"].to_pylist():
        for name, value in json.loads(cell).items() if cell else ():
            if name in _NO_SLICES:
                continue
            known, label = labels.setdefault(name, Counter()), json.dumps(value, ensure_ascii=False)
            if len(known) <= MOST_LABELS or label in known:
                known[label] += 1
    return [name for name, found in labels.items() if _divides(found)][:MOST_COLUMNS]


def _divides(labels: Counter[str]) -> bool:
    """Whether there are a few labels, of which one that is not empty repeats: otherwise they are remarks on single samples."""
    repeats = any(count > 1 for label, count in labels.items() if label not in _EMPTY)
    return repeats and 2 <= len(labels) <= MOST_LABELS


def slice_run(
    labels: np.ndarray, column: str, metrics: Sequence[MetricInfo], scores: Mapping[str, Scores]
) -> list[RunSlice]:
    """The slices by the labels of a column, largest first."""
    names, groups, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return [
        RunSlice(
            column,
            str(names[group]),
            int(counts[group]),
            tuple(
                _row(metric, scores[metric.metric].take(np.flatnonzero(groups == group)), str(names[group]))
                for metric in metrics
            ),
        )
        for group in np.argsort(-counts, kind="stable")
    ]


def _row(metric: MetricInfo, scores: Scores, label: str) -> SummaryRow:
    values = scores.values[~np.isnan(scores.values)]
    low, high = metric.bounds
    known = find_metric(metric.metric)
    q = known.quantile if known else None
    interval = mean_interval(values, bounds=(low, high)) if q is None else quantile_interval(values, q)
    score = (float(values.mean()) if q is None else quantile_of(values, q)) if len(values) else None
    failed = int(np.count_nonzero(scores.states == FAILED))
    return SummaryRow(
        metric=metric.metric,
        slice=label,
        mean=score,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        n_ok=len(values),
        n_skipped=len(scores.values) - len(values) - failed,
        n_failed=failed,
    )
