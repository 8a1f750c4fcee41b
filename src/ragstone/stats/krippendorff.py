"""Krippendorff's alpha: how far any number of raters agree beyond chance, whoever rated whatever."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragstone.stats.resampled import Measure
from ragstone.stats.units import divide

Scale = Literal["nominal", "ordinal", "interval"]


def make_alpha(ratings: np.ndarray, scale: Scale = "nominal") -> Measure:
    """Alpha of a table with a row a rated thing and a column a rater, nan where somebody did not rate.

    Rows with fewer than two ratings count for nothing.
    """
    counts = (~np.isnan(ratings)).sum(axis=1)
    rated = np.where((counts >= 2)[:, None], ratings, np.nan)
    return _make_interval(rated) if scale == "interval" else _make_by_values(rated, scale)


def _make_interval(rated: np.ndarray) -> Measure:
    """By sums of squares, so that numbers of any kind will do."""
    centred = rated - (np.nanmean(rated) if (~np.isnan(rated)).any() else 0.0)
    there = ~np.isnan(centred)
    counts, values = there.sum(axis=1).astype(np.float64), np.where(there, centred, 0.0)
    sums, squares = values.sum(axis=1), (values**2).sum(axis=1)
    # All pairs within a row: 2 (m Σv² - (Σv)²), shared among m - 1.
    within = divide(2 * (counts * squares - sums**2), counts - 1)
    statistics = np.column_stack([np.nan_to_num(within), counts, sums, squares])

    def measure(times: np.ndarray) -> np.ndarray:
        seen, total, drawn, squared = (times @ statistics).T
        expected = divide(2 * (total * squared - drawn**2), total - 1)
        return 1 - divide(seen, expected)

    return measure


def _make_by_values(rated: np.ndarray, scale: Scale) -> Measure:
    """By the table of which value met which within a row."""
    values = np.unique(rated[~np.isnan(rated)])
    seen = (rated[:, :, None] == values).sum(axis=1).astype(np.float64)
    counts = seen.sum(axis=1)
    met = np.einsum("ni,nj->nij", seen, seen) - np.einsum("ni,ij->nij", seen, np.eye(len(values)))
    met = np.nan_to_num(divide(met, np.broadcast_to((counts - 1)[:, None, None], met.shape))).reshape(len(seen), -1)

    def measure(times: np.ndarray) -> np.ndarray:
        together = (times @ met).reshape(len(times), len(values), len(values))
        marginals = together.sum(axis=2)
        cost = _ordinal_cost(marginals) if scale == "ordinal" else 1 - np.eye(len(values))[None, :, :]
        observed = (together * cost).sum(axis=(1, 2))
        chance = (marginals[:, :, None] * marginals[:, None, :] * cost).sum(axis=(1, 2))
        return 1 - divide(observed * (marginals.sum(axis=1) - 1), chance)

    return measure


def _ordinal_cost(marginals: np.ndarray) -> np.ndarray:
    """How many ratings lie between two values, half of each of the two included, squared."""
    middle = np.cumsum(marginals, axis=1) - marginals / 2
    cost: np.ndarray = (middle[:, :, None] - middle[:, None, :]) ** 2
    return cost
