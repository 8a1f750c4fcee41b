"""Bootstrap intervals of means, and of differences of paired rows: many metrics at once, in bounded memory.

Each block of resamples is a matrix of how often each unit was drawn; one product with the sums gives the means of all
metrics. Cells without a value are 0 in the sums and 0 in the counts, so that they weigh nothing.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragstone.stats.intervals import Interval, student_quantile
from ragstone.stats.units import Units, divide, make_units

Method = Literal["expanded", "percentile", "bca"]
RESAMPLES = 10_000
# How many draws are held at a time: 4 MB, which a processor's cache holds.
_CELLS = 500_000


def bootstrap_means(
    values: np.ndarray,
    level: float = 0.95,
    method: Method = "expanded",
    clusters: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Interval | None]:
    """The interval of the mean of each column; None where fewer than two units have a value.

    `expanded` is the percentile interval made as much wider as Student's t is wider than the normal, which few rows need;
    `bca` corrects for bias and skew. With clusters whole clusters are drawn.
    """
    units = make_units(values, clusters, seed)
    drawn = resample_means(units, resamples, seed)
    return [_interval(units, drawn, column, level, method) for column in range(drawn.shape[1])]


def paired_bootstrap(
    before: np.ndarray,
    after: np.ndarray,
    level: float = 0.95,
    method: Method = "expanded",
    clusters: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Interval | None]:
    """The interval of the mean difference of each column, after minus before; pairs stay together."""
    return bootstrap_means(after - before, level, method, clusters, resamples, seed)


def resample_means(units: Units, resamples: int = RESAMPLES, seed: int = 0) -> np.ndarray:
    """The means of all metrics in each resample, a row a resample; nan where none of a metric's values was drawn."""
    random = np.random.default_rng(seed)
    size, metrics = units.sums.shape
    means = np.full((resamples, metrics), np.nan)
    # One product for sums and counts: the draws are read once.
    table = units.sums if units.whole else np.hstack([units.sums, units.counts])
    block = max(1, _CELLS // max(1, size))
    for first in range(0, resamples if size else 0, block):
        found = draw(random, min(block, resamples - first), size) @ table
        below = np.full((len(found), metrics), float(size)) if units.whole else found[:, metrics:]
        means[first : first + len(found)] = divide(found[:, :metrics], below)
    return means


def draw(random: np.random.Generator, resamples: int, size: int) -> np.ndarray:
    """How often each unit is drawn, a row a resample."""
    times = np.empty((resamples, size))
    for row, places in zip(times, random.integers(0, size, (resamples, size), dtype=np.uint32), strict=True):
        row[:] = np.bincount(places, minlength=size)
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
    """The quantiles of a percentile interval made as much wider as Student's t is wider than the normal."""
    from scipy import special  # noqa: PLC0415  (takes longer to load than most runs; not everybody needs it)

    reach = (used / (used - 1)) ** 0.5 * student_quantile(used - 1, (1 + level) / 2)
    ends: np.ndarray = special.ndtr(np.array([-reach, reach]))
    return ends


def _correct(units: Units, means: np.ndarray, column: int, ends: np.ndarray) -> np.ndarray:
    """The quantiles that BCa takes in place of the plain ones: bias from the resamples, skew from a jackknife."""
    from scipy import special  # noqa: PLC0415

    sums, counts = units.sums[:, column], units.counts[:, column]
    mean = sums.sum() / counts.sum()
    left_out = divide(sums.sum() - sums, counts.sum() - counts)[counts > 0]
    away = np.nanmean(left_out) - left_out
    spread = np.nansum(away**2)
    if spread == 0:
        return ends
    skew = np.nansum(away**3) / (6 * spread**1.5)
    below = (np.count_nonzero(means < mean) + np.count_nonzero(means <= mean)) / (2 * len(means))
    bias = special.ndtri(np.clip(below, 1 / (2 * len(means)), 1 - 1 / (2 * len(means))))
    moved = bias + special.ndtri(ends)
    corrected: np.ndarray = special.ndtr(bias + moved / (1 - skew * moved))
    return corrected
