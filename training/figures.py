"""Figures: area under the curve, calibration error, intervals by resampling."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize


def auc(score: np.ndarray, truth: np.ndarray) -> float:
    """How often a true row scores above a false one; ties count half."""
    order = np.argsort(score, kind="stable")
    ranked = score[order]
    first = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    group = np.cumsum(first) - 1
    starts = np.flatnonzero(first)
    ends = np.concatenate([starts[1:], [len(score)]])
    ranks = np.empty(len(score))
    ranks[order] = ((starts + ends + 1) / 2)[group]
    positive = int(truth.sum())
    negative = len(truth) - positive
    return (
        float((ranks[truth].sum() - positive * (positive + 1) / 2) / (positive * negative))
        if positive and negative
        else float("nan")
    )


def calibration_error(
    probability: np.ndarray, truth: np.ndarray, weight: np.ndarray | None = None, bins: int = 15
) -> float:
    """The expected difference between what is said and what is so, in bins of equal width."""
    weight = np.ones(len(truth)) if weight is None else weight
    place = np.minimum((probability * bins).astype(int), bins - 1)
    gaps = np.bincount(place, weight * (probability - truth), bins)
    return float(np.abs(gaps).sum() / weight.sum())


def interval(figure: Callable[[np.ndarray], float], rows: int, times: int = 300) -> list[float]:
    """The middle 95 % of a figure over rows drawn with replacement."""
    rng = np.random.default_rng(7)
    found = [figure(rng.integers(0, rows, rows)) for _ in range(times)]
    return [round(float(np.nanpercentile(found, q)), 4) for q in (2.5, 97.5)]


def platt(score: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """The slope and the shift that make a score a log-odds."""

    def loss(found: np.ndarray) -> float:
        said = found[0] * score + found[1]
        return float((weight * (np.logaddexp(0, said) - truth * said)).sum() / weight.sum())

    slope, shift = minimize(loss, np.array([1.0, 0.0])).x
    return float(slope), float(shift)
