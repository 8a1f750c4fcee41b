"""Ridge-penalised logistic regression for labels between 0 and 1, with the penalty chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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
    from scipy import special  # noqa: PLC0415

    return np.asarray(special.expit(values))


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
