"""Any measure of rows with its bootstrap interval: inputs are drawn, and all rows of an input come along.

A measure is a function of how often each row was drawn (a row a resample, a column a row of the data) that gives a
value for each resample; drawn once each, the rows give the estimate itself. So a correlation and its interval are one
piece of code, and measures that were drawn with the same seed can be compared draw by draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ragstone.stats.bootstrap import draw, expanded_ends
from ragstone.stats.intervals import Interval, unanimous_interval

Measure = Callable[[np.ndarray], np.ndarray]
RESAMPLES = 2000
# How many draws are held at a time: 4 MB.
_CELLS = 500_000
# An interval of fewer values than this share of the resamples would leave out the draws that were hardest to measure.
_LEAST_MEASURED = 0.8


class Estimate(NamedTuple):
    """A value, its interval, and what it was in each resample (nan where it could not be measured)."""

    value: float | None
    interval: Interval | None
    drawn: np.ndarray


def take_measure(measure: Measure, rows: int) -> float | None:
    """The value over all rows; None where it cannot be measured."""
    value = float(measure(np.ones((1, rows)))[0])
    return None if np.isnan(value) else value


def estimate(
    measure: Measure, groups: np.ndarray, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Estimate:
    """The value with its interval; `groups` says for each row which input it belongs to."""
    value = take_measure(measure, len(groups)) if len(groups) else None
    if value is None:
        return Estimate(None, None, np.full(resamples, np.nan))
    drawn = np.concatenate([measure(times) for times in draw_rows(groups, resamples, seed)])
    return Estimate(value, spread(drawn, len(np.unique(groups)), level), drawn)


def estimate_mean(values: np.ndarray, groups: np.ndarray, bounds: tuple[float, float], level: float = 0.95) -> Estimate:
    """The mean of values that cannot leave the bounds; that all of them are the same is no certainty."""
    found = estimate(lambda times: np.asarray(times @ values / times.sum(axis=1)), groups, level)
    if found.interval is None or found.value is None or np.ptp(values) > 0:
        return found
    return found._replace(interval=unanimous_interval(found.value, len(np.unique(groups)), bounds, level))


def draw_rows(groups: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> Iterator[np.ndarray]:
    """How often each row is drawn, block by block, where whole inputs are drawn."""
    labels, places = np.unique(groups, return_inverse=True)
    random, block = np.random.default_rng(seed), max(1, _CELLS // max(1, len(places)))
    for first in range(0, resamples, block):
        yield draw(random, min(block, resamples - first), len(labels))[:, places]


def spread(drawn: np.ndarray, units: int, level: float = 0.95) -> Interval | None:
    """The interval of what was drawn; None for one unit, or where too many resamples have no value."""
    found = drawn[~np.isnan(drawn)]
    if units < 2 or len(found) < _LEAST_MEASURED * len(drawn):
        return None
    low, high = np.quantile(found, expanded_ends(units, level))
    return Interval(float(low), float(high))


def best_chances(values: Sequence[float], drawn: np.ndarray) -> np.ndarray:
    """For each measure the p of its being the best one after all; a column of `drawn` a measure, all drawn alike.

    A measure is held against all others at once: its p is how often chance alone puts some other so far above it (the
    largest studentised difference, as in Hsu's comparison with the best). So the true best is wrongly ruled out no
    oftener than p says, although nobody knows beforehand which one to compare with.
    """
    p, estimates = np.full(len(values), np.nan), np.asarray(values, dtype=np.float64)
    whole = drawn[~np.isnan(drawn).any(axis=1)]
    if len(values) < 2 or len(whole) < _LEAST_MEASURED * len(drawn):
        return p
    for place in range(len(values)):
        moved = np.delete(whole - whole[:, [place]], place, axis=1)
        gaps = np.delete(estimates - estimates[place], place)
        errors = moved.std(axis=0, ddof=1)
        differs = errors > 0
        if differs.any():
            above = gaps[differs] / errors[differs]
            chance = ((moved[:, differs] - gaps[differs]) / errors[differs]).max(axis=1)
            p[place] = (np.count_nonzero(chance >= above.max()) + 1) / (len(whole) + 1)
        else:
            p[place] = 1.0
    return p
