"""Bootstrap intervals of means of many metrics at once, in bounded memory; and intervals of scores of all rows together.

Each block of resamples is a matrix of draw counts per unit; one product with the sums gives the means of all metrics. A
unit is a row or a cluster of rows, as a sum and a count per metric. Cells without a value are 0 in both.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from ragstone.stats.distributions import f_quantile
from ragstone.stats.intervals import Interval, mean_interval, wilson_interval
from ragstone.stats.student import student_quantile

# Up to this many rows, each row is a unit. Above it, random groups of rows are: the same spread, bounded work.
MOST_UNITS = 10_000
_GROUPS = 2000


class Units(NamedTuple):
    """One row per unit, one column per metric; `whole` means that every unit is one row with a value for each metric."""

    sums: np.ndarray
    counts: np.ndarray
    whole: bool

    @property
    def used(self) -> np.ndarray:
        """The number of units with a value, for each metric."""
        return np.asarray(np.count_nonzero(self.counts, axis=0))

    @property
    def means(self) -> np.ndarray:
        """The mean of each metric; nan if it has no value."""
        return divide(self.sums.sum(axis=0), self.counts.sum(axis=0))


def make_units(values: np.ndarray, clusters: np.ndarray | None = None, seed: int = 0) -> Units:
    """Values (one row per sample, one column per metric, nan if missing) as units; clusters are labels, one per row."""
    table = values[:, None] if values.ndim == 1 else values
    if clusters is None and len(table) <= MOST_UNITS:
        known = ~np.isnan(table)
        return Units(np.where(known, table, 0.0), known.astype(np.float64), bool(known.all()))
    if clusters is None:
        group = np.random.default_rng(seed).permutation(len(table)) % _GROUPS
    else:
        labels, group = np.unique(np.asarray(clusters), return_inverse=True)
        if len(labels) > MOST_UNITS:
            group = (np.random.default_rng(seed).permutation(len(labels)) % _GROUPS)[group]
    # Column by column: much faster than np.add.at, and without a copy of the whole table.
    size = int(group.max()) + 1 if len(group) else 0
    sums, counts = np.zeros((2, size, table.shape[1]))
    for number, column in enumerate(table.T):
        known = ~np.isnan(column)
        sums[:, number] = np.bincount(group, np.where(known, column, 0.0), minlength=size)
        counts[:, number] = np.bincount(group, known, minlength=size)
    return Units(sums, counts, whole=False)


def divide(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Above / below; nan if below is 0."""
    return np.asarray(np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below > 0))


Bounds = tuple[float | None, float | None]
Method = Literal["expanded", "percentile", "bca"]
RESAMPLES = 10_000
# Number of draws in memory at a time: 4 MB, which fits into a processor's cache.
_CELLS = 500_000
# Multiplications that BLAS does not share among threads.
_ONE_THREAD = 200_000


def bootstrap_means(
    values: np.ndarray,
    level: float = 0.95,
    method: Method = "expanded",
    clusters: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Interval | None]:
    """The interval of the mean of each column; None if fewer than two units have a value.

    `expanded` is the percentile interval, widened by the ratio of Student's t to the normal, which small samples need; `bca`
    corrects for bias and skew. With clusters, whole clusters are drawn.
    """
    units = make_units(values, clusters, seed)
    drawn = resample_means(units, resamples, seed)
    return [_interval(units, drawn, column, level, method) for column in range(drawn.shape[1])]


def clustered_interval(
    values: np.ndarray, clusters: np.ndarray, bounds: Bounds = (None, None), level: float = 0.95
) -> Interval | None:
    """The interval of a mean over rows (nan if missing) that come in clusters; None if fewer than two have a value.

    Student's t on the clusters, by the linearised ratio of their sums and counts. Few clusters show their spread badly, so it is
    never narrower than the interval of independent rows, nor than Wilson's of as many rows as these are worth if the rows of a
    cluster are as alike as they may be.
    """
    known = values[~np.isnan(values)]
    alone = mean_interval(known, level, bounds)
    sums, counts, _ = make_units(values, clusters)
    there = counts[:, 0] > 0
    number, mean = int(there.sum()), float(known.mean()) if len(known) else 0.0
    if number < 2:
        return None
    away = (sums[there, 0] - mean * counts[there, 0]) * number / len(known)
    reach = student_quantile(number - 1, (1 + level) / 2) * float(away.std(ddof=1)) / number**0.5
    low, high = bounds
    ends = Interval(
        mean - reach if low is None else max(low, mean - reach),
        mean + reach if high is None else min(high, mean + reach),
    )
    found = [ends, *filter(None, [alone])]
    if low is not None and high is not None:
        share = min(max((mean - low) / (high - low), 0.0), 1.0)
        worth = _worth(known, sums[there, 0], counts[there, 0])
        spread = float(known.var()) / (high - low) ** 2
        # Wilson takes the largest spread that a share can have; scores between the bounds spread less.
        worth /= max(spread / (share * (1 - share)), _LEAST_SPREAD) if spread else 1.0
        of_shares = wilson_interval(share * worth, worth, level)
        found.append(Interval(low + of_shares.low * (high - low), low + of_shares.high * (high - low)))
    return Interval(min(interval.low for interval in found), max(interval.high for interval in found))


# The least spread of scores, as a part of the largest spread of a share.
_LEAST_SPREAD = 0.05
_NO_SPREAD = 1e-12
# The chance that rows of a cluster are more alike than is assumed.
_MORE_ALIKE = 0.1


def _worth(values: np.ndarray, sums: np.ndarray, counts: np.ndarray) -> float:
    """The number of independent rows that clustered rows are worth, by the upper bound of their intraclass correlation."""
    rows, clusters = len(values), len(counts)
    if rows == clusters:
        return float(rows)
    means = sums / counts
    between = float((counts * (means - values.mean()) ** 2).sum()) / (clusters - 1)
    within = max(float((values**2).sum() - (counts * means**2).sum()), 0.0) / (rows - clusters)
    weight = float((counts**2).sum()) / rows
    alike = 1.0
    if within > _NO_SPREAD:
        ratio = between / within / f_quantile(clusters - 1, rows - clusters, _MORE_ALIKE)
        size = (rows - weight) / (clusters - 1)
        alike = min(max((ratio - 1) / (ratio + size - 1), 0.0), 1.0)
    return rows / (1 + (weight - 1) * alike)


def resample_means(units: Units, resamples: int = RESAMPLES, seed: int = 0) -> np.ndarray:
    """The means of all metrics, one row per resample; nan if none of a metric's values was drawn."""
    random = np.random.default_rng(seed)
    size, metrics = units.sums.shape
    means = np.full((resamples, metrics), np.nan)
    # One product for sums and counts: the draws are read once. Many metrics have values in the same rows.
    counts, place = np.unique(units.counts, axis=1, return_inverse=True)
    table = units.sums if units.whole else np.hstack([units.sums, counts])
    block = max(1, _CELLS // max(1, size))
    for first in range(0, resamples if size else 0, block):
        products = multiply(draw(random, min(block, resamples - first), size), table)
        below = np.full((len(products), metrics), float(size)) if units.whole else products[:, metrics:][:, place]
        means[first : first + len(products)] = divide(products[:, :metrics], below)
    return means


def multiply(draws: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The product with a table of few columns, in pieces for which BLAS uses one thread: several wait more than they compute."""
    step = max(1, _ONE_THREAD // max(1, len(draws) * table.shape[1]))
    pieces = (draws[:, at : at + step] @ table[at : at + step] for at in range(0, len(table), step))
    return sum(pieces, start=np.zeros((len(draws), table.shape[1])))


def draw(random: np.random.Generator, resamples: int, size: int) -> np.ndarray:
    """The number of times each unit is drawn, one row per resample."""
    times = np.empty((resamples, size))
    for row, drawn in zip(times, random.integers(0, size, (resamples, size), dtype=np.uint32), strict=True):
        row[:] = np.bincount(drawn, minlength=size)
    return times


def _interval(units: Units, drawn: np.ndarray, column: int, level: float, method: Method) -> Interval | None:
    used = int(units.used[column])
    means = drawn[:, column][~np.isnan(drawn[:, column])]
    if used < 2 or not len(means):
        return None
    ends = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "expanded":
        ends = expanded_ends(used, level)
    elif method == "bca":
        ends = _correct(units, means, column, ends)
    low, high = np.quantile(means, ends)
    return Interval(float(low), float(high))


def expanded_ends(used: int, level: float) -> np.ndarray:
    """The quantiles of a percentile interval, widened by the ratio of Student's t to the normal."""
    reach = (used / (used - 1)) ** 0.5 * student_quantile(used - 1, (1 + level) / 2)
    return np.array([NormalDist().cdf(-reach), NormalDist().cdf(reach)])


def _correct(units: Units, means: np.ndarray, column: int, ends: np.ndarray) -> np.ndarray:
    """The quantiles of BCa: bias from the resamples, skew from a jackknife."""
    normal = NormalDist()
    sums, counts = units.sums[:, column], units.counts[:, column]
    mean = sums.sum() / counts.sum()
    left_out = divide(sums.sum() - sums, counts.sum() - counts)[counts > 0]
    away = np.nanmean(left_out) - left_out
    spread = np.nansum(away**2)
    if spread == 0:
        return ends
    skew = np.nansum(away**3) / (6 * spread**1.5)
    below = (np.count_nonzero(means < mean) + np.count_nonzero(means <= mean)) / (2 * len(means))
    bias = normal.inv_cdf(float(np.clip(below, 1 / (2 * len(means)), 1 - 1 / (2 * len(means)))))
    moved = [bias + normal.inv_cdf(float(end)) for end in ends]
    return np.array([normal.cdf(bias + away / (1 - skew * away)) for away in moved])
