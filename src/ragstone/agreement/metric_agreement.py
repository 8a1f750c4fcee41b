"""Agreement of metrics with human labels: correlations, classification measures and the agreement of annotators.

The agreement between annotators is the ceiling for any metric. `find_disagreements` lists the rows that differ most.

`fit_mixture` fits a mixture of scores to the labels and measures its gain over the best single score. Weights are at least 0, so
a better score never lowers the mixture. Figures are cross-validated: the weights for a row, and the single score that it is
compared with, are chosen without the rows of its fold. Folds keep the rows of an input together. The interval of a gain spans
the intervals of several random splits into folds: one split alone shows gains for noise too often.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ragstone.agreement.labels import Joined
from ragstone.errors import UsageError
from ragstone.metrics.mixed import Mixture, check_parts, goodness
from ragstone.stats.correlation import (
    COEFFICIENTS,
    LEVELS,
    Coefficient,
    Correlation,
    Level,
    Scored,
    affordable_resamples,
    correlate_at,
    make_correlation,
    mid_ranks,
)
from ragstone.stats.intervals import Interval
from ragstone.stats.logit import make_folds
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
from ragstone.stats.resampled_measures import (
    Estimate,
    Measure,
    best_chances,
    estimate,
    estimate_mean,
    spread,
    take_measure,
)
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
        ends = float(joined.labels[place]), float(scores[row]), float(apart[row])
        if joined.pairs:
            (sample_id, *sides), names = joined.pairs[place], {run.id: run.name for run in joined.runs}
            yield Disagreement(metric, sample_id, " and ".join(names.get(side, side) for side in sides), "", "", *ends)
            continue
        run = joined.runs[int(joined.systems[place])]
        columns = ["id", "question", "answer"]
        ((_, batch),) = read_rows(run.folder.samples, [int(joined.places[place])], columns)
        sample = batch.to_pylist()[0]
        yield Disagreement(metric, sample["id"], run.name, sample["question"] or "", sample["answer"] or "", *ends)


def _apart(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Rank differences as shares of all rows; 0 if both put a row at the same end of the scale."""
    agreed = np.zeros(len(labels), dtype=bool)
    for end in (np.min, np.max):
        agreed |= (labels == end(labels)) & (scores == end(scores))
    gaps = np.abs(mid_ranks(labels) - mid_ranks(scores)) / len(labels)
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
    # For preferences, how often the votes of two annotators are equal; see `measure_votes`.
    votes: Mapping[str, Vote] = field(default_factory=dict)

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


class Vote(NamedTuple):
    """The share of equal votes and their number."""

    share: Estimate
    votes: int


def measure_votes(ours: np.ndarray, theirs: np.ndarray, groups: np.ndarray) -> dict[str, Vote]:
    """How often two votes are equal, with ties and without the ties of either side: the two setups of MT-bench."""
    equal = (np.sign(ours) == np.sign(theirs)).astype(np.float64)
    chosen = {"votes": np.ones(len(equal), dtype=bool), "decided_votes": (ours != 0) & (theirs != 0)}
    return {
        name: Vote(estimate_mean(equal[rows], groups[rows], (0.0, 1.0)), int(rows.sum()))
        for name, rows in chosen.items()
    }


def _measure_people(joined: Joined) -> dict[str, Vote]:
    """The votes of every two annotators about the same pair."""
    rated, blocks = ~np.isnan(joined.ratings), [np.zeros((0, 3))]
    for columns in combinations(range(rated.shape[1]), 2):
        rows = np.flatnonzero(rated[:, columns].all(axis=1))
        blocks.append(np.column_stack([joined.ratings[rows][:, columns], joined.inputs[rows]]))
    return measure_votes(*np.concatenate(blocks).T)


@dataclass(frozen=True)
class Verdicts:
    """Measures by name, the threshold for a positive score, and the number of rows with tied labels."""

    measures: Mapping[str, Estimate]
    threshold: float | None
    tied: int
    # For preferences, the number of pairs or votes of each measure, and of decided pairs with equal scores.
    counts: Mapping[str, int] = field(default_factory=dict)
    equal_scores: int = 0


def judge_preferences(joined: Joined, metric: MetricInfo) -> Verdicts:
    """Accuracy on the pairs that people decided (equal scores count half), and the agreement with each vote."""
    turned = metric.better == "lower"
    rows, each = (joined.scored(metric.metric, turned, each=each) for each in (False, True))
    decided = rows.take(rows.labels != 0)
    right = (1 + np.sign(decided.scores) * np.sign(decided.labels)) / 2
    votes = measure_votes(each.scores, each.labels, each.inputs)
    return Verdicts(
        {"accuracy": estimate_mean(right, decided.inputs, (0.0, 1.0))}
        | {name: vote.share for name, vote in votes.items()},
        None,
        len(rows.labels) - len(right),
        {"accuracy": len(right)} | {name: vote.votes for name, vote in votes.items()},
        int((decided.scores == 0).sum()),
    )


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
    # A metric without a direction, such as the length of words, does not judge answers: it is never the best.
    able.sort(key=lambda item: (item.better == "none", -(item.correlations[key].value or 0.0)))
    able = _with_p_best(able, [item.correlations[key] for item in able])
    ceiling = measure_ceiling(joined.ratings, joined.inputs, settings.coefficient)
    if joined.pairs and ceiling:
        ceiling = replace(ceiling, votes=_measure_people(joined))
    return Agreement(
        joined=joined,
        settings=settings,
        metrics=tuple(able),
        lacking={item.metric: item.correlations[key].reason for item in found if item.correlations[key].value is None},
        ceiling=ceiling,
        disagreements=tuple(find_disagreements(joined, able[0].metric, able[0].better == "lower", show))
        if able
        else (),
    )


def _measure(joined: Joined, metric: MetricInfo, settings: Settings) -> MetricAgreement:
    name, turned = metric.metric, metric.better == "lower"
    rows, each = (joined.scored(name, turned, each=each) for each in (False, True))
    coefficients = COEFFICIENTS if settings.full else (settings.coefficient,)
    return MetricAgreement(
        metric=name,
        better=metric.better,
        rows=len(rows.scores),
        correlations={
            (coefficient, level): correlate_at(
                level,
                each if level == "label" else rows,
                coefficient,
                settings.confidence,
                affordable_resamples(len(each.labels if level == "label" else rows.labels), coefficient),
            )
            for coefficient in coefficients
            for level in LEVELS
        },
        verdicts=judge_preferences(joined, metric)
        if joined.pairs
        else judge_verdicts(joined, metric, settings.threshold),
    )


def _with_p_best(items: Sequence[MetricAgreement], found: Sequence[Correlation]) -> list[MetricAgreement]:
    if len(items) < 2:
        return list(items)
    values = [each.value for each in found if each.value is not None]
    p = best_chances(values, np.column_stack([each.drawn for each in found]))
    return [
        replace(item, p_best=None if np.isnan(chance) else float(chance)) for item, chance in zip(items, p, strict=True)
    ]


LEAST_PARTS, MOST_PARTS = 2, 4
LEAST_LABELS = 30
LEAST_INPUTS = 10
_FOLDS = 10
_SPLITS = 5
# Equal weights count as much as this many labelled rows.
_PRIOR_ROWS = 10


@dataclass(frozen=True)
class Gain:
    """The agreement of a mixture minus that of the best single score, with a paired interval."""

    agreement: float
    difference: float
    interval: Interval | None

    @property
    def shown(self) -> bool:
        """Whether the interval is above 0."""
        return self.interval is not None and self.interval.low > 0


@dataclass(frozen=True)
class MixtureFit:
    """A fitted mixture, the single score that is mostly chosen, and the cross-validated gains over it."""

    mixture: Mixture
    single: str
    single_agreement: float
    fitted: Gain
    equal: Gain
    rows: int
    inputs: int
    # The number of folds that chose `single`, of all folds of all splits.
    folds: tuple[int, int]


def fit_mixture(joined: Joined, name: str, settings: Settings) -> MixtureFit:
    """Fit the weights of all metrics of `joined` to its labels."""
    parts = [metric.metric for metric in joined.metrics]
    if not LEAST_PARTS <= len(parts) <= MOST_PARTS:
        raise UsageError(f"a mixture has {LEAST_PARTS} to {MOST_PARTS} parts, got {len(parts)}: name them with -m A,B")
    check_parts(parts)
    table = np.column_stack([goodness(part, joined.scores[part]) for part in parts])
    there = ~np.isnan(table).any(axis=1)
    rows = Scored(table, joined.labels, joined.inputs, joined.systems).take(there)
    inputs = len(np.unique(rows.inputs))
    if len(rows.labels) < LEAST_LABELS or inputs < LEAST_INPUTS or np.ptp(rows.labels) == 0:
        raise UsageError(
            f"{len(rows.labels)} labelled answers to {inputs} inputs have all of these scores; a mixture needs "
            f"{LEAST_LABELS} answers with different labels and {LEAST_INPUTS} inputs. mixed.equal needs no labels."
        )
    splits = [_predict_held_out(rows, settings, seed) for seed in range(_SPLITS)]
    singles = [_correlate(rows, split.single, settings) for split in splits]
    mixed = [_correlate(rows, split.fitted, settings) for split in splits]
    equal = [_correlate(rows, rows.scores.mean(axis=1), settings)] * _SPLITS
    if reason := next((one.reason for one in (*singles, *mixed, *equal) if one.value is None), ""):
        raise UsageError(f"these scores cannot be mixed: {reason}")
    chosen = np.concatenate([split.chosen for split in splits])
    names, counts = np.unique(chosen, return_counts=True)
    weights = fit_weights(rows.scores, rows.labels)
    return MixtureFit(
        Mixture(name, dict(zip(parts, weights.tolist(), strict=True))),
        parts[int(names[counts.argmax()])],
        _mean(singles),
        _gain(mixed, singles, inputs, settings),
        _gain(equal, singles, inputs, settings),
        len(rows.labels),
        inputs,
        (int(counts.max()), int(counts.sum())),
    )


def fit_weights(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Non-negative least squares with an intercept, shrunk towards equal weights; scaled to a sum of 1.

    Equal weights if no score predicts the labels.
    """
    size = scores.shape[1]
    centred, wanted = scores - scores.mean(axis=0), labels - labels.mean()
    mean = centred.mean(axis=1)
    power = float(mean @ mean)
    slope = max(0.0, float(mean @ wanted) / power) if power > 0 else 0.0
    strength = (_PRIOR_ROWS * centred.var(axis=0).mean()) ** 0.5
    table = np.vstack([centred, strength * np.eye(size)])
    target = np.concatenate([wanted, np.full(size, strength * slope / size)])
    weights = solve_positive(table, target)
    total = weights.sum()
    return np.asarray(weights / total) if total > 0 else np.full(size, 1 / size)


def solve_positive(table: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Non-negative least squares by active sets (Lawson and Hanson 1974); the columns must be independent."""
    weights, free = np.zeros(table.shape[1]), np.zeros(table.shape[1], dtype=bool)
    least = 1e-10 * float(np.abs(table.T @ target).max(initial=0.0))
    # Rounding may free a column and take it back for ever, so the rounds are limited, as in scipy.
    for _ in range(3 * len(weights)):
        gain = np.where(free, -np.inf, table.T @ (target - table @ weights))
        if gain.max() <= least:
            break
        free[gain.argmax()] = True
        while True:
            wanted = np.zeros(len(weights))
            wanted[free] = np.linalg.lstsq(table[:, free], target, rcond=None)[0]
            below = free & (wanted <= 0)
            if not below.any():
                break
            # As far as no weight falls below 0; those that reach 0 are no longer free.
            share = weights[below] / (weights[below] - wanted[below])
            weights += (wanted - weights) * share.min()
            weights[np.flatnonzero(below)[share.argmin()]] = 0.0
            free &= weights > 0
        weights = wanted
    return weights


@dataclass(frozen=True)
class _HeldOut:
    fitted: np.ndarray
    single: np.ndarray
    # The best single score of each fold.
    chosen: np.ndarray


def _predict_held_out(rows: Scored, settings: Settings, seed: int) -> _HeldOut:
    fold = make_folds(rows.inputs, _FOLDS, seed)
    fitted = np.zeros(len(fold))
    chosen = np.zeros(int(fold.max()) + 1, dtype=np.int64)
    for number in range(len(chosen)):
        seen = fold != number
        fitted[~seen] = rows.scores[~seen] @ fit_weights(rows.scores[seen], rows.labels[seen])
        chosen[number] = _best_single(rows.scores[seen], rows.labels[seen], settings)
    columns = rows.scores
    if len(np.unique(chosen)) > 1:
        # Scores of different metrics are put on one scale: their rank among all rows.
        columns = np.column_stack([mid_ranks(column) / len(column) for column in columns.T])
    return _HeldOut(fitted, columns[np.arange(len(fold)), chosen[fold]], chosen)


def _best_single(scores: np.ndarray, labels: np.ndarray, settings: Settings) -> int:
    found = [take_measure(make_correlation(column, labels, settings.coefficient), len(labels)) for column in scores.T]
    return int(np.argmax([-np.inf if value is None else value for value in found]))


def _correlate(rows: Scored, scores: np.ndarray, settings: Settings) -> Correlation:
    resamples = affordable_resamples(len(scores), settings.coefficient)
    scored = rows._replace(scores=scores)
    return correlate_at(settings.level, scored, settings.coefficient, settings.confidence, resamples)


def _gain(mixed: Sequence[Correlation], singles: Sequence[Correlation], inputs: int, settings: Settings) -> Gain:
    # Both were drawn with the same seed, so the resamples are pairs.
    pairs = zip(mixed, singles, strict=True)
    intervals = [spread(one.drawn - other.drawn, inputs, settings.confidence) for one, other in pairs]
    known = [interval for interval in intervals if interval is not None]
    whole = Interval(min(one.low for one in known), max(one.high for one in known)) if known == intervals else None
    return Gain(_mean(mixed), _mean(mixed) - _mean(singles), whole)


def _mean(figures: Sequence[Correlation]) -> float:
    return float(np.mean([figure.value for figure in figures]))
