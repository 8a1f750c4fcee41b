"""Statistical power: the differences that a number of rows can detect, and the rows that a precision needs."""

from __future__ import annotations

import functools
import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ragstone.stats.distributions import t_test_power
from ragstone.stats.student import student_quantile

POWER = 0.8
_STEPS = 60
_LIKE_NORMAL = 10_000


def detectable_effect(deviation: float, pairs: int, alpha: float = 0.05, power: float = POWER) -> float | None:
    """The smallest true difference that a paired t test detects with 80 % power.

    `deviation` is the standard deviation of the differences. None for fewer than three pairs.
    """
    return None if pairs < 3 else _detectable_shift(pairs, alpha, power) / math.sqrt(pairs) * deviation


@functools.lru_cache(maxsize=256)
def _detectable_shift(pairs: int, alpha: float, power: float) -> float:
    low, high = 0.0, 2.0
    while _power(high, pairs, alpha) < power:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(middle, pairs, alpha) >= power else (middle, high)
    return high


def rows_needed(deviation: float, reach: float, level: float = 0.95) -> int:
    """The number of rows for an interval of ±reach, if further rows vary as much."""
    if reach <= 0:
        raise ValueError(f"reach must be above 0, got {reach}")
    rows = max(2, math.ceil((NormalDist().inv_cdf((1 + level) / 2) * deviation / reach) ** 2))
    # Student's t needs a few more rows than the normal distribution; beyond thousands of rows none.
    while rows < _LIKE_NORMAL and student_quantile(rows - 1, (1 + level) / 2) * deviation / math.sqrt(rows) > reach:
        rows += 1
    return rows


class NoiseFloor(NamedTuple):
    """The variation of one system's scores between repeats."""

    row_deviation: float
    mean_deviation: float
    smallest_difference: float


def noise_floor(repeats: np.ndarray, level: float = 0.95) -> NoiseFloor | None:
    """The noise floor from repeats (one row per repeat, one column per sample): smaller differences may be chance.

    It includes the variation of the system and its judge, not the choice of samples. None if no sample has two repeats.
    """
    there = ~np.isnan(repeats)
    table = repeats[:, there.sum(axis=0) >= 2]
    if not table.size:
        return None
    freedom = (~np.isnan(table)).sum(axis=0) - 1
    variance = float((np.nanvar(table, axis=0, ddof=1) * freedom).sum() / freedom.sum())
    mean_deviation = math.sqrt(variance / table.shape[1])
    reach = student_quantile(int(freedom.sum()), (1 + level) / 2)
    return NoiseFloor(math.sqrt(variance), mean_deviation, reach * math.sqrt(2) * mean_deviation)


def _power(shift: float, pairs: int, alpha: float) -> float:
    """The power of a t test whose statistic is shifted by `shift`; significant results in the other direction do not count."""
    return t_test_power(pairs - 1, shift, student_quantile(pairs - 1, 1 - alpha / 2))
