"""Quantiles of rows, such as the 95th percentile of latency: intervals, and the difference between two runs.

The interval of a quantile is a pair of order statistics, whose ranks come from the binomial distribution: it makes no
assumption about the shape of the values. Rows of one cluster count less: the ranks are those of the effective number of
rows (Woodruff 1952, with the design effect of the share of values up to the quantile).

`tests/stats/test_quantiles.py` simulates the coverage.
"""

from __future__ import annotations

import bisect
import functools
import math
from statistics import NormalDist

import numpy as np

from ragstone.stats.bootstrap import RESAMPLES, draw, expanded_ends
from ragstone.stats.distributions import binomial_probability
from ragstone.stats.intervals import Interval
from ragstone.stats.paired import Compared, random_patterns
from ragstone.stats.student import student_quantile

# Draws of rows in a comparison, at most; more rows are compared with fewer resamples.
_MOST_DRAWS = 40_000_000
_FEWEST_RESAMPLES, _MOST_RESAMPLES = 200, 4_000
# Draws in memory at a time.
_CELLS = 500_000
# A quantile needs this many rows beyond it in a comparison, on average, for the bootstrap to be valid.
_LEAST_BEYOND = 4


def quantile_of(values: np.ndarray, q: float) -> float:
    """The q-quantile, with linear interpolation between the two nearest values."""
    return float(np.quantile(values, q))


def rows_for_interval(q: float, level: float = 0.95) -> int:
    """The smallest number of rows for which the interval of a quantile exists."""
    return math.ceil(math.log((1 - level) / 2) / math.log(max(q, 1 - q)))


def quantile_interval(
    values: np.ndarray, q: float, level: float = 0.95, clusters: np.ndarray | None = None
) -> Interval | None:
    """The confidence interval of a quantile; None if there are too few rows for one of its ends."""
    rows = len(values)
    if not rows:
        return None
    effective = rows if clusters is None else int(_effective_rows(values, q, clusters, level))
    ranks = _ranks(effective, q, level)
    if ranks is None:
        return None
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    low = max(1, math.floor(ranks[0] * rows / effective))
    high = min(rows, math.ceil(ranks[1] * rows / effective))
    value = quantile_of(ordered, q)
    return Interval(min(value, float(ordered[low - 1])), max(value, float(ordered[high - 1])))


def _ranks(rows: int, q: float, level: float) -> tuple[int, int] | None:
    """The ranks, from 1, of the two order statistics: each misses the quantile with at most half of 1 − level."""
    # The probability that at most 0, 1, 2 … rows are at or below the quantile.
    ranks, below = range(rows + 1), functools.partial(binomial_probability, trials=rows, chance=q)
    low = bisect.bisect_right(ranks, (1 - level) / 2, key=below)
    high = bisect.bisect_left(ranks, (1 + level) / 2, key=below) + 1
    return (low, high) if low >= 1 and high <= rows else None


def _effective_rows(values: np.ndarray, q: float, clusters: np.ndarray, level: float) -> float:
    """The number of independent rows that would give the quantile with the same precision as these clusters of rows."""
    names, group = np.unique(np.asarray(clusters), return_inverse=True)
    rows, size = len(values), len(names)
    if size < 2:
        return 0.0
    away = (values <= quantile_of(values, q)) - q
    sums = np.bincount(group, away - away.mean())
    variance = size / (size - 1) * float((sums**2).sum()) / rows**2
    simple = q * (1 - q) / rows
    # The variance of few clusters is uncertain; Student's t instead of the normal allows for it.
    caution = (NormalDist().inv_cdf((1 + level) / 2) / student_quantile(size - 1, (1 + level) / 2)) ** 2
    return rows * min(1.0, simple / variance if variance > 0 else size / rows) * caution


def compare_quantiles(
    before: np.ndarray,
    after: np.ndarray,
    q: float,
    clusters: np.ndarray | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Compared | None:
    """The difference of a quantile between two runs of the same rows: a paired bootstrap, and swaps between the runs for p.

    None if too few rows are beyond the quantile.
    """
    rows = len(before)
    group = np.arange(rows) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    units = int(group.max()) + 1 if rows else 0
    if units < 2 or units * min(q, 1 - q) < _LEAST_BEYOND - 1e-9:
        return None
    times = max(_FEWEST_RESAMPLES, min(resamples, _MOST_RESAMPLES, _MOST_DRAWS // rows))
    block = max(1, _CELLS // rows)
    random = np.random.default_rng(seed)
    sides = [_Ordered(side, group) for side in (before, after)]
    drawn = []
    for first in range(0, times, block):
        counts = draw(random, min(block, times - first), units)
        drawn.append(sides[1].quantiles(counts, q) - sides[0].quantiles(counts, q))
    low, high = np.quantile(np.concatenate(drawn), expanded_ends(units, level))
    difference = quantile_of(after, q) - quantile_of(before, q)
    reached, tried = 0, 0
    for swapped in random_patterns(units, times, seed):
        for part in np.array_split(swapped, math.ceil(len(swapped) * rows / _CELLS)):
            chosen = part[:, group].astype(bool)
            moved = np.quantile(np.where(chosen, before, after), q, axis=1)
            moved -= np.quantile(np.where(chosen, after, before), q, axis=1)
            reached += int(np.count_nonzero(np.abs(moved) >= abs(difference) * (1 - 1e-9)))
            tried += len(part)
    ends = Interval(min(difference, float(low)), max(difference, float(high)))
    return Compared(ends, (reached + 1) / (tried + 1))


class _Ordered:
    """The values of a run in order, with the unit of each."""

    def __init__(self, values: np.ndarray, group: np.ndarray) -> None:
        order = np.argsort(values, kind="stable")
        self._values, self._group = values[order], group[order]

    def quantiles(self, counts: np.ndarray, q: float) -> np.ndarray:
        """The quantile of each resample, from the number of times that each unit is drawn."""
        sums = np.cumsum(counts[:, self._group], axis=1)
        # The mean of the two values around the quantile if it falls between them.
        target = q * sums[:, -1:]
        first = np.minimum((sums < target - 1e-9).sum(axis=1), len(self._values) - 1)
        second = np.minimum((sums <= target + 1e-9).sum(axis=1), len(self._values) - 1)
        quantiles: np.ndarray = (self._values[first] + self._values[second]) / 2
        return quantiles
