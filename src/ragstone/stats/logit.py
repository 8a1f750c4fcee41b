"""Ridge-penalised logistic regression for labels between 0 and 1, with the penalty chosen by cross-validation.

Platt scaling: probabilities of a judge become calibrated ones by a logistic function of their log-odds. The fit is shrunk
towards leaving the probabilities as they are (Gaussian prior on slope and intercept), so that a few dozen labels cannot turn
them around. Whether it helps is measured by cross-validation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

# Probabilities of tokens end here: their log-odds would be without limit.
_EDGE = 1e-4
# Standard deviations of the prior around slope 1 and intercept 0.
_SLOPE_PRIOR, _INTERCEPT_PRIOR = 0.5, 2.0
_LEAST_SLOPE = 0.05
_FOLDS, _SPLITS = 5, 3
# With fewer pairs, fewer of the rarer label or fewer groups, nothing is fitted.
LEAST_PAIRS, LEAST_RARE, LEAST_GROUPS = 20, 6, 5

# Penalties, as shares of the number of labels.
STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_MOST_STEPS = 60
_NEAR = 1e-9


def fit_logit(features: np.ndarray, labels: np.ndarray, strength: float) -> np.ndarray:
    """Intercept and weights that minimise penalised cross-entropy (Newton's method); the intercept is not penalised."""
    short, back = shorten(features)
    table = np.column_stack([np.ones(len(short)), short])
    shrink = np.full(table.shape[1], strength)
    shrink[0] = 1e-9
    mean = float(np.clip(labels.mean(), 1e-3, 1 - 1e-3))
    weights = np.zeros(table.shape[1])
    weights[0] = np.log(mean / (1 - mean))
    value = _loss(table, labels, shrink, weights)
    for _ in range(_MOST_STEPS):
        expected = sigmoid(table @ weights)
        slope = table.T @ (expected - labels) / len(labels) + shrink * weights
        bend = (table.T * (expected * (1 - expected))) @ table / len(labels) + np.diag(shrink)
        step = np.linalg.solve(bend, slope)
        # Halve a step that is too long.
        while (reached := _loss(table, labels, shrink, weights - step)) > value and np.abs(step).max() > _NEAR:
            step /= 2
        weights, value = weights - step, reached
        if np.abs(step).max() < _NEAR:
            break
    return np.concatenate([weights[:1], back @ weights[1:]])


def shorten(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotate features so that there are at most as many as rows, which a ridge penalty does not notice; and the way back."""
    if features.shape[1] <= len(features):
        return features, np.eye(features.shape[1])
    _, sizes, turned = np.linalg.svd(features, full_matrices=False)
    kept = turned[sizes > 1e-10 * sizes.max(initial=0.0)]
    return features @ kept.T, kept.T


def _loss(table: np.ndarray, labels: np.ndarray, shrink: np.ndarray, weights: np.ndarray) -> float:
    logits = table @ weights
    # log(1 + e^x) - y x, without an overflow.
    return float(np.logaddexp(0.0, logits).mean() - (labels * logits).mean() + (shrink * weights**2).sum() / 2)


def predict_logit(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The expected label, from 0 to 1."""
    return sigmoid(weights[0] + features @ weights[1:])


def sigmoid(values: np.ndarray) -> np.ndarray:
    """1 / (1 + e^-x)."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -values)))


def log_loss(labels: np.ndarray, predicted: np.ndarray) -> float:
    """The mean cross-entropy."""
    sure = np.clip(predicted, 1e-9, 1 - 1e-9)
    return float(-(labels * np.log(sure) + (1 - labels) * np.log(1 - sure)).mean())


def make_folds(groups: np.ndarray, folds: int, seed: int = 0) -> np.ndarray:
    """A fold for each row: whole groups, folds of similar size, no empty fold if there are enough groups."""
    names, places, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(names))
    order = order[np.argsort(-sizes[order], kind="stable")]
    filled, fold_of = np.zeros(min(folds, len(names))), np.zeros(len(names), dtype=np.int64)
    for group in order:
        fold_of[group] = int(filled.argmin())
        filled[fold_of[group]] += sizes[group]
    return np.asarray(fold_of[places])


def choose_fit(
    labels: np.ndarray, groups: np.ndarray, candidates: Sequence[np.ndarray], folds: int = 5, seed: int = 0
) -> tuple[int, float]:
    """The table of features and the penalty that predict held-out rows best."""
    fold = make_folds(groups, folds, seed)
    tried = []
    for place, candidate in enumerate(candidates):
        features, _ = shorten(candidate)
        for strength in STRENGTHS:
            predicted = np.zeros(len(labels))
            for number in np.unique(fold):
                out = fold == number
                predicted[out] = predict_logit(features[out], fit_logit(features[~out], labels[~out], strength))
            tried.append((log_loss(labels, predicted), place, strength))
    _, place, strength = min(tried)
    return place, strength


@dataclass(frozen=True)
class Platt:
    """The map p → sigmoid(slope × logit(p) + intercept); it never changes an order."""

    slope: float
    intercept: float

    def __call__(self, likely: float) -> float:
        """The calibrated probability."""
        odds = self.slope * math.log(_clip(likely) / (1.0 - _clip(likely))) + self.intercept
        return 1.0 / (1.0 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1.0 + math.exp(odds))

    def __str__(self) -> str:
        return f"{self.slope:.4f}/{self.intercept:.4f}"

    @classmethod
    def fit(cls, odds: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> Self:
        """Maximum a posteriori, rounded to what `str` shows."""
        table, expected = np.column_stack([odds, np.ones(len(odds))]), np.array([1.0, 0.0])
        prior = 1 / np.array([_SLOPE_PRIOR, _INTERCEPT_PRIOR]) ** 2

        def loss(at: np.ndarray) -> float:
            cross_entropy = weights * (np.logaddexp(0.0, table @ at) - labels * (table @ at))
            return float(cross_entropy.sum() + (prior * (at - expected) ** 2).sum() / 2)

        def descend(at: np.ndarray, free: slice) -> np.ndarray:
            """Newton's method for some of the parameters; a step that is too long is halved."""
            for _ in range(_MOST_STEPS):
                likely = sigmoid(table @ at)
                slope = table.T @ (weights * (likely - labels)) + prior * (at - expected)
                bend = (table.T * (weights * likely * (1 - likely))) @ table + np.diag(prior)
                step = np.zeros(2)
                step[free] = np.linalg.solve(bend[free, free], slope[free])
                while loss(at - step) > loss(at) and np.abs(step).max() > _NEAR:
                    step /= 2
                at = at - step
                if np.abs(step).max() <= _NEAR:
                    break
            return at

        found = descend(expected, slice(0, 2))
        if found[0] < _LEAST_SLOPE:
            found = descend(np.array([_LEAST_SLOPE, 0.0]), slice(1, 2))
        return cls(round(float(found[0]), 4), round(float(found[1]), 4))


def _clip(likely: float) -> float:
    return min(max(likely, _EDGE), 1.0 - _EDGE)


@dataclass(frozen=True)
class PlattFit:
    """A fitted map, the log-loss without it and the cross-validated one with it, and each pair's value by other folds."""

    map: Platt
    before: float
    after: float
    # The standard error of the gain, over groups.
    noise: float
    held_out: np.ndarray

    @property
    def improves(self) -> bool:
        """Whether the gain is larger than its standard error."""
        return self.before - self.after > self.noise

    @classmethod
    def measure(
        cls, likely: np.ndarray, labels: np.ndarray, groups: np.ndarray, is_balanced: bool = False
    ) -> PlattFit | None:
        """Fit and cross-validate by group; None if there are too few labels.

        `is_balanced` counts both labels alike: the share of yes in the pairs says nothing about the share in other data.
        """
        labels = np.asarray(labels, dtype=np.float64)
        rare = min(labels.sum(), (1 - labels).sum())
        names = np.unique(groups, return_inverse=True)[1]
        if len(labels) < LEAST_PAIRS or rare < LEAST_RARE or names.max() + 1 < LEAST_GROUPS:
            return None
        odds = np.array([math.log(_clip(value) / (1.0 - _clip(value))) for value in likely])
        weights = np.ones(len(labels))
        if is_balanced:
            weights = np.where(labels == 1, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
        held_out = np.zeros(len(labels))
        for seed in range(_SPLITS):
            fold = make_folds(names, _FOLDS, seed)
            for number in range(int(fold.max()) + 1):
                seen = fold != number
                found = Platt.fit(odds[seen], labels[seen], weights[seen])
                held_out[~seen] += sigmoid(found.slope * odds[~seen] + found.intercept) / _SPLITS
        old, new = (
            -weights * (labels * np.log(likely) + (1 - labels) * np.log(1 - likely))
            for likely in (sigmoid(odds), held_out)
        )
        gains = np.bincount(names, weights=old - new)
        noise = float(gains.std(ddof=1) * len(gains) ** 0.5 / len(labels))
        return cls(Platt.fit(odds, labels, weights), float(old.mean()), float(new.mean()), noise, held_out)
