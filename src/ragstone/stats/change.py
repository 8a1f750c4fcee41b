"""A change-point alarm over a series of means, for few rows per period, unequal sizes and scores that are mostly 0 or 1.

After each period, every earlier period is tried as the last one before a change. The mean before and the mean after are compared by
a likelihood ratio; the largest over all splits must pass a limit. So the level before a change need not be known, its uncertainty is
part of the test, and a slow drift is found as well as a jump.

- A period counts for as many independent rows as its design leaves it. The variance of a stratum is taken from all its periods, since
  a few rows that agree would otherwise look certain.
- Scores between two bounds use the likelihood of shares, which follows the skew near a bound; other scores use a normal one.
- If neighbouring periods differ more than their rows explain, all sizes are divided by that factor.

The limit comes from simulated normal series without a change, two years long, in which the split is searched in the last year:
in the second year, one with an alarm beyond the limit h has the probability `_RATE` · periods per year · h · exp(-h²/2).
The periods must be independent: a level that wanders by itself raises the rate of false alarms.
`tests/stats/test_change.py` simulates both rates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Bounds = tuple[float | None, float | None]
# Fitted to the maxima of 200,000 series of weeks and 30,000 of days, with splits from the third period on.
_RATE = 0.45
# No alarm from fewer rows and periods than these, before and after the change.
LEAST_PERIODS_BEFORE = 5
LEAST_ROWS_BEFORE = 50
LEAST_ROWS_AFTER = 20


class PeriodSums(NamedTuple):
    """One row per period, one column per stratum: rows with a score, their sum and sum of squares, and all requests."""

    counts: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    requests: np.ndarray


@dataclass(frozen=True)
class Change:
    """An alarm after period `at`: the mean seems to have changed from period `since` on.

    `strength` is the signed likelihood-ratio root (negative: lower). `chance` is the probability that a series without a change
    gets so far in a year, corrected for the number of series.
    """

    at: int
    since: int
    before: float
    after: float
    strength: float
    chance: float


def false_alarm_chance(strength: float, per_year: int, series: int = 1) -> float:
    """The probability that one of `series` series without a change reaches this strength within a year."""
    size = max(abs(strength), 1.0)
    return min(1.0, series * _RATE * per_year * size * math.exp(-size * size / 2))


def alarm_limit(per_year: int, series: int = 1, chance: float = 0.05) -> float:
    """The strength with this probability of a false alarm per year, in any of the series."""
    low, high = 1.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if false_alarm_chance(middle, per_year, series) > chance else (low, middle)
    return high


def find_changes(
    periods: PeriodSums, bounds: Bounds = (None, None), per_year: int = 365, series: int = 1, chance: float = 0.05
) -> list[Change]:
    """All alarms, oldest first. After an alarm the periods since the change are the new level.

    `series` is the number of series (metrics) watched together: the probability of a false alarm is for all of them.
    """
    low, high = bounds
    if low is not None and high is not None:
        # The sums of scores between 0 and 1
        counts, sums, squares, requests = periods
        width = high - low
        moved = squares - 2 * low * sums + low**2 * counts
        periods = PeriodSums(counts, (sums - low * counts) / width, moved / width**2, requests)
    scale = (low, high - low) if low is not None and high is not None else None
    table = _Table.make(periods, bounded=scale is not None)
    limit, start, found = alarm_limit(per_year, series, chance), 0, []
    for now in range(len(periods.counts)):
        best = table.scan(max(start, now + 1 - per_year), now + 1)
        if best is None or abs(best.strength) < limit:
            continue
        before, after = (scale[0] + scale[1] * level if scale else level for level in (best.before, best.after))
        odds = false_alarm_chance(best.strength, per_year, series)
        found.append(Change(now, best.since, before, after, best.strength, odds))
        start = best.since
    return found


class _Split(NamedTuple):
    since: int
    before: float
    after: float
    strength: float


class _Table(NamedTuple):
    """The parts that do not depend on the split: the mean of each period, the shares of its strata, and its effective rows."""

    periods: PeriodSums
    bounded: bool
    means: np.ndarray
    # Squared shares of the strata among the requests, divided by the rows: times the variances they give that of the mean.
    factors: np.ndarray
    rows: np.ndarray

    @classmethod
    def make(cls, periods: PeriodSums, bounded: bool) -> _Table:
        counts = np.maximum(periods.counts, 1)
        requests = np.where(periods.counts > 0, periods.requests, 0.0)
        shares = requests / np.maximum(requests.sum(axis=1, keepdims=True), 1e-300)
        factors = shares**2 / counts
        total = factors.sum(axis=1)
        # Kish: never more than the rows that there are.
        worth = np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0)
        return cls(periods, bounded, (shares * periods.sums / counts).sum(axis=1), factors, worth)

    def scan(self, start: int, end: int) -> _Split | None:
        """The strongest split of the periods from start to end; None if there are too few rows."""
        used = start + np.flatnonzero(self.rows[start:end] > 0)
        reached = np.cumsum(self.rows[used])
        if len(used) <= LEAST_PERIODS_BEFORE or reached[-1] < LEAST_ROWS_BEFORE + LEAST_ROWS_AFTER:
            return None
        splits = np.arange(LEAST_PERIODS_BEFORE, len(used))
        splits = splits[
            (reached[splits - 1] >= LEAST_ROWS_BEFORE) & (reached[-1] - reached[splits - 1] >= LEAST_ROWS_AFTER)
        ]
        if not len(splits):
            return None
        variances = self.factors[used] @ self._spreads(used)
        size, means = 1 / variances, self.means[used]
        sizes, sums = np.cumsum(size), np.cumsum(size * means)
        size_1, size_2 = sizes[splits - 1], sizes[-1] - sizes[splits - 1]
        before, after, level = sums[splits - 1] / size_1, (sums[-1] - sums[splits - 1]) / size_2, sums[-1] / sizes[-1]
        if self.bounded:
            # Sizes as numbers of rows that are 0 or 1 with this mean.
            centre = (level * reached[-1] + 0.5) / (reached[-1] + 1)
            unit = centre * (1 - centre)
            gain = size_1 * _share_loss(before, level) + size_2 * _share_loss(after, level)
            squared = 2 * unit * gain
        else:
            squared = size_1 * (before - level) ** 2 + size_2 * (after - level) ** 2
        squared = squared / _overdispersion(means, variances)[splits - 1]
        best = int(np.argmax(squared))
        strength = math.copysign(math.sqrt(max(0.0, float(squared[best]))), float(after[best] - before[best]))
        return _Split(int(used[splits[best]]), float(before[best]), float(after[best]), strength)

    def _spreads(self, used: np.ndarray) -> np.ndarray:
        """The variance of each stratum over these periods; half a row at each bound keeps it above 0."""
        counts, sums, squares = (np.asarray(part[used].sum(axis=0)) for part in self.periods[:3])
        if self.bounded:
            counts, sums, squares = counts + 1, sums + 0.5, squares + 0.5
        size = np.maximum(counts, 1)
        spreads = np.maximum(squares / size - (sums / size) ** 2, 0.0)
        if self.bounded:
            return np.asarray(spreads)
        spreads *= size / np.maximum(size - 1, 1)
        # A stratum with a single row, or equal rows, gets the spread of all.
        square = float(squares.sum() / max(counts.sum(), 1))
        everything = square - float(sums.sum() / max(counts.sum(), 1)) ** 2
        # Of equal values rounding leaves a tiny spread; a smaller one would make rounding a change.
        least = max(_ROUNDING * square, 1e-300)
        return np.where(spreads > least, spreads, max(everything, least))


def _share_loss(share: np.ndarray, level: float) -> np.ndarray:
    """The Kullback-Leibler divergence of shares from a level."""
    share, level = np.clip(share, 0.0, 1.0), min(max(level, 1e-12), 1 - 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        ones = np.where(share > 0, share * np.log(share / level), 0.0)
        zeros = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - level)), 0.0)
    return np.asarray(ones + zeros)


# The share of the mean square that rounding may leave of a variance of 0.
_ROUNDING = 1e-13
# Standard errors that are added to an estimated overdispersion, since it is uncertain for few periods.
_DOUBT = 2.5


def _overdispersion(means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """How many times more than by their variances neighbouring periods differ, at least 1; one number for each pair left out.

    The pair at a split is left out: it has the change that is tested.
    """
    squares = np.diff(means) ** 2 / (variances[1:] + variances[:-1])
    others = len(squares) - 1
    freedom = 2 / 3 * others
    return np.asarray(np.maximum(1.0, (squares.sum() - squares) / others * (1 + _DOUBT / math.sqrt(freedom))))
