"""Quantiles of Student's t without scipy, see `distributions.py`.

`tests/stats/test_student.py` compares them with scipy.
"""

from __future__ import annotations

import functools
import math
from statistics import NormalDist

from ragstone.stats.distributions import beta_quantile

# Newton's method doubles the digits with each step: after a step this small, the rest is rounding.
_SMALL_STEP = 1e-10
_MOST_STEPS = 100
# The series of Γ(z + 1/2) / (Γ(z) √z) in 1/z, highest power first; above _LARGE it is exact to double precision.
_RATIO_SERIES = (869 / 4194304, -399 / 262144, -21 / 32768, 5 / 1024, 1 / 128, -1 / 8, 1.0)
_LARGE = 100.0
# Of the two series of the incomplete beta function, the one of the tail is exact but slow for small arguments.
_CENTRE = 0.05
_LEAST_TERM = 1e-17
# Beyond these limits the series are less exact than the quantiles of the beta and the normal distribution.
_MOST_FREEDOM, _LEAST_TAIL = 1e9, 0.99e-4


@functools.lru_cache(maxsize=4_096)
def student_quantile(freedom: float, probability: float) -> float:
    """The quantile of Student's t."""
    tail = min(probability, 1 - probability)
    if 1 <= freedom <= _MOST_FREEDOM and _LEAST_TAIL <= tail < 0.5:
        return math.copysign(_upper_quantile(freedom, tail), probability - 0.5)
    if not freedom > 0 or not 0 < probability < 1:
        return math.copysign(math.inf, probability - 0.5) if freedom > 0 and probability in (0, 1) else math.nan
    if freedom > _MOST_FREEDOM or probability == 0.5:
        return NormalDist().inv_cdf(probability)
    share = beta_quantile(freedom / 2, 0.5, 2 * tail)
    return math.copysign(math.sqrt(freedom * (1 - share) / share), probability - 0.5)


def _upper_quantile(freedom: float, tail: float) -> float:
    """Newton's method from below: the tail is convex, so it does not overshoot."""
    normal = -NormalDist().inv_cdf(tail)
    value = normal + (normal**3 + normal) / (4 * freedom)
    for _ in range(_MOST_STEPS):
        area, density = _tail_and_density(freedom, value)
        step = (area - tail) / density
        value += step
        if abs(step) <= _SMALL_STEP * value:
            break
    return value


def _tail_and_density(freedom: float, value: float) -> tuple[float, float]:
    """The probability above a positive value, and the density there."""
    half, square = freedom / 2, value * value
    total = freedom + square
    scale = _gamma_ratio(half) / math.sqrt(math.pi) * math.exp(-half * math.log1p(square / freedom))
    if square / total < _CENTRE:
        area = 0.5 - scale * math.sqrt(square / total) * _beta_series(0.5, half, square / total)
    else:
        area = scale * math.sqrt(square / total) * _beta_series(half, 0.5, freedom / total) / freedom
    return area, scale / math.sqrt(total)


def _gamma_ratio(z: float) -> float:
    """Γ(z + 1/2) / Γ(z)."""
    if z < _LARGE:
        return math.gamma(z + 0.5) / math.gamma(z)
    return math.sqrt(z) * functools.reduce(lambda series, coefficient: series / z + coefficient, _RATIO_SERIES)


def _beta_series(a: float, b: float, x: float) -> float:
    """The incomplete beta function of x, divided by x^a (1 − x)^b / a. All terms are positive: nothing cancels."""
    terms = [1.0]
    while terms[-1] > _LEAST_TERM:
        n = len(terms)
        terms.append(terms[-1] * (a + b + n - 1) / (a + n) * x)
    return math.fsum(terms)
