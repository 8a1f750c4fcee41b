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


def logistic(columns: np.ndarray, truth: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """The weights of the columns, then the shift, that make them log-odds."""
    columns = np.column_stack([columns, np.ones(len(truth))])
    weight = np.ones(len(truth)) if weight is None else weight

    def loss(found: np.ndarray) -> float:
        said = columns @ found
        return float((weight * (np.logaddexp(0, said) - truth * said)).sum() / weight.sum())

    start = np.zeros(columns.shape[1])
    start[0] = 1.0
    return minimize(loss, start).x


def isotonic(score: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Per row the share of true rows among those with such a score, which never falls as the score rises (pooled violators)."""
    _, place = np.unique(score, return_inverse=True)
    blocks: list[tuple[float, int, int]] = []
    for true, count in zip(np.bincount(place, truth), np.bincount(place), strict=True):
        blocks.append((true, count, 1))
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = tuple(map(sum, zip(blocks[-1], last, strict=True)))
    return np.repeat([true / count for true, count, _ in blocks], [size for *_, size in blocks])[place]
