"""Probabilities and quantiles of the beta distribution and of those that follow from it, and the power of a t test.

scipy has them too, but takes 150 MB and longer to import than most commands run. `tests/stats/test_distributions.py`
compares them with scipy.
"""

from __future__ import annotations

import functools
import math
from statistics import NormalDist

import numpy as np

_MOST_STEPS = 300
_MOST_TERMS = 100_000
_TINY = 1e-300
_CLOSE = 1e-15
# Beyond this logarithm a weight does not change a sum. This number of nodes gives all digits of a double.
_NEGLIGIBLE, _NODES = 40.0, 601


def beta_probability(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function: the probability below x."""
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - math.exp(_log_density(b, a, 1 - x)) * (1 - x) * x / b / _continued_fraction(b, a, 1 - x)
    return math.exp(_log_density(a, b, x)) * x * (1 - x) / a / _continued_fraction(a, b, x)


def _log_density(a: float, b: float, x: float) -> float:
    whole = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return whole + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x)


def _continued_fraction(a: float, b: float, x: float) -> float:
    """The denominator of the continued fraction of the incomplete beta function, by Lentz's method."""
    value = above = 1.0
    below = 0.0
    for term in range(_MOST_TERMS):
        half, is_odd = divmod(term + 1, 2)
        if is_odd:
            part = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            part = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        below = 1 / (1 + part * below or _TINY)
        above = 1 + part / above or _TINY
        value *= above * below
        if abs(above * below - 1) < _CLOSE:
            break
    return value


def beta_quantile(a: float, b: float, probability: float) -> float:
    """The value below which the beta distribution has this probability: Newton's method between bounds."""
    low, high, value = 0.0, 1.0, a / (a + b)
    for _ in range(_MOST_STEPS):
        away = beta_probability(a, b, value) - probability
        low, high = (low, value) if away > 0 else (value, high)
        density = math.exp(_log_density(a, b, value))
        reached = value - away / density if density > _TINY else low
        if not low < reached < high:
            reached = (low + high) / 2
        if abs(reached - value) <= _CLOSE * value:
            break
        value = reached
    return value


def binomial_probability(successes: float, trials: float, chance: float) -> float:
    """The probability of at most this number of successes."""
    return beta_probability(trials - successes, successes + 1, 1 - chance) if successes < trials else 1.0


def student_tail(freedom: float, value: float) -> float:
    """The probability that Student's t exceeds a value that is not negative."""
    return beta_probability(freedom / 2, 0.5, freedom / (freedom + value * value)) / 2


def f_quantile(above: float, below: float, probability: float) -> float:
    """The quantile of the F distribution with these degrees of freedom."""
    value = beta_quantile(above / 2, below / 2, probability)
    return below * value / (above * (1 - value))


def t_test_power(freedom: float, shift: float, critical: float) -> float:
    """The probability that a t statistic whose mean is shifted exceeds the critical value."""
    normal = NormalDist()
    return sum(weight * normal.cdf(shift - critical * size) for size, weight in _deviations(freedom))


@functools.lru_cache(maxsize=256)
def _deviations(freedom: float) -> list[tuple[float, float]]:
    """Sample deviations and their weights. In logarithms both ends fall fast, so evenly spaced nodes are exact."""
    reach = math.sqrt(_NEGLIGIBLE / freedom)
    logs = np.linspace(-reach - _NEGLIGIBLE / freedom, reach, _NODES)
    weights = np.exp(freedom * (logs - np.expm1(2 * logs) / 2))
    return list(zip(np.exp(logs).tolist(), (weights / weights.sum()).tolist(), strict=True))
