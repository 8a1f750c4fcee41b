"""Fits a mixture of scores to human labels and measures its gain over the best single score.

Weights are at least 0, so a better score never lowers the mixture. Figures are cross-validated: the weights for a row, and the
single score that it is compared with, are chosen without the rows of its fold. Folds keep the rows of an input together. The
interval of a gain spans the intervals of several random splits into folds: one split alone shows gains for noise too often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.agreement.labels import Joined
from ragstone.agreement.metric_agreement import Settings
from ragstone.errors import UsageError
from ragstone.metrics.mixed import Mixture, check_parts, goodness
from ragstone.stats.correlation import Correlation, Scored, affordable_resamples, correlate_at, make_correlation
from ragstone.stats.intervals import Interval
from ragstone.stats.logit import make_folds
from ragstone.stats.resampled_measures import spread, take_measure

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
    from scipy import optimize  # noqa: PLC0415  (slow to import)

    size = scores.shape[1]
    centred, wanted = scores - scores.mean(axis=0), labels - labels.mean()
    mean = centred.mean(axis=1)
    power = float(mean @ mean)
    slope = max(0.0, float(mean @ wanted) / power) if power > 0 else 0.0
    strength = (_PRIOR_ROWS * centred.var(axis=0).mean()) ** 0.5
    table = np.vstack([centred, strength * np.eye(size)])
    target = np.concatenate([wanted, np.full(size, strength * slope / size)])
    weights, _ = optimize.nnls(table, target)
    total = weights.sum()
    return np.asarray(weights / total) if total > 0 else np.full(size, 1 / size)


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
        columns = np.column_stack([_ranks(column) for column in columns.T])
    return _HeldOut(fitted, columns[np.arange(len(fold)), chosen[fold]], chosen)


def _best_single(scores: np.ndarray, labels: np.ndarray, settings: Settings) -> int:
    found = [take_measure(make_correlation(column, labels, settings.coefficient), len(labels)) for column in scores.T]
    return int(np.argmax([-np.inf if value is None else value for value in found]))


def _ranks(values: np.ndarray) -> np.ndarray:
    from scipy import stats  # noqa: PLC0415  (slow to import)

    return np.asarray(stats.rankdata(values) / len(values))


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
