"""How far a mean can be trusted."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np


class Interval(NamedTuple):
    """Both ends of a confidence interval."""

    low: float
    high: float


def mean_interval(
    values: np.ndarray, level: float = 0.95, bounds: tuple[float | None, float | None] = (None, None)
) -> Interval | None:
    """The interval of a mean: Wilson's for shares (bounds 0 and 1, every value one of them), else Student's t, cut at the bounds.

    Wilson's keeps its width when all of a few rows agree, where t would claim certainty. A single row that
    is no share has no interval.
    """
    n = len(values)
    if n and bounds == (0.0, 1.0) and np.isin(values, (0.0, 1.0)).all():
        return wilson_interval(int(values.sum()), n, level)
    if n < 2:
        return None
    mean, error = float(values.mean()), float(values.std(ddof=1)) / n**0.5
    reach = error * student_quantile(n - 1, (1 + level) / 2)
    low, high = bounds
    return Interval(
        mean - reach if low is None else max(low, mean - reach),
        mean + reach if high is None else min(high, mean + reach),
    )


def unanimous_interval(value: float, n: int, bounds: tuple[float, float], level: float = 0.95) -> Interval:
    """The interval of a mean of which all values are the same: as many others may be as Wilson allows where none was seen.

    They may be as far off as the bounds let them.
    """
    others = wilson_interval(0, n, level).high
    low, high = bounds
    return Interval(value - others * (value - low), value + others * (high - value))


def wilson_interval(successes: int, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval for a share."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    # At the ends rounding may miss 0 or 1 by one ulp.
    return Interval(0.0 if successes == 0 else centre - reach, 1.0 if successes == n else centre + reach)


def student_quantile(freedom: float, probability: float) -> float:
    """The quantile of Student's t."""
    from scipy import special  # noqa: PLC0415  (takes longer to load than most runs; not everybody needs it)

    return float(special.stdtrit(freedom, probability))
