"""What changed from one run to another: every metric in pairs, with an interval, a corrected p and a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ragstone.stats.bootstrap import RESAMPLES, bootstrap_means
from ragstone.stats.corrections import Correction, correct
from ragstone.stats.intervals import Interval
from ragstone.stats.paired import Tally, share_difference_interval, standardised_difference, superiority, tally
from ragstone.stats.permutation import flip_signs
from ragstone.stats.power import detectable_effect
from ragstone.storage.scores import FAILED, Scores

Verdict = Literal["better", "worse", "no evidence", "too few rows"]
ALPHA = 0.05
# With fewer pairs not even a change in every one of them reaches the level: 2 / 2^5 is above 0.05.
LEAST_PAIRS = 6
EQUAL = "all pairs are equal"


@dataclass(frozen=True)
class Settings:
    """How a comparison is made."""

    level: float = 1 - ALPHA
    correction: Correction = "joint"
    resamples: int = RESAMPLES
    seed: int = 0
    cluster: str | None = None


@dataclass(frozen=True)
class Difference:
    """One metric in both runs, over the pairs in which both have a value; after minus before."""

    metric: str
    better: str
    bounds: tuple[float | None, float | None]
    pairs: int
    skipped: int
    failed: int
    before: float | None = None
    after: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    # Corrected for the metrics that were measured with it, if it is a mean of rows.
    joint_p: float | None = None
    corrected_p: float | None = None
    verdict: Verdict | None = None
    # What is drawn at random: pairs, or clusters of them.
    units: int = 0
    detectable: float | None = None
    effect: float | None = None
    superiority: float | None = None
    tally: Tally | None = None
    note: str = ""

    @property
    def tested(self) -> bool:
        """Whether it belongs to the tests among which a false alarm is to be rare."""
        return self.better != "none" and self.p is not None and self.units >= LEAST_PAIRS

    @property
    def gain(self) -> float | None:
        """The difference with the sign that more is better."""
        if self.difference is None or self.better == "none":
            return None
        return -self.difference if self.better == "lower" else self.difference

    @property
    def gain_interval(self) -> Interval | None:
        """The interval of the gain."""
        if self.low is None or self.high is None or self.better == "none":
            return None
        return Interval(-self.high, -self.low) if self.better == "lower" else Interval(self.low, self.high)


def measure(
    metrics: Sequence[Mapping[str, Any]],
    before: Mapping[str, Scores],
    after: Mapping[str, Scores],
    settings: Settings,
    clusters: np.ndarray | None = None,
) -> list[Difference]:
    """All metrics whose rows can be averaged, without verdicts: those follow when all tests are known."""
    if not metrics:
        return []
    names = [metric["metric"] for metric in metrics]
    changes = np.column_stack([after[name].values - before[name].values for name in names])
    intervals = bootstrap_means(
        changes, settings.level, clusters=clusters, resamples=settings.resamples, seed=settings.seed
    )
    family = np.array([metric["better"] != "none" for metric in metrics])
    chances = flip_signs(changes, clusters, family, settings.resamples, settings.seed)
    found = []
    for column, (name, metric) in enumerate(zip(names, metrics, strict=True)):
        item = _describe(metric, before[name], after[name], changes[:, column], clusters)
        shares = _of_shares(metric, before[name], after[name], clusters, settings)
        low, high = _ends(shares or intervals[column], float(chances.p[column]), settings)
        p, joint_p = _number(chances.p[column]), _number(chances.joint[column])
        found.append(replace(item, low=low, high=high, p=p, joint_p=joint_p))
    return found


def start(metric: Mapping[str, Any], before: Scores, after: Scores) -> Difference:
    """What is known of a metric before anything is computed: how many pairs have both values, and why others do not."""
    both = ~np.isnan(before.values + after.values)
    failed = ~both & ((before.states == FAILED) | (after.states == FAILED))
    pairs, lost = int(np.count_nonzero(both)), int(np.count_nonzero(failed))
    low, high = metric["bounds"]
    return Difference(
        metric=metric["metric"],
        better=metric["better"],
        bounds=(low, high),
        pairs=pairs,
        skipped=len(both) - pairs - lost,
        failed=lost,
        units=pairs,
    )


def _describe(
    metric: Mapping[str, Any],
    before: Scores,
    after: Scores,
    changes: np.ndarray,
    clusters: np.ndarray | None,
) -> Difference:
    found = start(metric, before, after)
    if not found.pairs:
        return replace(found, note="no sample has a value in both runs")
    both = ~np.isnan(changes)
    units = len(set(clusters[both])) if clusters is not None else found.pairs
    kept = changes[both]
    equal = not kept.any()
    return replace(
        found,
        units=units,
        before=float(before.values[both].mean()),
        after=float(after.values[both].mean()),
        difference=float(kept.mean()),
        detectable=None if clusters is not None or equal else _detectable(kept),
        effect=standardised_difference(kept),
        superiority=superiority(kept),
        tally=tally(kept),
        note=EQUAL if equal else "",
    )


def _of_shares(
    metric: Mapping[str, Any], before: Scores, after: Scores, clusters: np.ndarray | None, settings: Settings
) -> Interval | None:
    """The interval for metrics that are 0 or 1 in every row."""
    both = ~np.isnan(before.values + after.values)
    values = np.concatenate([before.values[both], after.values[both]])
    if clusters is not None or list(metric["bounds"]) != [0.0, 1.0] or not np.isin(values, (0.0, 1.0)).all():
        return None
    return share_difference_interval(before.values, after.values, settings.level)


def _ends(interval: Interval | None, p: float, settings: Settings) -> tuple[float | None, float | None]:
    """Both ends; where the exact test does not rule out 0, nor does the interval: a bootstrap of few changed rows might."""
    if interval is None:
        return None, None
    if p >= 1 - settings.level:
        return min(0.0, interval.low), max(0.0, interval.high)
    return interval


def _detectable(changes: np.ndarray) -> float | None:
    return detectable_effect(float(changes.std(ddof=1)), len(changes), ALPHA) if len(changes) > 2 else None


def judge(groups: Sequence[Sequence[Difference]], settings: Settings) -> list[list[Difference]]:
    """The same with corrected p and verdicts; all of them count as one family of tests, each group was measured together."""
    tested = [np.array([item.p if item.tested else np.nan for item in group], dtype=float) for group in groups]
    tests = sum(int(np.count_nonzero(~np.isnan(p))) for p in tested)
    if settings.correction == "joint":
        corrected = [_jointly(group, p, tests) for group, p in zip(groups, tested, strict=True)]
    else:
        every = correct(np.concatenate([*tested, np.zeros(0)]), settings.correction)
        corrected = np.split(every, np.cumsum([len(group) for group in groups])[:-1])
    # The least p that pairs can reach is multiplied by the number of tests where nothing is known of their kinship.
    times = tests if settings.correction == "holm" else 1
    return [
        [
            replace(item, corrected_p=_number(p), verdict=_verdict(item, p, times, 1 - settings.level))
            for item, p in zip(group, found, strict=True)
        ]
        for group, found in zip(groups, corrected, strict=True)
    ]


def _jointly(group: Sequence[Difference], p: np.ndarray, tests: int) -> np.ndarray:
    """Means by their joint p, other scores by Holm; each lot gets its share of the level by its size."""
    joint = np.array([np.nan if item.joint_p is None else item.joint_p for item in group], dtype=float)
    alone = np.where(np.isnan(joint), p, np.nan)
    together = np.where(np.isnan(p), np.nan, joint)
    corrected = np.full(len(group), np.nan)
    for lot in (together, correct(alone, "holm")):
        there = ~np.isnan(lot)
        corrected[there] = np.minimum(lot[there] * tests / max(1, np.count_nonzero(there)), 1.0)
    return corrected


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _verdict(item: Difference, corrected_p: float, tests: int, alpha: float) -> Verdict | None:
    if item.better == "none":
        return None
    # Not even a change in all pairs would count: there are 2^units ways to set their signs.
    if not item.tested or 2.0 ** (1 - item.units) * tests > alpha:
        return "too few rows"
    if corrected_p >= alpha or not item.gain:
        return "no evidence"
    return "better" if item.gain > 0 else "worse"
