"""Agreement of metrics with human labels: correlations, classification measures and the agreement of annotators.

The agreement between annotators is the ceiling for any metric. `find_disagreements` lists the rows that differ most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from ragstone.agreement.labels import Joined
from ragstone.errors import UsageError
from ragstone.stats.correlation import (
    COEFFICIENTS,
    LEVELS,
    Coefficient,
    Correlation,
    Level,
    affordable_resamples,
    correlate_at,
    make_correlation,
)
from ragstone.stats.intervals import Interval
from ragstone.stats.rater_agreement import (
    Scale,
    majority_grade,
    make_accuracy,
    make_alpha,
    make_auc,
    make_calibration_error,
    make_f1,
    make_kappa,
    make_macro,
)
from ragstone.stats.resampled_measures import Estimate, Measure, best_chances, estimate, take_measure
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import read_rows

# Rank differences below this share of all rows are small.
_WORTH_READING = 0.25


@dataclass(frozen=True)
class Disagreement:
    """A row that people and a metric rank differently, with its question and answer."""

    metric: str
    sample_id: str
    system: str
    question: str
    answer: str
    label: float
    score: float
    # The difference of its ranks by people and by the metric, as a share of all labelled rows.
    apart: float


def find_disagreements(joined: Joined, metric: str, turned: bool, most: int) -> Iterator[Disagreement]:
    """The rows with the largest difference between the ranks by people and by the metric."""
    there = np.flatnonzero(~np.isnan(joined.scores[metric]))
    if not most or len(there) < 2:
        return
    scores = joined.scores[metric][there]
    apart = _apart(joined.labels[there], -scores if turned else scores)
    for row in np.argsort(-apart, kind="stable")[:most]:
        if apart[row] < _WORTH_READING:
            return
        place = int(there[row])
        run = joined.runs[int(joined.systems[place])]
        columns = ["id", "question", "answer"]
        ((_, batch),) = read_rows(run.folder.samples, [int(joined.places[place])], columns)
        sample = batch.to_pylist()[0]
        yield Disagreement(
            metric,
            sample["id"],
            run.name,
            sample["question"] or "",
            sample["answer"] or "",
            float(joined.labels[place]),
            float(scores[row]),
            float(apart[row]),
        )


def _apart(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Rank differences as shares of all rows; 0 if both put a row at the same end of the scale."""
    from scipy import stats  # noqa: PLC0415  (slow to import)

    agreed = np.zeros(len(labels), dtype=bool)
    for end in (np.min, np.max):
        agreed |= (labels == end(labels)) & (scores == end(scores))
    gaps = np.abs(stats.rankdata(labels) - stats.rankdata(scores)) / len(labels)
    return np.where(agreed, 0.0, gaps)


LEAST_SHARED = 3
# A scale with more values is continuous.
_MOST_STEPS = 20


@dataclass(frozen=True)
class Ceiling:
    """Krippendorff's alpha of the annotators, and the correlation of one with the mean of the others."""

    annotators: int
    shared: int
    scale: Scale
    alpha: float | None
    alpha_interval: Interval | None
    coefficient: Coefficient
    correlation: float | None
    correlation_interval: Interval | None
    # Cohen's kappa of each pair of annotators (columns of the ratings), with the number of rows that both rated.
    kappas: Mapping[tuple[int, int], tuple[int, float]] = field(default_factory=dict)

    @property
    def mean_kappa(self) -> float | None:
        """The mean over pairs of annotators."""
        return float(np.mean([kappa for _, kappa in self.kappas.values()])) if self.kappas else None


def measure_ceiling(ratings: np.ndarray, inputs: np.ndarray, coefficient: Coefficient) -> Ceiling | None:
    """The agreement of annotators over the rows with two or more labels; None if there are too few."""
    shared = (~np.isnan(ratings)).sum(axis=1) >= 2
    if shared.sum() < LEAST_SHARED:
        return None
    table, groups = ratings[shared], inputs[shared]
    scale = tell_scale(table)
    alpha = estimate(make_alpha(table, scale), groups)
    others = estimate(_make_leave_one_out(table, coefficient), groups)
    return Ceiling(
        annotators=int((~np.isnan(table)).any(axis=0).sum()),
        shared=int(shared.sum()),
        scale=scale,
        alpha=alpha.value,
        alpha_interval=alpha.interval,
        coefficient=coefficient,
        correlation=others.value,
        correlation_interval=others.interval,
        kappas={} if scale == "interval" else dict(_pairwise_kappas(table)),
    )


def _pairwise_kappas(table: np.ndarray) -> Iterator[tuple[tuple[int, int], tuple[int, float]]]:
    """Cohen's kappa for each two annotators that share enough rows."""
    for one, other in combinations(range(table.shape[1]), 2):
        rows = ~np.isnan(table[:, one] + table[:, other])
        shared = int(rows.sum())
        if shared >= LEAST_SHARED:
            kappa = take_measure(make_kappa(table[rows, one], table[rows, other]), shared)
            if kappa is not None:
                yield (one, other), (shared, kappa)


def tell_scale(ratings: np.ndarray) -> Scale:
    """Nominal for two values, ordinal for a few whole numbers, otherwise interval."""
    values = np.unique(ratings[~np.isnan(ratings)])
    if len(values) <= 2:
        return "nominal"
    return "ordinal" if len(values) <= _MOST_STEPS and (values == np.round(values)).all() else "interval"


def _make_leave_one_out(table: np.ndarray, coefficient: Coefficient) -> Measure:
    """The mean correlation of each annotator with the mean of the others."""
    parts: list[tuple[np.ndarray, Measure]] = []
    there = ~np.isnan(table)
    for column in range(table.shape[1]):
        rows = np.flatnonzero(there[:, column] & (there.sum(axis=1) >= 2))
        if len(rows) >= LEAST_SHARED:
            others = np.nanmean(np.delete(table[rows], column, axis=1), axis=1)
            parts.append((rows, make_correlation(table[rows, column], others, coefficient)))

    def measure(times: np.ndarray) -> np.ndarray:
        found = np.array([part(times[:, rows]) for rows, part in parts]).reshape(len(parts), len(times))
        known = ~np.isnan(found)
        counts = known.sum(axis=0)
        sums = np.where(known, found, 0.0).sum(axis=0)
        return np.asarray(np.divide(sums, counts, out=np.full(len(times), np.nan), where=counts > 0))

    return measure


@dataclass(frozen=True)
class Verdicts:
    """Measures by name, the threshold for a positive score, and the number of rows with tied labels."""

    measures: Mapping[str, Estimate]
    threshold: float | None
    tied: int


def judge_verdicts(joined: Joined, metric: MetricInfo, threshold: float | None) -> Verdicts | None:
    """Classification measures; None if labels are neither binary nor on the scale of the metric."""
    scores, ratings = joined.scores[metric.metric], joined.ratings
    if np.isin(ratings[~np.isnan(ratings)], (0.0, 1.0)).all():
        return _judge_binary(joined, metric, scores, threshold)
    there = ~np.isnan(scores)
    steps = np.unique(ratings[~np.isnan(ratings)])
    if len(steps) > _MOST_STEPS or not there.any() or not np.isin(scores[there], steps).all():
        return None
    said = majority_grade(ratings[there])
    measures = {
        "weighted_kappa": make_kappa(said, scores[there], "quadratic"),
        "kappa": make_kappa(said, scores[there]),
        "accuracy": make_accuracy(said, scores[there]),
        **make_macro(said, scores[there]),
    }
    return Verdicts(_estimate(measures, joined.inputs[there]), None, 0)


def _judge_binary(joined: Joined, metric: MetricInfo, scores: np.ndarray, threshold: float | None) -> Verdicts | None:
    shares = joined.labels
    there = ~np.isnan(scores) & (shares != 0.5)
    labels, known = (shares[there] > 0.5).astype(np.float64), scores[there]
    if not len(known) or labels.min() == labels.max():
        return None
    turned = metric.better == "lower"
    measures: dict[str, Measure] = {"roc_auc": make_auc(labels, -known if turned else known)}
    low, high = metric.bounds
    if threshold is None and low is not None and high is not None:
        threshold = (low + high) / 2
    if threshold is not None:
        verdicts = (known <= threshold if turned else known >= threshold).astype(np.float64)
        measures |= {
            "accuracy": make_accuracy(labels, verdicts),
            "f1": make_f1(labels, verdicts),
            "kappa": make_kappa(labels, verdicts),
            **make_macro(labels, verdicts),
        }
    if (low, high) == (0.0, 1.0):
        measures["calibration_error"] = make_calibration_error(labels, 1 - known if turned else known)
    return Verdicts(_estimate(measures, joined.inputs[there]), threshold, int((shares == 0.5).sum()))


def _estimate(measures: Mapping[str, Measure], inputs: np.ndarray) -> dict[str, Estimate]:
    return {name: estimate(measure, inputs) for name, measure in measures.items()}


# The significance level for agreeing less than the best metric.
ALPHA = 0.05
# Up to this many metrics are shown in full.
FEW_METRICS = 3


@dataclass(frozen=True)
class Settings:
    """The settings of the agreement."""

    coefficient: Coefficient = "spearman"
    level: Level = "dataset"
    # The threshold for a positive score with binary labels; by default the middle of the metric's range.
    threshold: float | None = None
    confidence: float = 0.95
    # All three coefficients, or only the chosen one.
    full: bool = False


@dataclass(frozen=True)
class MetricAgreement:
    """The agreement of one metric with people; scores are negated if lower is better."""

    metric: str
    better: str
    rows: int
    correlations: Mapping[tuple[Coefficient, Level], Correlation]
    verdicts: Verdicts | None
    # The p value of the hypothesis that this metric agrees best.
    p_best: float | None = None


@dataclass(frozen=True)
class Agreement:
    """All metrics, best agreement first, and the metrics that could not be compared, with the reason."""

    joined: Joined
    settings: Settings
    metrics: tuple[MetricAgreement, ...]
    lacking: Mapping[str, str]
    ceiling: Ceiling | None
    disagreements: tuple[Disagreement, ...] = field(default=())

    def main(self, item: MetricAgreement) -> Correlation:
        """The correlation that sorts the metrics."""
        return item.correlations[self.settings.coefficient, self.settings.level]


def natural_coefficient(joined: Joined) -> Coefficient:
    """Spearman; Somers' D for binary labels, because with many ties Spearman favours binary scores."""
    said = joined.ratings[~np.isnan(joined.ratings)]
    return "somers" if np.isin(said, (0.0, 1.0)).all() else "spearman"


def measure_agreement(joined: Joined, settings: Settings, show: int = 0) -> Agreement:
    """Measure the agreement of every metric; `show` is the number of disagreements of the best metric to keep."""
    if not len(joined.inputs):
        raise UsageError("there are no labels yet. Fill in the column label, then run the command again.")
    found = [_measure(joined, metric, settings) for metric in joined.metrics]
    key = (settings.coefficient, settings.level)
    able = [item for item in found if item.correlations[key].value is not None]
    able.sort(key=lambda item: -(item.correlations[key].value or 0.0))
    able = _with_p_best(able, [item.correlations[key] for item in able])
    return Agreement(
        joined=joined,
        settings=settings,
        metrics=tuple(able),
        lacking={item.metric: item.correlations[key].reason for item in found if item.correlations[key].value is None},
        ceiling=measure_ceiling(joined.ratings, joined.inputs, settings.coefficient),
        disagreements=tuple(find_disagreements(joined, able[0].metric, able[0].better == "lower", show))
        if able
        else (),
    )


def _measure(joined: Joined, metric: MetricInfo, settings: Settings) -> MetricAgreement:
    name, turned = metric.metric, metric.better == "lower"
    rows = joined.scored(name, turned)
    coefficients = COEFFICIENTS if settings.full else (settings.coefficient,)
    return MetricAgreement(
        metric=name,
        better=metric.better,
        rows=len(rows.scores),
        correlations={
            (coefficient, level): correlate_at(
                level,
                rows,
                coefficient,
                settings.confidence,
                affordable_resamples(len(joined.inputs), coefficient),
            )
            for coefficient in coefficients
            for level in LEVELS
        },
        verdicts=judge_verdicts(joined, metric, settings.threshold),
    )


def _with_p_best(items: Sequence[MetricAgreement], found: Sequence[Correlation]) -> list[MetricAgreement]:
    if len(items) < 2:
        return list(items)
    values = [each.value for each in found if each.value is not None]
    p = best_chances(values, np.column_stack([each.drawn for each in found]))
    return [
        replace(item, p_best=None if np.isnan(chance) else float(chance)) for item, chance in zip(items, p, strict=True)
    ]
