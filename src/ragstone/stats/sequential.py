"""A confidence sequence: its intervals are valid for all numbers of rows at once, so it can be checked after every row.

Two bettors bet against every possible mean, one that the values are higher, one that they are lower. A mean at which either
has multiplied the stake by 2 / (1 - level) is excluded (Waudby-Smith and Ramdas, Estimating means of bounded random
variables by betting, 2023: the hedged capital with predictable plug-in bets). Values must be bounded and in random order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from ragstone.stats.intervals import Interval

_GRID = 1001
# The largest share of the stake that a bet may lose.
_MOST = 0.75


class ConfidenceSequence:
    """Takes values one by one and gives the interval at any time."""

    def __init__(self, low: float = 0.0, high: float = 1.0, level: float = 0.95) -> None:
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"the values must be bounded, got {low} to {high}")
        self.count = 0
        self._low, self._range = low, high - low
        self._alpha = 1 - level
        self._candidates = np.linspace(0, 1, _GRID)
        # The log capital of both bettors at each candidate that is not excluded.
        self._capital = np.zeros((2, _GRID))
        self._sum, self._squares = 0.5, 0.25

    def add(self, values: Iterable[float]) -> Interval:
        """Add values and return the interval after them."""
        for value in values:
            self._bet((float(value) - self._low) / self._range)
        return self.interval

    @property
    def mean(self) -> float | None:
        """The mean so far."""
        return self._low + self._range * (self._sum - 0.5) / self.count if self.count else None

    @property
    def interval(self) -> Interval:
        """The interval of the mean; its ends are rounded outwards to a thousandth of the range."""
        if not len(self._candidates):
            # Only values that are not from one distribution exclude every candidate; nothing is guaranteed then.
            return Interval(self._low, self._low + self._range)
        step = 1 / (_GRID - 1)
        low, high = max(0.0, self._candidates[0] - step), min(1.0, self._candidates[-1] + step)
        return Interval(self._low + self._range * float(low), self._low + self._range * float(high))

    def _bet(self, value: float) -> None:
        if not -1e-9 <= value <= 1 + 1e-9:
            raise ValueError("a value is out of bounds")
        self.count += 1
        # The bet only depends on earlier values.
        variance = self._squares / self.count
        bet = math.sqrt(2 * math.log(2 / self._alpha) / (variance * self.count * math.log(1 + self.count)))
        away = value - self._candidates
        with np.errstate(divide="ignore"):
            self._capital[0] += np.log1p(np.minimum(bet, _MOST / self._candidates) * away)
            self._capital[1] += np.log1p(-np.minimum(bet, _MOST / (1 - self._candidates)) * away)
        inside = self._capital.max(axis=0) < math.log(2 / self._alpha)
        if not inside.all():
            # An excluded candidate stays excluded.
            self._candidates, self._capital = self._candidates[inside], self._capital[:, inside]
        self._sum += value
        self._squares += (value - self._sum / (self.count + 1)) ** 2


def watch_mean(
    values: Iterable[float], low: float = 0.0, high: float = 1.0, level: float = 0.95
) -> Iterator[tuple[int, float, Interval]]:
    """After each value: the number of values, their mean, and the interval that is valid at any time."""
    sequence = ConfidenceSequence(low, high, level)
    for value in values:
        interval = sequence.add([value])
        yield sequence.count, sequence.mean or 0.0, interval


# The variance of the effect size, in standard deviations, that the bets expect.
_PRIOR_VARIANCE = 1.0


def any_time_interval(
    values: np.ndarray, level: float = 0.95, bounds: tuple[float, float] = (-math.inf, math.inf)
) -> Interval | None:
    """The interval of a mean at a number of rows that may depend on the rows, such as where a sequential test stopped.

    The t-test with a Gaussian mixture over the effect size (Lai 1976; Wang and Ramdas 2023): exact for normal values, near to
    it for means of several bounded scores. Equal values with finite bounds get the confidence sequence of their bounds. None
    if there is nothing to tell: fewer than two rows, or too few for a finite end.
    """
    count = len(values)
    if count < 2:
        return None
    low, high = bounds
    mean, variance = float(np.mean(values)), float(np.var(values))
    if variance <= 1e-18:
        finite = math.isfinite(low) and math.isfinite(high) and low < high
        return ConfidenceSequence(low, high, level).add(values.tolist()) if finite else None
    shrunk = count + 1 / _PRIOR_VARIANCE
    kept = ((1 - level) ** 2 / (_PRIOR_VARIANCE * shrunk)) ** (1 / count)
    share = (1 - kept) * shrunk / count
    if share >= 1:
        return Interval(low, high) if math.isfinite(low) and math.isfinite(high) else None
    reach = math.sqrt(variance * share / (1 - share))
    return Interval(max(low, mean - reach), min(high, mean + reach))
