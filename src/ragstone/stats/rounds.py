"""The same for labels that were not picked evenly: rounds of labelling in which each row had a known chance of being picked.

Each round gives an estimate of the mean over all rows that is right whatever was learnt in the rounds before: what is
predicted for the rows that were still open, plus what people said of those picked beyond the prediction, each weighed by
one over its chance. The rounds count by their numbers of labels. (Zrnic and Candès 2024, in rounds instead of row by row.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragstone.stats.intervals import Interval, student_quantile
from ragstone.stats.ppi import Powered, Scale, effective_freedom, powered_mean, share_interval, tell_scale


class Rows(NamedTuple):
    """All rows: the judge's scores; labels, nan where there is none; the round, -1 where not labelled; the chance in it.

    Round 0 was picked evenly: chances are not looked at.
    """

    scores: np.ndarray
    labels: np.ndarray
    rounds: np.ndarray
    chances: np.ndarray

    def take(self, rows: np.ndarray) -> Rows:
        """Some of the rows."""
        return Rows(*(column[rows] for column in self))


def powered_rounds(rows: Rows, level: float = 0.95, scale: Scale | None = None) -> Powered | None:
    """The mean of what people would say of all rows, from labels of one or several rounds; None for fewer than two labels."""
    labelled = rows.rounds >= 0
    said = rows.labels[labelled]
    if (rows.rounds[labelled] == 0).all():
        return powered_mean(said, rows.scores[labelled], rows.scores[~labelled], level, scale=scale)
    if len(said) < 2:
        return None
    scale = scale or tell_scale(said)
    powered, alone = (_combine(rows, judge=judge) for judge in (True, False))
    intervals = [_interval(*found, rows, scale, level) for found in (powered, alone)]
    narrower = 0 if intervals[0].high - intervals[0].low < intervals[1].high - intervals[1].low else 1
    (value, error), interval = (powered, alone)[narrower], intervals[narrower]
    even = _even_error(rows)
    return Powered(
        mean=value,
        interval=interval,
        error=error**0.5,
        labels=len(said),
        rows=len(rows.scores),
        tuning=_fit(rows)[1] if narrower == 0 else 0.0,
        labels_mean=alone[0],
        labels_interval=intervals[1],
        judge_mean=float(rows.scores.mean()),
        worth=len(said) * even / error if error > 0 else float(len(said)),
    )


def _combine(rows: Rows, judge: bool) -> tuple[float, float]:
    """The mean over the rounds and its variance, that of the choice of the rows themselves included."""
    intercept, slope = _fit(rows) if judge else (_weighted_mean(rows), 0.0)
    predicted = intercept + slope * rows.scores
    found = [_estimate(rows, number, predicted) for number in np.unique(rows.rounds[rows.rounds >= 0])]
    share = np.array([size for _, _, size in found]) / sum(size for _, _, size in found)
    value = sum(part * mean for part, (mean, _, _) in zip(share, found, strict=True))
    error = sum(part**2 * variance for part, (_, variance, _) in zip(share, found, strict=True))
    size = int((rows.rounds >= 0).sum())
    # Two numbers were fitted to the labels.
    return float(value), float(error) * size / max(size - 2, 1) + _variance(rows) / len(rows.scores)


def _estimate(rows: Rows, number: int, predicted: np.ndarray) -> tuple[float, float, int]:
    """What one round says of the mean over all rows, its variance by the choice of labels alone, and its size."""
    total = len(rows.scores)
    before = (rows.rounds >= 0) & (rows.rounds < number)
    mine = rows.rounds == number
    chances = np.full(int(mine.sum()), mine.sum() / total) if number == 0 else rows.chances[mine]
    beyond = (rows.labels[mine] - predicted[mine]) / chances
    open_rows = ~before
    value = (rows.labels[before].sum() + predicted[open_rows].sum() + beyond.sum()) / total
    # A row that was sure to be picked adds no doubt (Hájek's approximation for a choice of fixed size).
    doubt, size = 1 - chances, len(beyond)
    centre = float((doubt * beyond).sum() / doubt.sum()) if size > 1 and doubt.sum() > 0 else 0.0
    spread = float((doubt * (beyond - centre) ** 2).sum()) * size / max(size - 1, 1)
    return float(value), spread / total**2, size


def _weights(rows: Rows) -> np.ndarray:
    labelled = rows.rounds >= 0
    even = (rows.rounds == 0).sum() / len(rows.rounds)
    chances = np.where(rows.rounds == 0, even, rows.chances)[labelled]
    return np.asarray(1 / chances)


def _weighted_mean(rows: Rows) -> float:
    return float(np.average(rows.labels[rows.rounds >= 0], weights=_weights(rows)))


def _variance(rows: Rows) -> float:
    """How much labels vary over all rows."""
    labels, weights = rows.labels[rows.rounds >= 0], _weights(rows)
    return float(np.average((labels - _weighted_mean(rows)) ** 2, weights=weights)) * len(labels) / (len(labels) - 1)


def _even_error(rows: Rows) -> float:
    """The variance that as many labels picked evenly would have had without a judge."""
    return _variance(rows) / int((rows.rounds >= 0).sum())


def _fit(rows: Rows) -> tuple[float, float]:
    """Intercept and slope of the labels by the judge's scores."""
    labelled = rows.rounds >= 0
    scores, labels, weights = rows.scores[labelled], rows.labels[labelled], _weights(rows)
    centre, mean = np.average(scores, weights=weights), np.average(labels, weights=weights)
    varies = float((weights * (scores - centre) ** 2).sum())
    if varies <= 1e-12 * max(1.0, centre**2) * weights.sum():
        return float(mean), 0.0
    slope = float((weights * (scores - centre) * (labels - mean)).sum()) / varies
    return float(mean - slope * centre), slope


def _interval(value: float, error: float, rows: Rows, scale: Scale, level: float) -> Interval:
    labelled = rows.rounds >= 0
    freedom = max(1.0, float(labelled.sum()) - 2)
    if scale == "share" and error > 0:
        middle = min(1.0, max(0.0, value))
        return share_interval(value, max(middle * (1 - middle), 0.25 / freedom) / error, level, freedom)
    if scale == "change":
        # As if one more pair had risen and one fallen.
        error = max(error, 2 / (freedom + 4) ** 2)
    intercept, slope = _fit(rows)
    beyond = (rows.labels[labelled] - intercept - slope * rows.scores[labelled]) * _weights(rows)
    reach = student_quantile(min(freedom, effective_freedom(beyond)), (1 + level) / 2) * error**0.5
    return Interval(value - reach, value + reach)
