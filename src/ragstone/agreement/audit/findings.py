"""One bias as it was found: a number with its interval, a verdict in a word, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ragstone.stats.intervals import Interval, wilson_interval
from ragstone.stats.resampled import estimate_mean

# `unclear`: too few were decided to say either.
Verdict = Literal["fair", "biased", "unclear", "for information", "not tested"]
LEAST = 8


@dataclass(frozen=True)
class Finding:
    """What was measured, what a fair judge would have, and what it means."""

    name: str
    words: str
    value: float | None
    interval: Interval | None
    fair: float
    n: int
    verdict: Verdict
    advice: str


def judge_share(
    name: str,
    words: str,
    values: np.ndarray,
    *,
    fair: float,
    advice: str,
    both_ways: bool = False,
    informs: bool = False,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Finding:
    """A mean that a fair judge has at `fair`; more is a bias, and less too where both ways are one."""
    if len(values) < LEAST:
        return _too_few(name, words, values, fair)
    found = estimate_mean(values, np.arange(len(values)), bounds, level)
    low, high = found.interval or (fair, fair)
    biased = low > fair or (both_ways and high < fair)
    verdict: Verdict = "for information" if informs else "biased" if biased else "fair"
    return Finding(name, words, found.value, found.interval, fair, len(values), verdict, advice if biased else "")


def judge_rate(
    name: str, words: str, bad: int, n: int, *, bearable: float, advice: str, why: str | None = None
) -> Finding:
    """How often something happens that should not; a bias where it is certainly more often than can be borne.

    `why` is why most of the others were not decided.
    """
    if n < LEAST:
        return _too_few(name, words, np.array([1.0] * bad + [0.0] * (n - bad)), 0.0, why)
    interval = wilson_interval(bad, n)
    biased = interval.low > bearable
    return Finding(name, words, bad / n, interval, 0.0, n, "biased" if biased else "fair", advice if biased else "")


def untested(name: str, words: str, why: str) -> Finding:
    """What could not be tried, and what it would take."""
    return Finding(name, words, None, None, 0.0, 0, "not tested", why)


def _too_few(name: str, words: str, values: np.ndarray, fair: float, why: str | None = None) -> Finding:
    value, n = float(values.mean()) if len(values) else None, len(values)
    decided = "none was decided" if not n else f"only {n} {'was' if n == 1 else 'were'} decided"
    told = f"{decided}; it takes {LEAST} or more." + (f" Why not, most often: {why}" if why else "")
    return Finding(name, words, value, None, fair, n, "unclear", told)
