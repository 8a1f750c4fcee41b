"""Learns signal weights from labelled answers: logistic regression with a penalty towards the default weights.

The fewer labels there are, the stronger the penalty. Learned weights are used only if they win on held-out labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ragstone.errors import InputError, Problem
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.truth.harvest.log_index import Index, Judged, find_rows
from ragstone.truth.harvest.signals import FEATURES, Weights, first_value

_IDS = ("response_id", "responseId", "answer_id", "sample_id", "id")
_LABELS = ("label", "good", "correct", "verdict")
_GOOD = {"good", "true", "1", "1.0", "yes", "right", "correct"}
_BAD = {"bad", "false", "0", "0.0", "-1", "no", "wrong", "incorrect"}
_RATINGS = ("like", "dislike")
FEWEST_LABELS = 20
_FOLDS = 5
# Candidate strengths of the penalty towards the default weights.
_PULLS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_EDGE = 1e-12
_MOST_STEPS, _NEAR_ENOUGH = 100, 1e-8


@dataclass(frozen=True)
class Bin:
    """Answers of similar probability: the mean prediction (`said`) and the share that was good."""

    low: float
    high: float
    count: int
    said: float
    good: float


@dataclass(frozen=True)
class Learned:
    """The weights to use, with the loss of the default and the learned ones on held-out answers."""

    weights: Weights
    labels: int
    good: int
    loss_before: float
    loss_after: float | None
    # The mean gain over answers, in standard errors.
    gain_in_errors: float
    pull: float
    # Why the default weights stay; empty if the learned ones win.
    reason: str

    @property
    def won(self) -> bool:
        """Whether the learned weights are used."""
        return not self.reason


def learn(features: np.ndarray, good: np.ndarray, start: Weights, seed: int = 0) -> Learned:
    """Fits weights to labelled answers, one row of features each; keeps `start` if learning does not win."""
    n, n_good = len(good), int(good.sum())
    before = _losses(start.probabilities(features), good)
    if n < FEWEST_LABELS or min(n_good, n - n_good) < _FOLDS:
        reason = f"too few labels: {n_good} good and {n - n_good} bad with a signal; {FEWEST_LABELS} and {_FOLDS} of each are needed"
        return Learned(start, n, n_good, _mean(before), None, 0.0, 0.0, reason)
    folds = _folds(good, seed)
    after = np.zeros(n)
    for fold in range(_FOLDS):
        here, there = folds != fold, folds == fold
        # The penalty is chosen within the fold, without the held-out answers.
        pull = _choose_pull(features[here], good[here], start, seed)
        after[there] = _held_out(features, good, start, pull, here)
    gain = before - after
    error = float(gain.std(ddof=1)) / n**0.5
    in_errors = float(gain.mean()) / error if error else 0.0
    pull = _choose_pull(features, good, start, seed)
    won = in_errors > 1.0
    reason = "" if won else "the gain on held-out answers is at most one standard error"
    chosen = _fit(features, good, start, pull) if won else start
    return Learned(chosen, n, n_good, _mean(before), _mean(after), in_errors, pull, reason)


def calibration(probabilities: np.ndarray, good: np.ndarray, bins: int = 10) -> list[Bin]:
    """Answers by tenths of predicted probability; empty tenths are omitted."""
    numbers = np.minimum((probabilities * bins).astype(int), bins - 1)
    filled = []
    for number in range(bins):
        here = numbers == number
        if here.any():
            said, share = float(probabilities[here].mean()), float(good[here].mean())
            filled.append(Bin(number / bins, (number + 1) / bins, int(here.sum()), said, share))
    return filled


def calibration_error(bins: list[Bin]) -> float:
    """The mean absolute difference between prediction and outcome, over answers."""
    total = sum(one.count for one in bins)
    return sum(one.count * abs(one.said - one.good) for one in bins) / total


def _fit(features: np.ndarray, good: np.ndarray, start: Weights, pull: float) -> Weights:
    """The best weights under a squared penalty on the distance from the default ones, by Newton's method."""
    design = np.column_stack([np.ones(len(features)), features])
    home = np.concatenate([[start.prior], start.vector()])
    signs = np.where(good, 1.0, -1.0)
    weights, loss = home, _penalised(home, home, design, signs, pull)
    for _ in range(_MOST_STEPS):
        doubts = (1.0 - np.tanh(signs * (design @ weights) / 2)) / 2
        slope = -(signs * doubts) @ design + pull * (weights - home)
        curve = (design * (doubts * (1.0 - doubts))[:, None]).T @ design + pull * np.eye(len(home))
        step = np.linalg.solve(curve, slope)
        # A full Newton step may increase the loss; a small enough step does not.
        while (new := _penalised(weights - step, home, design, signs, pull)) > loss and np.abs(step).max() > _EDGE:
            step /= 2
        weights, loss = weights - step, new
        if np.abs(step).max() < _NEAR_ENOUGH:
            break
    named = dict(zip(FEATURES, map(float, weights[1:]), strict=True))
    return Weights(named, float(weights[0]), start.good_from, start.bad_up_to)


def _penalised(weights: np.ndarray, home: np.ndarray, design: np.ndarray, signs: np.ndarray, pull: float) -> float:
    """The log-loss of all answers plus the penalty."""
    away = weights - home
    return float(np.logaddexp(0.0, -signs * (design @ weights)).sum() + pull / 2 * away @ away)


def _choose_pull(features: np.ndarray, good: np.ndarray, start: Weights, seed: int) -> float:
    folds = _folds(good, seed + 1)
    scores = {}
    for pull in _PULLS:
        losses = np.zeros(len(good))
        for fold in range(_FOLDS):
            here, there = folds != fold, folds == fold
            losses[there] = _held_out(features, good, start, pull, here)
        scores[pull] = losses.mean()
    return min(scores, key=lambda pull: (scores[pull], -pull))


def _held_out(features: np.ndarray, good: np.ndarray, start: Weights, pull: float, chosen: np.ndarray) -> np.ndarray:
    """The losses of the other answers with weights fitted to the chosen ones."""
    fitted = _fit(features[chosen], good[chosen], start, pull)
    return _losses(fitted.probabilities(features[~chosen]), good[~chosen])


def _folds(good: np.ndarray, seed: int) -> np.ndarray:
    """The fold of each answer; each fold has its share of good and bad."""
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


@dataclass(frozen=True)
class Labelled:
    """Labelled answers of a log that have a signal."""

    features: np.ndarray
    good: np.ndarray
    # Unused labels: of answers that are not in the log, and of answers without a signal.
    unknown: int
    silent: int


def read_labels(path: str) -> dict[str, bool]:
    """Labels by answer from rows `{response_id, label}`; the later of two labels counts."""
    report, labels = Report(), {}
    for row in Source(path).rows(report):
        answer, word = first_value(row.values, _IDS), str(first_value(row.values, _LABELS)).strip().lower()
        if answer is None or word not in _GOOD | _BAD:
            report.problem(row.where, f"needs an answer id and a label, good or bad; got {word!r}")
        else:
            labels[str(answer)] = word in _GOOD
    report.raise_problems(path)
    if not labels:
        raise InputError(
            path, [Problem("has no labels", hint='write rows such as {"response_id": "…", "label": "good"}')]
        )
    return labels


def join_labels(labels: Mapping[str, bool], index: Index, judged: Judged) -> Labelled:
    """Matches labels with the signals of their answers."""
    rows = find_rows(index, labels)
    good = np.array(list(labels.values()), dtype=bool)
    known = rows >= 0
    useful = known & judged.has_signal[rows]
    features = judged.features[rows[useful]].astype(float)
    return Labelled(features, good[useful], int((~known).sum()), int((known & ~useful).sum()))


@dataclass(frozen=True)
class Agreement:
    """Of the answers with this signal and one rating, how many were liked."""

    liked: int
    rated: int


def agreement_with_ratings(judged: Judged) -> dict[str, Agreement]:
    """Compares every other signal with the users' ratings: a first estimate of its worth without labels."""
    likes, dislikes = (judged.features[:, FEATURES.index(name)] > 0 for name in _RATINGS)
    rated = likes != dislikes
    agreements = {}
    for column, name in enumerate(FEATURES):
        here = rated & (judged.features[:, column] != 0)
        if name not in _RATINGS and here.any():
            agreements[name] = Agreement(int((here & likes).sum()), int(here.sum()))
    return agreements
