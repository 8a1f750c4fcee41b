"""Many tests at once: p-values corrected, so that twenty metrics do not give one false alarm each time."""

from __future__ import annotations

from typing import Literal

import numpy as np

# `joint` needs more than the p-values: the permutation test makes it.
Correction = Literal["joint", "holm", "bh", "none"]


def correct(p: np.ndarray, correction: Correction = "holm") -> np.ndarray:
    """The corrected p-values, each at its place; nan is no test and stays so."""
    if correction == "none":
        return p.copy()
    corrected = np.full(len(p), np.nan)
    tested = ~np.isnan(p)
    corrected[tested] = (holm if correction == "holm" else benjamini_hochberg)(p[tested])
    return corrected


def holm(p: np.ndarray) -> np.ndarray:
    """Holm: the chance of even one false alarm stays below the level."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _in_place(np.minimum(steps, 1.0), order)


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg: the expected share of false ones among the alarms stays below the level."""
    order = np.argsort(p, kind="stable")
    steps = p[order] * len(p) / np.arange(1, len(p) + 1)
    return _in_place(np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0), order)


def _in_place(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    placed = np.empty(len(values))
    placed[order] = values
    return placed
