"""Means of a whole from a sample in which each draw stands for several: Hájek's estimate, by strata, with its interval.

The mean is Σ w·y / Σ w. Its error comes from how much the draws differ within their strata, by the usual linear form of
a ratio (Särndal, Swensson and Wretman 1992, 5.6 and 5.7); what was drawn completely has none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragstone.stats.intervals import Interval, student_quantile


class Estimate(NamedTuple):
    """A mean with its interval; none where nothing tells how far to trust it."""

    mean: float
    interval: Interval | None


def weighted_mean(values: np.ndarray, weights: np.ndarray, strata: np.ndarray, level: float = 0.95) -> Estimate | None:
    """The mean over all that the draws stand for; nan is no value, and None is returned if there is no other.

    Draws of one stratum have the same weight N/n, from which N is known.
    """
    there = ~np.isnan(values)
    total = float(weights[there].sum())
    if not total > 0:
        return None
    mean = float((weights[there] * values[there]).sum() / total)
    # A draw without a value weighs nothing, but it was drawn.
    residuals = np.where(there, weights * (np.nan_to_num(values) - mean), 0.0) / total
    variance, freedom = 0.0, 0
    for members in _groups(weights, strata):
        n = len(members)
        missing = max(0.0, 1.0 - n / float(weights[members].sum()))
        spread = residuals[members] - residuals[members].mean()
        variance += missing * n / (n - 1) * float(spread @ spread)
        freedom += n - 1
    complete = bool(np.all(weights[there] <= 1.0 + 1e-9))
    if not freedom:
        return Estimate(mean, Interval(mean, mean) if complete else None)
    reach = student_quantile(freedom, (1 + level) / 2) * variance**0.5
    return Estimate(mean, Interval(mean - reach, mean + reach))


def _groups(weights: np.ndarray, strata: np.ndarray) -> list[np.ndarray]:
    """The draws of each stratum; single ones together, since one alone tells nothing about its stratum."""
    found = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    groups = sorted((members for members in found if len(members) > 1), key=len)
    # What was drawn completely has no error, alone or not.
    single = [members for members in found if len(members) == 1 and weights[members[0]] > 1.0]
    if len(single) == 1 and groups:
        return [np.concatenate([groups[0], *single]), *groups[1:]]
    return [*groups, np.concatenate(single)] if len(single) > 1 else groups
