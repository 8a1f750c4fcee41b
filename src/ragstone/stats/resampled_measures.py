"""Bootstrap intervals of any measure of rows; inputs are drawn with all their rows.

A measure is a function of draw counts (one row per resample, one column per row of the data) that returns one value per
resample; with every row drawn once it returns the estimate. Measures that were drawn with the same seed can be compared
draw by draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ragstone.stats.bootstrap import draw, expanded_ends
from ragstone.stats.intervals import Interval, unanimous_interval

Measure = Callable[[np.ndarray], np.ndarray]
RESAMPLES = 2000
# Number of draws in memory at a time: 4 MB.
_CELLS = 500_000
# An interval from fewer values than this share of the resamples would omit the draws that are hardest to measure.
_LEAST_MEASURED = 0.8


class Estimate(NamedTuple):
    """A value, its interval, and its value in each resample (nan if undefined)."""

    value: float | None
    interval: Interval | None
    drawn: np.ndarray


def take_measure(measure: Measure, rows: int) -> float | None:
    """The value over all rows; None if undefined."""
    value = float(measure(np.ones((1, rows)))[0])
    return None if np.isnan(value) else value


def estimate(
    measure: Measure, groups: np.ndarray, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """The value with its interval; `groups` is the input of each row."""
    value = take_measure(measure, len(groups)) if len(groups) else None
    if value is None:
        return Estimate(None, None, np.full(resamples, np.nan))
    drawn = np.concatenate([measure(times) for times in draw_rows(groups, resamples, seed)])
    return Estimate(value, spread(drawn, len(np.unique(groups)), level), drawn)


def estimate_mean(values: np.ndarray, groups: np.ndarray, bounds: tuple[float, float], level: float = 0.95) -> Estimate:
    """The mean of bounded values; if all values are equal, the interval still has a width."""
    result = estimate(lambda times: np.asarray(times @ values / times.sum(axis=1)), groups, level)
    if result.interval is None or result.value is None or np.ptp(values) > 0:
        return result
    return result._replace(interval=unanimous_interval(result.value, len(np.unique(groups)), bounds, level))


def draw_rows(groups: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> Iterator[np.ndarray]:
    """The number of times each row is drawn, in blocks; whole inputs are drawn."""
    labels, codes = np.unique(groups, return_inverse=True)
    random, block = np.random.default_rng(seed), max(1, _CELLS // max(1, len(codes)))
    for first in range(0, resamples, block):
        yield draw(random, min(block, resamples - first), len(labels))[:, codes]


def spread(drawn: np.ndarray, units: int, level: float = 0.95) -> Interval | None:
    """The interval of the drawn values; None for one unit, or if too many resamples have no value."""
    values = drawn[~np.isnan(drawn)]
    if units < 2 or len(values) < _LEAST_MEASURED * len(drawn):
        return None
    low, high = np.quantile(values, expanded_ends(units, level))
    return Interval(float(low), float(high))


def best_chances(values: Sequence[float], drawn: np.ndarray) -> np.ndarray:
    """For each measure, the p of being the best; one column of `drawn` per measure, all with the same draws.

    A measure is compared with all others at once: p is the probability that some other measure gets this far above it by chance
    (the largest studentised difference, as in Hsu's comparison with the best). So the true best is wrongly excluded at most as
    often as p states, without choosing the comparison beforehand.
    """
    p, estimates = np.full(len(values), np.nan), np.asarray(values, dtype=np.float64)
    # A measure that many resamples leave undefined is not tested; the others are.
    able = np.flatnonzero((~np.isnan(drawn)).mean(axis=0) >= _LEAST_MEASURED)
    for index in able if len(able) > 1 else ():
        others = able[able != index]
        moved = drawn[:, others] - drawn[:, [index]]
        moved, gaps = moved[~np.isnan(moved).all(axis=1)], estimates[others] - estimates[index]
        errors = np.nanstd(moved, axis=0, ddof=1)
        differs = errors > 0
        if differs.any():
            above = gaps[differs] / errors[differs]
            chance = np.nan_to_num((moved[:, differs] - gaps[differs]) / errors[differs], nan=-np.inf).max(axis=1)
            p[index] = (np.count_nonzero(chance >= above.max()) + 1) / (len(moved) + 1)
        else:
            p[index] = 1.0
    return p
