"""Means over all traffic from a stratified sample: each evaluated row has the number of requests that it represents as weight.

`weighted_mean` is Hájek's estimate Σ w·y / Σ w. Its error is the variance within strata, by the linearised ratio (Särndal,
Swensson and Wretman 1992, 5.6 and 5.7).

`traffic_mean` is the same estimate with an interval for scores between two bounds, also for few rows that are nearly all 0 or 1:
the intervals of the strata (`stats/intervals.py`) are combined by the distances of their ends from the means, in quadrature
(MOVER: Zou and Donner 2008). Strata of few rows that all agree would pull that to one side, so it is never narrower than empirical
likelihood of all rows together with the size that the design leaves them. A stratum that was drawn completely has no error.

`powered_traffic_mean` adds labels of people for some of the rows (`stats/ppi.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ragstone.stats.intervals import Interval, bounded_mean_ends, mean_interval, unanimous_interval
from ragstone.stats.ppi import Powered, Rows, powered_rounds
from ragstone.stats.student import student_quantile

Bounds = tuple[float | None, float | None]


class WeightedMean(NamedTuple):
    """A mean with its interval; None if the draws do not determine the error."""

    mean: float
    interval: Interval | None


def weighted_mean(
    values: np.ndarray, weights: np.ndarray, strata: np.ndarray, level: float = 0.95
) -> WeightedMean | None:
    """The population mean; nan values are ignored, and the result is None if there is no other value.

    Draws of one stratum have the same weight N/n, which gives N.
    """
    known = ~np.isnan(values)
    total = float(weights[known].sum())
    if not total > 0:
        return None
    mean = float((weights[known] * values[known]).sum() / total)
    # A draw without a value has no weight but counts as drawn.
    residuals = np.where(known, weights * (np.nan_to_num(values) - mean), 0.0) / total
    variance, freedom = 0.0, 0
    for members in _groups(weights, strata):
        n = len(members)
        missing = max(0.0, 1.0 - n / float(weights[members].sum()))
        spread = residuals[members] - residuals[members].mean()
        variance += missing * n / (n - 1) * float(spread @ spread)
        freedom += n - 1
    complete = bool(np.all(weights[known] <= 1.0 + 1e-9))
    if not freedom:
        return WeightedMean(mean, Interval(mean, mean) if complete else None)
    reach = student_quantile(freedom, (1 + level) / 2) * variance**0.5
    return WeightedMean(mean, Interval(mean - reach, mean + reach))


def _groups(weights: np.ndarray, strata: np.ndarray) -> list[np.ndarray]:
    """The draws of each stratum; single draws are grouped, since one draw has no variance."""
    members_by_stratum = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    groups = sorted((members for members in members_by_stratum if len(members) > 1), key=len)
    # A stratum that was drawn completely has no error.
    single = [members for members in members_by_stratum if len(members) == 1 and weights[members[0]] > 1.0]
    if len(single) == 1 and groups:
        return [np.concatenate([groups[0], *single]), *groups[1:]]
    return [*groups, np.concatenate(single)] if len(single) > 1 else groups


class _Stratum(NamedTuple):
    """The requests of a stratum, its rows, and the scores with weights of those that have one."""

    requests: float
    rows: int
    scores: np.ndarray
    weights: np.ndarray

    @property
    def scored(self) -> float:
        """The estimated number of requests that have a score."""
        return self.requests * len(self.scores) / self.rows

    @property
    def mean(self) -> float:
        return float(np.average(self.scores, weights=self.weights))

    @property
    def missing(self) -> float:
        """The share of the requests that were not drawn: the finite population correction."""
        return max(0.0, 1.0 - self.rows / self.requests)

    def ends(self, bounds: tuple[float, float], level: float) -> Interval:
        found = mean_interval(self.scores, level, bounds) if _are_equal(self.weights) else None
        return found or Interval(*bounded_mean_ends(self.scores, bounds, level, _worth(self.weights)))


# Weights of one stratum that differ by less are equal.
_EQUAL = 1e-9


def traffic_mean(
    values: np.ndarray, weights: np.ndarray, strata: np.ndarray, bounds: Bounds = (None, None), level: float = 0.95
) -> WeightedMean | None:
    """The mean over all requests that have a score; nan is a row without one. None if no row has a score.

    The weights of a stratum add up to its number of requests. Without two bounds the interval is that of `weighted_mean`.
    """
    low, high = bounds
    if low is None or high is None:
        return weighted_mean(values, weights, strata, level)
    groups = list(_strata(values, weights, strata))
    total = sum(group.scored for group in groups)
    if not total > 0:
        return None
    mean = sum(group.scored / total * group.mean for group in groups)
    below = above = shares = 0.0
    for group in groups:
        ends = group.ends((low, high), level)
        scale = (group.scored / total) ** 2 * group.missing
        below += scale * (group.mean - ends.low) ** 2
        above += scale * (ends.high - group.mean) ** 2
        # The number of requests with a score is itself an estimate.
        lacking = 1 - len(group.scores) / group.rows
        away = group.requests / total * (group.mean - mean)
        shares += away**2 * (1 - lacking) * lacking * group.missing / group.rows
    extra = student_quantile(max(1, len(values) - len(groups)), (1 + level) / 2) ** 2 * shares
    ends = Interval(mean - (below + extra) ** 0.5, mean + (above + extra) ** 0.5)
    together = _together(groups, (low, high), level) if len(groups) > 1 else ends
    return WeightedMean(mean, Interval(max(low, min(ends.low, together.low)), min(high, max(ends.high, together.high))))


def _together(groups: list[_Stratum], bounds: tuple[float, float], level: float) -> Interval:
    """The interval of all rows together, as many independent rows as have the variance of the stratified mean."""
    low, high = bounds
    scores = (np.concatenate([group.scores for group in groups]) - low) / (high - low)
    worth = _worth(np.concatenate([group.weights for group in groups]))
    size, total = float(worth.sum()), sum(group.scored for group in groups)
    # Half a row at each bound, as in the intervals, so that rows that agree have a variance.
    centre = (float(worth @ scores) + 0.5) / (size + 1)
    spread = (float(worth @ (scores - centre) ** 2) + centre**2 / 2 + (1 - centre) ** 2 / 2) / (size + 1)
    variance = 0.0
    for group in groups:
        away = (group.scores - group.mean) / (high - low)
        # One more row with the spread of all rows steadies strata of few rows.
        own = (float(away @ away) + spread) / len(away)
        variance += (group.scored / total) ** 2 * group.missing * own / len(away)
    if not variance > 0:
        mean = float(np.average(scores, weights=worth))
        return Interval(low + (high - low) * mean, low + (high - low) * mean)
    ends = bounded_mean_ends(scores, (0.0, 1.0), level, worth * (spread / variance / size))
    return Interval(low + (high - low) * ends[0], low + (high - low) * ends[1])


def _are_equal(weights: np.ndarray) -> bool:
    return bool(np.ptp(weights) <= _EQUAL * float(weights.max()))


def _worth(weights: np.ndarray) -> np.ndarray:
    """The number of equally weighted rows that each row is worth (Kish)."""
    return np.asarray(weights * (weights.sum() / (weights**2).sum()))


def _strata(values: np.ndarray, weights: np.ndarray, strata: np.ndarray) -> Iterator[_Stratum]:
    """The strata with at least one score."""
    for stratum in np.unique(strata):
        mine = strata == stratum
        known = mine & ~np.isnan(values)
        if known.any():
            yield _Stratum(float(weights[mine].sum()), int(mine.sum()), values[known], weights[known])


def powered_traffic_mean(
    rows: Rows, weights: np.ndarray, bounds: tuple[float, float] = (0.0, 1.0), level: float = 0.95
) -> Powered | None:
    """The mean label of all traffic, from labels of some rows and a judge's scores of all rows; None for fewer than two labels.

    Each value is stretched away from the weighted mean by its weight, so that the plain mean over the rows is the weighted mean over
    the traffic. The strata are not used beyond their weights, and neither is the finite population correction.
    """
    kept = ~np.isnan(rows.scores)
    rows, weights = rows.take(kept), weights[kept]
    labelled = rows.rounds >= 0
    if labelled.sum() < 2 or _are_equal(weights):
        return powered_rounds(rows, level) if labelled.sum() >= 2 else None
    labels = rows.labels[labelled]
    of_labels = (weights / np.where(rows.rounds > 0, rows.chances, 1.0))[labelled]
    centre, judged = float(np.average(labels, weights=of_labels)), float(np.average(rows.scores, weights=weights))
    share = weights / weights.mean()
    stretched = (rows.scores - judged) * share + judged, (rows.labels - centre) * share + centre
    found = powered_rounds(Rows(*stretched, rows.rounds, rows.chances), level, scale="number")
    if found is None:
        return None
    if np.ptp(labels) == 0:
        # Equal labels have no spread to estimate an error from.
        wide = unanimous_interval(centre, max(1, int(_worth(of_labels).sum())), bounds, level)
        return found._replace(mean=centre, interval=wide, labels_interval=wide, labels_mean=centre, tuning=0.0)
    low, high = bounds
    ends = Interval(max(low, found.interval.low), min(high, found.interval.high))
    return found._replace(mean=min(high, max(low, found.mean)), interval=ends, judge_mean=judged, labels_mean=centre)
