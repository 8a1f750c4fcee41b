"""Confidence intervals for scores of all rows together (corpus BLEU, distinct n-grams), by the jackknife.

A percentile bootstrap of corpus BLEU over ten rows covers the truth in 88 % of samples; the jackknife on a stretched
scale (logit between two bounds, log above one) covers it in 95 % and does not depend on the order of the rows.

The share of distinct n-grams falls with the number of rows. Its interval is for the score of another run with as many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ragstone.stats.intervals import Interval
from ragstone.stats.student import student_quantile

Bounds = tuple[float | None, float | None]
# Number of rows whose scores are computed at a time, to bound the memory.
_BLOCK = 100_000
# Random groups of rows are left out if the score must be computed again from the rows each time.
FEW_GROUPS = 50
# The share of the spread of pairs that a jackknife counts too much; measured for n-grams of Zipf's law.
_COUNTED_TWICE = 2 / 3


def sums_interval(
    statistics: np.ndarray,
    score: Callable[[np.ndarray], np.ndarray],
    level: float = 0.95,
    bounds: Bounds = (None, None),
) -> Interval | None:
    """The interval of a score of summed statistics (one row per sample, one column per statistic)."""
    if len(statistics) < 2:
        return None
    whole = statistics.sum(axis=0)
    left_out = [score(whole - statistics[at : at + _BLOCK]) for at in range(0, len(statistics), _BLOCK)]
    return jackknife_interval(float(score(whole)), np.concatenate(left_out), level, bounds)


def rows_interval(
    rows: Sequence[Any],
    score: Callable[[Sequence[Any]], float],
    level: float = 0.95,
    bounds: Bounds = (None, None),
    clusters: np.ndarray | None = None,
) -> Interval | None:
    """The interval of a score that needs the rows themselves; a bootstrap would repeat rows, which biases distinct n-grams.

    Rows of one cluster are left out together. Groups are random, because groups of similar or of evenly spread rows would
    show another spread; equal rows can change places, so that the order of the rows has no effect.
    """
    ordered = sorted(rows, key=_content) if clusters is None else list(rows)
    unit = np.arange(len(ordered)) if clusters is None else np.unique(clusters.astype(str), return_inverse=True)[1]
    units = int(unit.max()) + 1 if len(unit) else 0
    groups = min(FEW_GROUPS, units)
    if groups < 2:
        return None
    # All groups have the same size: a score that falls with the number of rows would show the sizes. The rest stays in.
    size = units // groups
    place = np.random.default_rng(0).permutation(units)
    part = np.where(place < groups * size, place % groups, -1)[unit].tolist()

    def without(*out: int) -> float:
        return score([row for group, row in zip(part, ordered, strict=True) if group not in out])

    left_out = np.array([without(group) for group in range(groups)])
    pairs = [without(group, group + 1) for group in range(0, groups - 1, 2)] if units > groups else []
    return jackknife_interval(score(ordered), left_out, level, bounds, units / size, np.array(pairs))


def _content(row: Any) -> tuple[bytes, ...]:
    """A sort key: the numbers of a row, or of each side of a pair."""
    return tuple(np.asarray(part).tobytes() for part in (row if isinstance(row, tuple) else (row,)))


def jackknife_interval(
    value: float,
    left_out: np.ndarray,
    level: float,
    bounds: Bounds,
    groups: float | None = None,
    pairs: np.ndarray | None = None,
) -> Interval | None:
    """Student's t on a stretched scale, from the scores with one group left out each; None if they are all the same.

    `groups` is the number of groups of this size in all rows, if only some are left out. `pairs` are the scores without
    groups 1 and 2, 3 and 4 …: a jackknife counts their joint effects more than once (Efron and Stein 1981).
    """
    low, high = bounds
    if not np.ptp(left_out) > 0:
        return None
    pairs = np.zeros(0) if pairs is None else pairs
    stretch, shrink = _scale(low, high, np.concatenate([left_out, pairs, [value]]))
    points, centre = stretch(left_out), stretch(np.array(value))
    whole = groups or len(points)
    variance = (whole - 1) ** 2 / whole * points.var(ddof=1)
    if len(pairs) > 1:
        joint = whole * centre - (whole - 1) * (points[: 2 * len(pairs)].reshape(-1, 2).sum(axis=1))
        joint += (whole - 2) * stretch(pairs)
        excess = _COUNTED_TWICE * (whole - 1) / (2 * whole) * joint.var(ddof=1)
        variance -= min(excess, variance / 2)
    reach = student_quantile(len(points) - 1, (1 + level) / 2) * variance**0.5
    ends = float(shrink(centre - reach)), float(shrink(centre + reach))
    return Interval(ends[0] if low is None else max(low, ends[0]), ends[1] if high is None else min(high, ends[1]))


Map = Callable[[np.ndarray], np.ndarray]


def _scale(low: float | None, high: float | None, values: np.ndarray) -> tuple[Map, Map]:
    """A scale on which the score is free to move, and the way back; the plain one if a value is at a bound."""
    if low is not None and high is not None and values.min() > low and values.max() < high:
        return (lambda x: np.log((x - low) / (high - x))), (lambda y: low + (high - low) / (1 + np.exp(-y)))
    if low is not None and high is None and values.min() > low:
        return (lambda x: np.log(x - low)), (lambda y: low + np.exp(y))
    return (lambda x: x), (lambda y: y)
