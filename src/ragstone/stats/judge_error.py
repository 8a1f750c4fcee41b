"""Estimated human scores, given the mean of a judge whose error was measured on other domains.

A judge gives rows that people accept a higher value than others, in every domain a little differently. If people accept the
share p of a run's rows, the judge's mean is expected at p × accepted + (1 - p) × refused: both means come from the measured
domains (random effects, DerSimonian and Laird 1986), with their spread between domains. `people` inverts this: the
distribution of p given the judge's mean, every p being equally likely before. The mean error itself (people less judge) would
be no correction: it depends on p, and even its sign differs between good and bad systems. Both levels rise with the words that
claims share with their texts: they are moved to the word coverage of the run, or are uncertain by its spread if it is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ragstone.stats.intervals import Interval

_STEPS = 1000
# With fewer domains, their spread cannot be estimated.
LEAST_DOMAINS = 5
# With fewer labelled inputs of a side, its level cannot be estimated.
LEAST_LABELLED = 6
_NORMAL = 1.959964


class Labelled(NamedTuple):
    """The judge's values in one domain, and which of the rows people accept."""

    values: np.ndarray
    accepted: np.ndarray
    # Word coverage per row, if the judge's values depend on it.
    coverage: np.ndarray | None = None


@dataclass(frozen=True)
class Level:
    """The judge's mean value over the domains: its standard error, and the standard deviation between domains."""

    mean: float
    error: float
    between: float
    domains: int
    # Change of the mean per unit of word coverage, and the standard deviation of this change between kinds of data.
    slope: float = 0.0
    slope_spread: float = 0.0


class People(NamedTuple):
    """The shares that people may accept and how likely each is."""

    shares: np.ndarray
    chances: np.ndarray

    @property
    def mean(self) -> float:
        """The expected share."""
        return float((self.shares * self.chances).sum())

    def interval(self, level: float = 0.95) -> Interval:
        """The shortest interval with this probability."""
        order = np.argsort(-self.chances, kind="stable")
        inside = order[: int(np.searchsorted(np.cumsum(self.chances[order]), level)) + 1]
        return Interval(float(self.shares[inside].min()), float(self.shares[inside].max()))

    def chance_between(self, low: float, high: float) -> float:
        """The probability that the share is between two values."""
        return float(self.chances[(self.shares >= low - 1e-9) & (self.shares <= high + 1e-9)].sum())


@dataclass(frozen=True)
class JudgeError:
    """How a judge's values depend on what people say, measured on several domains."""

    accepted: Level
    refused: Level
    # Covariance of both levels between domains.
    covariance: float = 0.0
    # Word coverage at which the levels were measured, and its standard deviation between rows.
    coverage: float = 0.0
    spread: float = 0.0
    # Weight of coverage in what a verdict counts, and the evidence with the verdicts of the metric.
    weight: float = 0.0
    evidence: str = ""

    def coverage_in(self, totals: Mapping[str, Any]) -> float | None:
        """The word coverage of a run: a third mean of its verdicts on chunks; others count a mean of support and coverage."""
        means = (totals.get("local_means") or {}).get(self.evidence)
        if means is None or not self.weight:
            return None
        return float(means[2]) if len(means) > 2 else word_coverage(means[0], means[1], self.weight)

    def people(self, mean: float, low: float, high: float, coverage: float | None = None) -> People:
        """The estimated human scores of a run, given the mean of the judge and its 95 % interval (sampling of rows)."""
        shares = np.linspace(0.0, 1.0, _STEPS + 1)
        yes, no = self.accepted, self.refused
        moved = 0.0 if coverage is None else coverage - self.coverage
        slopes = no.slope + shares * (yes.slope - no.slope)
        variance = (
            ((high - low) / 2 / _NORMAL) ** 2
            + shares**2 * (yes.between**2 + yes.error**2)
            + (1 - shares) ** 2 * (no.between**2 + no.error**2)
            + 2 * shares * (1 - shares) * self.covariance
            + (slopes * (self.spread if coverage is None else moved / 4)) ** 2
            + ((no.slope_spread + shares * (yes.slope_spread - no.slope_spread)) * moved) ** 2
        )
        scale = np.sqrt(np.maximum(variance, 1e-8))
        expected = np.clip(no.mean + shares * (yes.mean - no.mean) + slopes * moved, 0.0, 1.0)
        away = (mean - expected) / scale
        freedom = max(1, min(yes.domains, no.domains) - 2)
        # Student's t, up to a factor; in logarithms, so that means far from all domains do not vanish.
        density = -(freedom + 1) / 2 * np.log1p(away**2 / freedom) - np.log(scale)
        chances = np.exp(density - density.max())
        return People(shares, chances / chances.sum())

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_labels(
        cls, values: np.ndarray, accepted: np.ndarray, groups: np.ndarray, between: float
    ) -> JudgeError | None:
        """The error of a judge from labels of one kind of data; None if there are too few, or if it separates nothing.

        Values of one group (the answers to an input) count as one. `between` is what the levels are assumed to differ by
        on other data. Half a value of 0 and half of 1 are added to each side: ten right verdicts do not prove that none
        is wrong.
        """
        sides = [_measure_level(values[accepted == side], groups[accepted == side], between) for side in (True, False)]
        yes, no = sides
        return cls(yes, no) if yes and no and yes.mean > no.mean else None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> JudgeError:
        """Read what `as_dict` wrote."""
        yes, no = (_read_level(data[name]) for name in ("accepted", "refused"))
        numbers = {name: float(data.get(name, 0.0)) for name in ("coverage", "spread", "weight")}
        return cls(yes, no, float(data["covariance"]), **numbers, evidence=str(data.get("evidence", "")))


def word_coverage(support: float, counted: float, weight: float) -> float:
    """The word coverage of verdicts, from their mean support and what they count: a mean of both with this weight."""
    return min(1.0, max(0.0, (counted - (1.0 - weight) * support) / weight))


def _read_level(data: Mapping[str, Any]) -> Level:
    slopes = (float(data.get(name, 0.0)) for name in ("slope", "slope_spread"))
    return Level(float(data["mean"]), float(data["error"]), float(data["between"]), int(data["domains"]), *slopes)


def _measure_level(values: np.ndarray, groups: np.ndarray, between: float) -> Level | None:
    inputs = len(np.unique(groups))
    if inputs < LEAST_LABELLED:
        return None
    mean = (float(values.sum()) + 0.5) / (len(values) + 1)
    squares = float(((values - mean) ** 2).sum()) + (mean**2 + (1 - mean) ** 2) / 2
    return Level(mean, (squares / len(values) / inputs) ** 0.5, between, inputs)


def fit_error(domains: Sequence[Labelled]) -> JudgeError | None:
    """The error of a judge from its values in several domains; None if there are too few, or if it separates nothing."""
    if any(domain.coverage is not None for domain in domains):
        return _fit_with_coverage(domains)
    sides = [[domain.values[domain.accepted == wanted] for domain in domains] for wanted in (True, False)]
    if min(sum(len(values) > 0 for values in side) for side in sides) < LEAST_DOMAINS:
        return None
    (yes, yes_means, yes_noise), (no, no_means, no_noise) = map(_level, sides)
    if yes.mean <= no.mean:
        return None
    both = ~np.isnan(yes_means) & ~np.isnan(no_means)
    weights = 1 / (yes.between**2 + no.between**2 + yes_noise[both] + no_noise[both])
    most = yes.between * no.between
    covariance = np.average((yes_means[both] - yes.mean) * (no_means[both] - no.mean), weights=weights)
    return JudgeError(yes, no, float(np.clip(covariance, -most, most)))


def _fit_with_coverage(domains: Sequence[Labelled]) -> JudgeError | None:
    """The error at the mean coverage: values are moved there by the slope of their side before the levels are measured."""
    values, accepted, coverage = (np.concatenate([getattr(one, name) for one in domains]) for name in Labelled._fields)
    middle, moved, slopes = float(coverage.mean()), values.astype(float), []
    for wanted in (True, False):
        own = accepted == wanted
        away = coverage[own] - coverage[own].mean() if own.any() else np.zeros(0)
        slope = float(away @ values[own] / (away @ away)) if len(away) and away.any() else 0.0
        moved[own] -= slope * (coverage[own] - middle)
        slopes.append(slope)
    ends = np.cumsum([len(one.values) for one in domains])[:-1]
    parts = zip(np.split(moved, ends), np.split(accepted, ends), strict=True)
    error = fit_error([Labelled(*part) for part in parts])
    if error is None:
        return None
    yes, no = (
        replace(level, slope=slope) for level, slope in zip((error.accepted, error.refused), slopes, strict=True)
    )
    return JudgeError(yes, no, error.covariance, middle, float(coverage.std()))


def _level(values: Sequence[np.ndarray]) -> tuple[Level, np.ndarray, np.ndarray]:
    """The level, and per domain the mean (nan without rows) and its sampling variance.

    The variance of single rows is that of all domains together: some domains have one row.
    """
    present = [part for part in values if len(part)]
    freedom = max(1, sum(map(len, present)) - len(present))
    spread = sum(float(((part - part.mean()) ** 2).sum()) for part in present) / freedom
    means = np.array([part.mean() if len(part) else np.nan for part in values])
    noise = np.array([max(spread, 1e-6) / len(part) if len(part) else np.nan for part in values])
    own, variance = means[~np.isnan(means)], noise[~np.isnan(means)]
    weights = 1 / variance
    first = np.average(own, weights=weights)
    excess = float((weights * (own - first) ** 2).sum()) - (len(own) - 1)
    between = max(0.0, excess / float(weights.sum() - (weights**2).sum() / weights.sum()))
    weights = 1 / (variance + between)
    level = Level(float(np.average(own, weights=weights)), float(weights.sum() ** -0.5), between**0.5, len(own))
    return level, means, noise
