"""Figures: area under the curve, calibration error, intervals by resampling."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


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
    """The slope and the shift that make a score a log-odds, by Newton's method."""
    given = np.column_stack([score, np.ones(len(score))])
    found = np.array([1.0, 0.0])
    for _ in range(50):
        said = 1 / (1 + np.exp(-np.clip(given @ found, -30, 30)))
        slope = given.T @ (weight * (truth - said))
        bend = (given * (weight * said * (1 - said))[:, None]).T @ given + 1e-9 * np.eye(2)
        step = np.linalg.solve(bend, slope)
        found += step
        if np.abs(step).max() < 1e-8:
            break
    return float(found[0]), float(found[1])
