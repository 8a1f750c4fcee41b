"""How far two raters, or a score and yes-or-no labels, say the same; measures of drawn rows, nan where they mean nothing."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragstone.stats.correlation import count_values
from ragstone.stats.resampled import Measure
from ragstone.stats.units import divide

Weights = Literal["none", "linear", "quadratic"]
BINS = 10


def make_kappa(first: np.ndarray, second: np.ndarray, weights: Weights = "none") -> Measure:
    """Cohen's kappa: agreement beyond chance. Weighted, near misses count less than far ones, by the order of the ratings."""
    ratings, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    size = len(ratings)
    cells = places[: len(first)] * size + places[len(first) :]
    away = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    cost = {"none": (away > 0).astype(np.float64), "linear": away, "quadratic": away**2}[weights]

    def measure(times: np.ndarray) -> np.ndarray:
        seen = count_values(times, cells, size * size).reshape(-1, size, size)
        rows, columns = seen.sum(axis=2), seen.sum(axis=1)
        chance = divide(np.einsum("ri,rj,ij->r", rows, columns, cost), times.sum(axis=1))
        return 1 - divide((seen * cost).sum(axis=(1, 2)), chance)

    return measure


def make_accuracy(labels: np.ndarray, verdicts: np.ndarray) -> Measure:
    """The share of rows where a verdict is the label."""
    right = (labels == verdicts).astype(np.float64)
    return lambda times: divide(times @ right, times.sum(axis=1))


def make_f1(labels: np.ndarray, verdicts: np.ndarray) -> Measure:
    """F1 of the verdict yes (1) against labels of 0 and 1."""
    both, either = labels * verdicts, labels + verdicts
    return lambda times: divide(2 * (times @ both), times @ either)


def make_auc(labels: np.ndarray, scores: np.ndarray) -> Measure:
    """The chance that a row with label 1 has a higher score than one with label 0, ties counted half."""
    _, places = np.unique(scores, return_inverse=True)

    def measure(times: np.ndarray) -> np.ndarray:
        good, bad = count_values(times * labels, places), count_values(times * (1 - labels), places)
        below = np.cumsum(bad, axis=1) - bad / 2
        return divide((good * below).sum(axis=1), good.sum(axis=1) * bad.sum(axis=1))

    return measure


def make_calibration_error(labels: np.ndarray, scores: np.ndarray, bins: int = BINS) -> Measure:
    """Expected calibration error: how far, bin by bin, scores from 0 to 1 are from the share of rows with label 1."""
    places = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], scores)
    gap = labels - scores

    def measure(times: np.ndarray) -> np.ndarray:
        return divide(np.abs(count_values(times * gap, places, bins)).sum(axis=1), times.sum(axis=1))

    return measure
