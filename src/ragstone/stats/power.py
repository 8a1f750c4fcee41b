"""Statistical power: the differences that a number of rows can detect, and the rows that a precision needs."""

from __future__ import annotations

import functools
import math
from statistics import NormalDist

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


def _power(shift: float, pairs: int, alpha: float) -> float:
    """The power of a t test whose statistic is shifted by `shift`; significant results in the other direction do not count."""
    return t_test_power(pairs - 1, shift, student_quantile(pairs - 1, 1 - alpha / 2))
