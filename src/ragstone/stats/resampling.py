"""Intervals of scores that are made from all rows together: resample the rows, make the score again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ragstone.stats.intervals import Interval, student_quantile

# Beyond this many rows, random groups of rows are resampled in their place: the same spread, bounded work.
_MOST_UNITS = 2000
JACKKNIFE_GROUPS = 50


def bootstrap_sums(
    statistics: np.ndarray,
    score: Callable[[np.ndarray], np.ndarray],
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Interval | None:
    """Percentile bootstrap of a score of summed statistics (a row a row, a column a statistic)."""
    if len(statistics) < 2:
        return None
    random = np.random.default_rng(seed)
    units = _grouped(statistics, random) if len(statistics) > _MOST_UNITS else statistics
    times = random.multinomial(len(units), np.full(len(units), 1 / len(units)), size=resamples)
    low, high = np.quantile(score(times @ units), [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def jackknife(
    rows: Sequence[np.ndarray],
    score: Callable[[Sequence[np.ndarray]], float],
    level: float = 0.95,
    bounds: tuple[float | None, float | None] = (None, None),
    seed: int = 0,
) -> Interval | None:
    """Delete-a-group jackknife, for scores that a bootstrap would bias because it repeats rows (distinct n-grams)."""
    groups = min(JACKKNIFE_GROUPS, len(rows))
    if groups < 2:
        return None
    group = np.random.default_rng(seed).permutation(len(rows)) % groups
    whole = score(rows)
    left_out = np.array(
        [score([row for row, of in zip(rows, group, strict=True) if of != gone]) for gone in range(groups)]
    )
    error = ((groups - 1) / groups * ((left_out - left_out.mean()) ** 2).sum()) ** 0.5
    reach = student_quantile(groups - 1, (1 + level) / 2) * error
    low, high = bounds
    return Interval(
        whole - reach if low is None else max(low, whole - reach),
        whole + reach if high is None else min(high, whole + reach),
    )


def _grouped(statistics: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The sums of random groups of rows."""
    group = random.permutation(len(statistics)) % _MOST_UNITS
    sums = np.zeros((_MOST_UNITS, statistics.shape[1]))
    np.add.at(sums, group, statistics)
    return sums
