"""Confidence intervals of means, and p-values corrected for multiple tests.

Empirical likelihood: a confidence interval for the mean of values between known bounds.

Student's t misses too often if most values sit at one bound: of 100 scores with 95 % zeros, a 95 % interval covers the
true mean in 88 % of samples, and the misses are on the flattering side. Empirical likelihood (Owen 1988) follows the
skew of the data. Half an observation at each bound keeps the interval open if all values agree; for values that are all
0 or 1 it is close to Jeffreys' interval.

`benchmarks coverage` and `tests/stats/test_coverage.py` simulate the coverage.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal, NamedTuple, get_args

import numpy as np

from ragstone.stats.distributions import beta_quantile
from ragstone.stats.student import student_quantile

# The weight of the observation that is added at each bound.
_PSEUDO_WEIGHT = 0.5
# The tilt is searched between e^-_REACH and e^_REACH times the range of the bounds; each step halves what is left.
_REACH = 36.0
_STEPS = 52


def bounded_mean_ends(
    values: np.ndarray, bounds: tuple[float, float], level: float = 0.95, worth: np.ndarray | None = None
) -> tuple[float, float]:
    """The lowest and highest mean that empirical likelihood does not reject. Every value must be within the bounds.

    `worth` is the number of independent rows that each value counts for, by default 1. The weights that reach a mean with the least loss of likelihood are proportional to count / (tilt + distance from a
    bound): each end of the interval is a search for one number.
    """
    low, high = bounds
    scale = high - low
    distinct, places = np.unique((np.asarray(values, dtype=np.float64) - low) / scale, return_inverse=True)
    counts = np.bincount(places, worth).astype(np.float64)
    shares = np.concatenate([[0.0], distinct, [1.0]])
    weights = np.concatenate([[_PSEUDO_WEIGHT], counts, [_PSEUDO_WEIGHT]])
    limit = NormalDist().inv_cdf((1 + level) / 2) ** 2
    mean = float(np.average(distinct, weights=counts))
    lowest = min(mean, _lowest_mean(shares, weights, limit))
    highest = max(mean, 1.0 - _lowest_mean(1.0 - shares, weights, limit))
    return low + scale * lowest, low + scale * highest


def _lowest_mean(shares: np.ndarray, weights: np.ndarray, limit: float) -> float:
    """The lowest mean whose log likelihood ratio, twice, is within the limit."""
    size = weights.sum()
    strong, weak = -_REACH, _REACH  # a small tilt moves all weight to the lowest value
    for _ in range(_STEPS):
        middle = (strong + weak) / 2
        distances = np.exp(middle) + shares
        total = (weights / distances).sum()
        if 2 * float((weights * np.log(distances * (total / size))).sum()) > limit:
            strong = middle
        else:
            weak = middle
    tilted = weights / (np.exp(weak) + shares)
    return float((tilted * shares).sum() / tilted.sum())


# Student's t is used if an interval this many times as wide stays within the bounds; less is enough without skew.
_FAR, _FAR_WITHOUT_SKEW = 3.5, 1.5
_LEAST_SKEW = 0.4
# Beyond this many rows the mean is close to normal, and a bootstrap-t would only take time.
_MOST_RESAMPLED = 2000
# Resamples of fewer rows have too few distinct values for a bootstrap-t.
_LEAST_RESAMPLED = 8
_RESAMPLES = 999
_ROUNDING = 1e-12


class Interval(NamedTuple):
    """Both ends of a confidence interval."""

    low: float
    high: float


def mean_interval(
    values: np.ndarray, level: float = 0.95, bounds: tuple[float | None, float | None] = (None, None)
) -> Interval | None:
    """The confidence interval of a mean. It covers what it claims also for few rows and skewed scores.

    Shares (bounds 0 and 1, each value one of them) get Wilson's interval. Other bounded scores get Student's t if it
    stays far from the bounds, and empirical likelihood otherwise. Scores without bounds get a bootstrap-t. None for a
    single row, and for equal values without bounds: nothing is known about their spread.
    """
    n = len(values)
    if n and bounds == (0.0, 1.0) and np.isin(values, (0.0, 1.0)).all():
        return wilson_interval(int(values.sum()), n, level)
    if n < 2:
        return None
    # Sorted: the order of the rows does not change the last digit.
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    # The deviation of equal values can differ from 0 by rounding.
    error = float(ordered.std(ddof=1)) / n**0.5 if ordered[-1] > ordered[0] else 0.0
    mean, reach = float(ordered.mean()), error * student_quantile(n - 1, (1 + level) / 2)
    low, high = bounds
    if low is None or high is None:
        return _unbounded_interval(ordered, mean, reach, level, bounds)
    far = (_FAR if _skew(ordered) >= _LEAST_SKEW else _FAR_WITHOUT_SKEW) * reach
    if far > 0 and low < mean - far and mean + far < high:
        return Interval(mean - reach, mean + reach)
    return Interval(*bounded_mean_ends(ordered, (low, high), level))


def _skew(values: np.ndarray) -> float:
    """The size of the skewness; 0 for equal values."""
    away = values - values.mean()
    scale = float((away**2).mean()) ** 1.5
    # Of tiny differences the power is 0.
    return abs(float((away**3).mean())) / scale if scale > 0 else 0.0


def _unbounded_interval(
    values: np.ndarray, mean: float, reach: float, level: float, bounds: tuple[float | None, float | None]
) -> Interval | None:
    if reach == 0:
        return None
    resampled = _LEAST_RESAMPLED <= len(values) <= _MOST_RESAMPLED
    ends = studentised_interval(mean, values, 0.0, level) if resampled else Interval(mean - reach, mean + reach)
    low, high = bounds
    return Interval(
        ends.low if low is None else max(low, ends.low), ends.high if high is None else min(high, ends.high)
    )


def studentised_interval(value: float, pseudo: np.ndarray, extra: float, level: float) -> Interval:
    """A bootstrap-t interval of the mean of these values, for skewed data; `extra` is variance from another source."""
    size, random = len(pseudo), np.random.default_rng(0)
    error = float(pseudo.var(ddof=1)) / size + extra
    if error <= (_ROUNDING * max(1.0, float(np.abs(pseudo).max()))) ** 2:
        return Interval(value, value)
    drawn = (pseudo - pseudo.mean())[random.integers(0, size, (_RESAMPLES, size))]
    means = drawn.mean(axis=1) + extra**0.5 * random.normal(size=_RESAMPLES)
    errors = np.sqrt(drawn.var(axis=1, ddof=1) / size + extra)
    # Of equal values rounding may leave a tiny error.
    varied = errors > _ROUNDING * error**0.5
    low, high = np.quantile(means[varied] / errors[varied], [(1 - level) / 2, (1 + level) / 2])
    # Never less than Student's t on the whole: resamples of few distinct labels can look too sure.
    least = 2 * student_quantile(effective_freedom(pseudo), (1 + level) / 2)
    stretch = max(1.0, least / (high - low)) if high > low else 1.0
    return Interval(value - float(high) * stretch * error**0.5, value - float(low) * stretch * error**0.5)


def effective_freedom(values: np.ndarray) -> float:
    """The degrees of freedom of the variance of these values: fewer if a few values make most of it (heavy tails)."""
    away = values - values.mean()
    spread = float((away**2).mean())
    tails = float((away**4).mean()) / spread**2 if spread > 0 else 0.0
    return max(2.0, min(len(values) - 1, 2 * len(values) / max(tails - 1, _ROUNDING)))


def unanimous_interval(value: float, n: int, bounds: tuple[float, float], level: float = 0.95) -> Interval:
    """The interval of a mean whose values are all equal.

    As many other values may exist as Wilson's interval allows if none was seen, as far away as the bounds permit.
    """
    others = wilson_interval(0, n, level).high
    low, high = bounds
    return Interval(value - others * (value - low), value + others * (high - value))


def wilson_interval(successes: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's score interval for a share."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    # At the ends, rounding may miss 0 or 1 by one ulp.
    return Interval(0.0 if successes == 0 else centre - reach, 1.0 if successes == n else centre + reach)


# `joint` needs more than p-values: the permutation test computes it.
Correction = Literal["joint", "holm", "bh", "none"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)


def exact_share_interval(successes: int, n: int, level: float = 0.95) -> Interval:
    """Clopper and Pearson's interval for a share: longer than Wilson's, and never wrong more often than stated."""
    tail = (1 - level) / 2
    low = beta_quantile(successes, n - successes + 1, tail) if successes else 0.0
    high = beta_quantile(successes + 1, n - successes, 1 - tail) if successes < n else 1.0
    return Interval(low, high)


def correct(p: np.ndarray, correction: Correction = "holm") -> np.ndarray:
    """The corrected p-values in the same order; nan means no test and stays nan."""
    if correction == "none":
        return p.copy()
    corrected = np.full(len(p), np.nan)
    tested = ~np.isnan(p)
    corrected[tested] = (holm if correction == "holm" else benjamini_hochberg)(p[tested])
    return corrected


def holm(p: np.ndarray) -> np.ndarray:
    """Holm: controls the probability of at least one false positive."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _in_place(np.minimum(steps, 1.0), order)


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg: controls the expected share of false positives among the positives."""
    order = np.argsort(p, kind="stable")
    steps = p[order] * len(p) / np.arange(1, len(p) + 1)
    return _in_place(np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0), order)


def _in_place(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    placed = np.empty(len(values))
    placed[order] = values
    return placed
