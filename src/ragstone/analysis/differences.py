"""Differences between two runs: paired tests of every metric, with an interval, a corrected p and a verdict.

Corpus-level metrics (BLEU, Distinct-n) are compared by the statistics stored per row.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.alignment import Alignment
from ragstone.engine.metric_choice import find_metric
from ragstone.errors import UsageError
from ragstone.stats.bootstrap import RESAMPLES, bootstrap_means
from ragstone.stats.intervals import Correction, Interval, correct
from ragstone.stats.paired import (
    Compared,
    Tally,
    compare_rows,
    compare_sums,
    flip_signs,
    pairs_to_differ,
    share_difference_interval,
    standardised_difference,
    superiority,
    tally,
)
from ragstone.stats.power import detectable_effect, rows_needed
from ragstone.stats.quantiles import compare_quantiles, quantile_of
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import FAILED, SKIPPED, Scores, default_cluster, unless_nan

Verdict = Literal["better", "worse", "no evidence", "too few rows"]
ALPHA = 0.05
# With fewer pairs, even a change in every pair is not significant: 2 / 2^5 is above 0.05.
LEAST_PAIRS = 6
EQUAL = "all pairs are equal"
NO_CLUSTER = "none"
# By how much the mean of a local judge changes if a new version gives the same right answers in other words: standard deviation
# between assistants, by evidence (docs/comparing.md). Rows do not show it, because they change together.
REWORDING = {
    "claims_in_contexts": 0.07,
    "reference_matches": 0.07,
    "answer_claims_in_reference": 0.11,
    "reference_claims_in_answer": 0.11,
}
# Standard deviations in half of a 95 % interval; the smallest p of a permutation test.
_REACH = NormalDist().inv_cdf(1 - ALPHA / 2)
_LEAST_P = 1e-12


@dataclass(frozen=True)
class Settings:
    """The statistical settings of a comparison."""

    level: float = 1 - ALPHA
    correction: Correction = "joint"
    resamples: int = RESAMPLES
    seed: int = 0
    # A column whose equal values are resampled together; None: conversations if the data has any. `none` is for single rows.
    cluster: str | None = None

    def for_run(self, run: Run) -> Settings:
        """The settings with the column that the data suggests; None if rows are resampled one by one."""
        if self.cluster == NO_CLUSTER:
            return replace(self, cluster=None)
        return self if self.cluster else replace(self, cluster=default_cluster(run))


@dataclass(frozen=True)
class Difference:
    """One metric in both runs, over the pairs with two values; after minus before."""

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
    # Corrected jointly for the metrics of its group, if it is a mean of rows.
    joint_p: float | None = None
    corrected_p: float | None = None
    verdict: Verdict | None = None
    # The number of resampled units: pairs or clusters.
    units: int = 0
    detectable: float | None = None
    effect: float | None = None
    superiority: float | None = None
    tally: Tally | None = None
    note: str = ""
    # The pairs that only one of the runs skipped.
    skipped_before: int = 0
    skipped_after: int = 0
    # Standard deviation of what other words alone change, in the interval and both p; 0 for metrics without a local judge.
    rewording: float = 0.0

    @property
    def tested(self) -> bool:
        """Whether it belongs to the family of tests that is corrected."""
        return self.better != "none" and self.p is not None and self.units >= LEAST_PAIRS

    @property
    def gain(self) -> float | None:
        """The difference, positive for an improvement."""
        if self.difference is None or self.better == "none":
            return None
        return -self.difference if self.better == "lower" else self.difference

    @property
    def enough_pairs(self) -> int | None:
        """About how many pairs would show the difference, if it stays and this were the only metric; None if unknown."""
        if self.verdict not in ("no evidence", "too few rows") or not self.effect or self.units < self.pairs:
            return None
        # The effect is the difference in standard deviations. More pairs do not make the judge more exact.
        exact = 1.0
        if self.rewording:
            exact -= (_REACH * self.rewording / (abs(self.difference or 0.0) or math.inf)) ** 2
            if self.difference is None or exact <= 0:
                return None
        needed = rows_needed(1.0, math.sqrt(exact) * abs(self.effect))
        if self.tally and math.isclose(
            abs(self.difference or 0) * self.pairs, abs(self.tally.higher - self.tally.lower)
        ):
            # Every change is 1 or -1: the test of such changes needs more pairs.
            needed = pairs_to_differ(self.tally, 10_000_000)
        return max(needed, self.pairs + 1)

    @property
    def gain_interval(self) -> Interval | None:
        """The interval of the gain."""
        if self.low is None or self.high is None or self.better == "none":
            return None
        return Interval(-self.high, -self.low) if self.better == "lower" else Interval(self.low, self.high)


def measure(
    metrics: Sequence[MetricInfo],
    before: Mapping[str, Scores],
    after: Mapping[str, Scores],
    settings: Settings,
    clusters: np.ndarray | None = None,
    first: Collection[str] = (),
) -> list[Difference]:
    """All metrics that are means of rows, without verdicts; `judge` adds them once all tests are known.

    The metrics named `first` are a family of tests of their own. All intervals are from the same resamples.
    """
    if not metrics:
        return []
    names = [metric.metric for metric in metrics]
    changes = np.column_stack([after[name].values - before[name].values for name in names])
    described = [
        _describe(metric, before[metric.metric], after[metric.metric], changes[:, column], clusters)
        for column, metric in enumerate(metrics)
    ]
    # Runs with the same scores differ by 0 in every kind of metric.
    known = [
        Interval(0.0, 0.0) if item.note == EQUAL else _of_shares(metric, before[name], after[name], clusters, settings)
        for name, metric, item in zip(names, metrics, described, strict=True)
    ]
    drawn = [column for column, interval in enumerate(known) if interval is None]
    intervals: list[Interval | None] = list(known)
    if drawn:
        ends = bootstrap_means(
            changes[:, drawn], settings.level, "expanded", clusters, settings.resamples, settings.seed
        )
        for column, interval in zip(drawn, ends, strict=True):
            intervals[column] = interval
    p, joint = np.full((2, len(names)), np.nan)
    for columns in ([n for n, name in enumerate(names) if (name in first) is own] for own in (True, False)):
        if columns:
            family = np.array([metrics[column].better != "none" for column in columns])
            chances = flip_signs(changes[:, columns], clusters, family, settings.resamples, settings.seed)
            p[columns], joint[columns] = chances
    found = []
    for item, interval, chance, jointly in zip(described, intervals, p, joint, strict=True):
        low, high = _ends(interval, float(chance), settings)
        found.append(replace(item, low=low, high=high, p=unless_nan(chance), joint_p=unless_nan(jointly)))
    return [_allow_rewording(item, settings.level) for item in found]


def _rewording(metric: MetricInfo, changes: np.ndarray) -> float:
    """The standard deviation that other words alone add to the mean of a local judge; pairs with equal values are not reworded."""
    if metric.raw.get("judges") != "answer" or not metric.signature.is_local:
        return 0.0
    parts = (part.partition("/")[0] for part in metric.signature.text.split("|"))
    return max((REWORDING.get(part, 0.0) for part in parts), default=0.0) * float(np.mean(changes != 0))


def _allow_rewording(item: Difference, level: float) -> Difference:
    """Widens the interval by what other words alone change, and raises both p by the same factor."""
    if not item.rewording or item.low is None or item.high is None or item.difference is None:
        return item
    normal = NormalDist()
    # Changes that are all equal have no width.
    start, end = item.low - 1e-9, item.high + 1e-9
    error = (end - start) / 2 / normal.inv_cdf((1 + level) / 2)
    factor = math.hypot(error, item.rewording) / error

    def raised(p: float | None) -> float | None:
        return None if p is None else 2 * normal.cdf(normal.inv_cdf(max(p, _LEAST_P) / 2) / factor)

    low, high = (item.difference + factor * (one - item.difference) for one in (start, end))
    if item.bounds == (0.0, 1.0):
        low, high = max(-1.0, low), min(1.0, high)
    detectable = None if item.detectable is None else item.detectable * factor
    return replace(item, low=low, high=high, p=raised(item.p), joint_p=raised(item.joint_p), detectable=detectable)


def start(metric: MetricInfo, before: Scores, after: Scores) -> Difference:
    """A metric before the tests: the number of pairs with both values, skipped and failed pairs."""
    both = ~np.isnan(before.values + after.values)
    failed = ~both & ((before.states == FAILED) | (after.states == FAILED))
    skips = [(one.states == SKIPPED) & ~failed for one in (before, after)]
    pairs, lost = int(np.count_nonzero(both)), int(np.count_nonzero(failed))
    low, high = metric.bounds
    return Difference(
        metric=metric.metric,
        better=metric.better,
        bounds=(low, high),
        pairs=pairs,
        skipped=len(both) - pairs - lost,
        failed=lost,
        units=pairs,
        skipped_before=int(np.count_nonzero(skips[0] & ~skips[1])),
        skipped_after=int(np.count_nonzero(skips[1] & ~skips[0])),
    )


def _describe(
    metric: MetricInfo, before: Scores, after: Scores, changes: np.ndarray, clusters: np.ndarray | None
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
        detectable=None
        if clusters is not None or equal or len(kept) < 3
        else detectable_effect(float(kept.std(ddof=1)), len(kept), ALPHA),
        effect=standardised_difference(kept),
        superiority=superiority(kept),
        tally=tally(kept),
        note=EQUAL if equal else "",
        rewording=_rewording(metric, kept),
    )


def _of_shares(
    metric: MetricInfo, before: Scores, after: Scores, clusters: np.ndarray | None, settings: Settings
) -> Interval | None:
    """The confidence interval of metrics that are 0 or 1 in every row."""
    both = ~np.isnan(before.values + after.values)
    values = np.concatenate([before.values[both], after.values[both]])
    if clusters is not None or metric.bounds != (0.0, 1.0) or not np.isin(values, (0.0, 1.0)).all():
        return None
    return share_difference_interval(before.values, after.values, settings.level)


def _ends(interval: Interval | None, p: float, settings: Settings) -> tuple[float | None, float | None]:
    """Both ends. If the exact test does not exclude 0, the interval includes it; a bootstrap of few changes might not."""
    if interval is None:
        return None, None
    if p >= 1 - settings.level:
        return min(0.0, interval.low), max(0.0, interval.high)
    return interval


def judge(groups: Sequence[Sequence[Difference]], settings: Settings) -> list[list[Difference]]:
    """Adds corrected p values and verdicts. All groups are one family of tests; each group was measured jointly."""
    tested = [np.array([item.p if item.tested else np.nan for item in group], dtype=float) for group in groups]
    tests = sum(int(np.count_nonzero(~np.isnan(p))) for p in tested)
    if settings.correction == "joint":
        corrected = [_jointly(group, p, tests) for group, p in zip(groups, tested, strict=True)]
    else:
        every = correct(np.concatenate([*tested, np.zeros(0)]), settings.correction)
        corrected = np.split(every, np.cumsum([len(group) for group in groups])[:-1])
    # Holm assumes nothing about dependence: the smallest possible p is multiplied by the number of tests.
    times = tests if settings.correction == "holm" else 1
    return [
        [
            replace(item, corrected_p=unless_nan(p), verdict=_verdict(item, p, times, 1 - settings.level))
            for item, p in zip(group, found, strict=True)
        ]
        for group, found in zip(groups, corrected, strict=True)
    ]


def _jointly(group: Sequence[Difference], p: np.ndarray, tests: int) -> np.ndarray:
    """Joint p for means, Holm for other scores; each part gets a share of the level by its size."""
    joint = np.array([np.nan if item.joint_p is None else item.joint_p for item in group], dtype=float)
    alone = np.where(np.isnan(joint), p, np.nan)
    together = np.where(np.isnan(p), np.nan, joint)
    corrected = np.full(len(group), np.nan)
    for lot in (together, correct(alone, "holm")):
        there = ~np.isnan(lot)
        corrected[there] = np.minimum(lot[there] * tests / max(1, np.count_nonzero(there)), 1.0)
    return corrected


def _verdict(item: Difference, corrected_p: float, tests: int, alpha: float) -> Verdict | None:
    if item.better == "none":
        return None
    # Even a change in all pairs would not be significant: there are 2^units sign patterns.
    if not item.tested or 2.0 ** (1 - item.units) * tests > alpha:
        return "too few rows"
    if corrected_p >= alpha or not item.gain:
        return "no evidence"
    return "better" if item.gain > 0 else "worse"


UNKNOWN = "the metric is not defined here; load it with --metrics-file to compare it"


def is_of_all_rows(name: str, run: Run, scores: Scores) -> bool:
    """Whether a metric is a corpus-level score, not the mean of its cells; for unknown metrics the stored score decides."""
    metric = find_metric(name)
    if metric is not None:
        return metric.is_of_all_rows
    stored = run.summary()[name].mean
    values = scores.values[~np.isnan(scores.values)]
    return bool(stored is not None and len(values) and not np.isclose(stored, values.mean(), rtol=1e-9, atol=1e-12))


def compare_corpus(
    metric: MetricInfo,
    runs: tuple[Run, Run],
    scores: tuple[Scores, Scores],
    pairs: Alignment,
    settings: Settings,
    clusters: np.ndarray | None,
) -> Difference:
    """A corpus-level score or a quantile in both runs; rows without a value in either run are left out."""
    found = start(metric, *scores)
    known = find_metric(found.metric)
    if known is not None and known.quantile is not None:
        return _compare_quantile(found, known.quantile, scores, settings, clusters)
    if known is None or known.spec.corpus is None:
        return replace(found, note=UNKNOWN)
    corpus = known.spec.corpus
    if any(corpus.statistics not in run.info.evidence for run in runs):
        return replace(found, note=f"the runs did not store {corpus.statistics}")
    both = ~np.isnan(scores[0].values + scores[1].values)
    kept = [
        read_table(run.folder.evidence(corpus.statistics), ["value"])["value"].take(pa.array(rows[both]))
        for run, rows in zip(runs, (pairs.before, pairs.after), strict=True)
    ]
    if not found.pairs or any(column.null_count for column in kept):
        return replace(found, note="no sample has a value in both runs")
    same = kept[0].equals(kept[1])
    score = partial(corpus.score, **dict(known.settings))
    labels = None if clusters is None else clusters[both]
    if corpus.additive:
        first, second = (_table(column) for column in kept)
        ends = [float(score(table.sum(axis=0))) for table in (first, second)]
        if not np.isfinite(ends).all():
            return replace(found, note="a run has no score of all rows together")
        compared = compare_sums(first, second, score, labels, settings.level, settings.resamples, settings.seed)
    else:
        lists = [list(column.to_numpy()) for column in kept]
        ends = [float(score(rows)) for rows in lists]
        compared = None if clusters is not None else compare_rows(lists[0], lists[1], score, settings.level)
    filled = _filled(found, ends, compared, labels)
    return replace(filled, low=0.0, high=0.0, p=1.0, note=EQUAL) if same else filled


def _compare_quantile(
    found: Difference, q: float, scores: tuple[Scores, Scores], settings: Settings, clusters: np.ndarray | None
) -> Difference:
    if not found.pairs:
        return replace(found, note="no sample has a value in both runs")
    both = ~np.isnan(scores[0].values + scores[1].values)
    first, second = (side.values[both] for side in scores)
    labels = None if clusters is None else clusters[both]
    ends = [quantile_of(side, q) for side in (first, second)]
    if np.array_equal(first, second):
        return replace(_filled(found, ends, None, labels), low=0.0, high=0.0, p=1.0, note=EQUAL)
    compared = compare_quantiles(first, second, q, labels, settings.level, settings.resamples, settings.seed)
    note = f"{q:.4g} quantile of the rows" if compared else f"too few rows for an interval of the {q:.4g} quantile"
    return replace(_filled(found, ends, compared, labels), note=note)


def _filled(found: Difference, ends: list[float], compared: Compared | None, labels: np.ndarray | None) -> Difference:
    return replace(
        found,
        units=found.pairs if labels is None else len(set(labels)),
        before=ends[0],
        after=ends[1],
        difference=ends[1] - ends[0],
        low=compared.interval.low if compared else None,
        high=compared.interval.high if compared else None,
        p=compared.p if compared else None,
        note="corpus-level score" if compared else "corpus-level score without an interval",
    )


def _table(column: pa.ChunkedArray) -> np.ndarray:
    lengths = pc.min_max(pc.list_value_length(column)).as_py()
    if lengths["min"] != lengths["max"]:
        raise UsageError(
            f"the statistics per row have {lengths['min']} to {lengths['max']} numbers; the length must be constant"
        )
    table: np.ndarray = column.combine_chunks().flatten().to_numpy().reshape(len(column), -1)
    return table
