"""Weights of signals learned from answers that people have labelled: logistic regression that starts from the usual weights.

The learned weights are pulled towards the usual ones, the more strongly the fewer labels there are. They are only kept where they
win on labels that they have not seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragstone.truth.harvest.weighing import FEATURES, Weights

FEWEST_LABELS = 20
_FOLDS = 5
# Strengths of the pull towards the usual weights that are tried.
_PULLS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_EDGE = 1e-12
_MOST_STEPS, _NEAR_ENOUGH = 100, 1e-8


@dataclass(frozen=True)
class Bin:
    """Answers of about the same probability: what was said, and what was so."""

    low: float
    high: float
    count: int
    said: float
    good: float


@dataclass(frozen=True)
class Learned:
    """The weights to use, and how the learned ones fared beside the usual ones on answers that they had not seen."""

    weights: Weights
    labels: int
    good: int
    loss_before: float
    loss_after: float | None
    # How far the gain is from nothing: its mean over answers in standard errors.
    gain_in_errors: float
    pull: float
    # Why the usual weights stay; empty where the learned ones win.
    reason: str

    @property
    def won(self) -> bool:
        """Whether the learned weights are taken."""
        return not self.reason


def learn(features: np.ndarray, good: np.ndarray, start: Weights, seed: int = 0) -> Learned:
    """Weights for labelled answers, a row of features each; the old ones where learning does not win."""
    n, n_good = len(good), int(good.sum())
    before = _losses(start.probabilities(features), good)
    if n < FEWEST_LABELS or min(n_good, n - n_good) < _FOLDS:
        reason = f"too few labels: {n_good} good and {n - n_good} bad with a signal; {FEWEST_LABELS} and {_FOLDS} of each are needed"
        return Learned(start, n, n_good, _mean(before), None, 0.0, 0.0, reason)
    folds = _folds(good, seed)
    after = np.zeros(n)
    for fold in range(_FOLDS):
        here, there = folds != fold, folds == fold
        # The pull is chosen within the fold, so that what is left out has no say in it.
        pull = _choose_pull(features[here], good[here], start, seed)
        after[there] = _losses(
            _fit(features[here], good[here], start, pull).probabilities(features[there]), good[there]
        )
    gain = before - after
    error = float(gain.std(ddof=1)) / n**0.5
    in_errors = float(gain.mean()) / error if error else 0.0
    pull = _choose_pull(features, good, start, seed)
    won = in_errors > 1.0
    reason = "" if won else "they do not win by more than a standard error on answers that they have not seen"
    chosen = _fit(features, good, start, pull) if won else start
    return Learned(chosen, n, n_good, _mean(before), _mean(after), in_errors, pull, reason)


def calibration(probabilities: np.ndarray, good: np.ndarray, bins: int = 10) -> list[Bin]:
    """Answers in tenths of probability; a tenth without answers is left out."""
    places = np.minimum((probabilities * bins).astype(int), bins - 1)
    found = []
    for place in range(bins):
        here = places == place
        if here.any():
            said, share = float(probabilities[here].mean()), float(good[here].mean())
            found.append(Bin(place / bins, (place + 1) / bins, int(here.sum()), said, share))
    return found


def calibration_error(bins: list[Bin]) -> float:
    """How far what was said is from what was so, on average over answers."""
    total = sum(one.count for one in bins)
    return sum(one.count * abs(one.said - one.good) for one in bins) / total


def _fit(features: np.ndarray, good: np.ndarray, start: Weights, pull: float) -> Weights:
    """The weights that fit best, with a squared penalty on the way from the usual ones; by Newton's method."""
    design = np.column_stack([np.ones(len(features)), features])
    home = np.concatenate([[start.prior], start.vector()])
    signs = np.where(good, 1.0, -1.0)
    weights, loss = home, _penalised(home, home, design, signs, pull)
    for _ in range(_MOST_STEPS):
        doubts = (1.0 - np.tanh(signs * (design @ weights) / 2)) / 2
        slope = -(signs * doubts) @ design + pull * (weights - home)
        curve = (design * (doubts * (1.0 - doubts))[:, None]).T @ design + pull * np.eye(len(home))
        step = np.linalg.solve(curve, slope)
        # A whole step may go too far; a small enough one never does.
        while (new := _penalised(weights - step, home, design, signs, pull)) > loss and np.abs(step).max() > _EDGE:
            step /= 2
        weights, loss = weights - step, new
        if np.abs(step).max() < _NEAR_ENOUGH:
            break
    named = dict(zip(FEATURES, map(float, weights[1:]), strict=True))
    return Weights(named, float(weights[0]), start.good_from, start.bad_up_to)


def _penalised(weights: np.ndarray, home: np.ndarray, design: np.ndarray, signs: np.ndarray, pull: float) -> float:
    """The log-loss of all answers, and what it costs to be away from the usual weights."""
    away = weights - home
    return float(np.logaddexp(0.0, -signs * (design @ weights)).sum() + pull / 2 * away @ away)


def _choose_pull(features: np.ndarray, good: np.ndarray, start: Weights, seed: int) -> float:
    folds = _folds(good, seed + 1)
    scores = {}
    for pull in _PULLS:
        losses = np.zeros(len(good))
        for fold in range(_FOLDS):
            here, there = folds != fold, folds == fold
            losses[there] = _losses(
                _fit(features[here], good[here], start, pull).probabilities(features[there]), good[there]
            )
        scores[pull] = losses.mean()
    return min(scores, key=lambda pull: (scores[pull], -pull))


def _folds(good: np.ndarray, seed: int) -> np.ndarray:
    """The fold of each answer; each has its share of good and bad."""
    random = np.random.default_rng(seed)
    folds = np.empty(len(good), dtype=int)
    for verdict in (False, True):
        places = random.permutation(np.flatnonzero(good == verdict))
        folds[places] = np.arange(len(places)) % _FOLDS
    return folds


def _losses(probabilities: np.ndarray, good: np.ndarray) -> np.ndarray:
    """The log-loss of each answer."""
    right = np.where(good, probabilities, 1.0 - probabilities)
    found: np.ndarray = -np.log(np.clip(right, _EDGE, 1.0))
    return found


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else 0.0
