"""People against people: how far those who labelled agree, which is as far as any metric can be expected to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragstone.stats.correlation import Coefficient, make_correlation
from ragstone.stats.intervals import Interval
from ragstone.stats.krippendorff import Scale, make_alpha
from ragstone.stats.resampled import Measure, estimate

LEAST_SHARED = 3
# More values than that are a continuous scale.
_MOST_STEPS = 20


@dataclass(frozen=True)
class Ceiling:
    """Alpha among all annotators, and how one of them goes with the mean of the others."""

    annotators: int
    shared: int
    scale: Scale
    alpha: float | None
    alpha_interval: Interval | None
    coefficient: Coefficient
    correlation: float | None
    correlation_interval: Interval | None


def measure_ceiling(ratings: np.ndarray, inputs: np.ndarray, coefficient: Coefficient) -> Ceiling | None:
    """How far annotators agree, over the rows that two or more have labelled; None where those are too few."""
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
    )


def tell_scale(ratings: np.ndarray) -> Scale:
    """Two values are names, a few whole numbers are steps, anything else is a measure."""
    values = np.unique(ratings[~np.isnan(ratings)])
    if len(values) <= 2:
        return "nominal"
    return "ordinal" if len(values) <= _MOST_STEPS and (values == np.round(values)).all() else "interval"


def _make_leave_one_out(table: np.ndarray, coefficient: Coefficient) -> Measure:
    """The mean over annotators of the correlation of each with the mean of the others."""
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
