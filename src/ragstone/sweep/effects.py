"""Main effects: how the metric changes with one parameter, averaged over the values of all others.

An additive model is fitted to the settings of each question, by least squares. In a full grid its effects are differences of
plain means. The intervals are over questions: settings are fixed, questions are a sample. Interactions are averaged over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.stats.bootstrap import clustered_interval
from ragstone.stats.intervals import Interval, mean_interval
from ragstone.stats.sequential import any_time_interval

_ROUNDING = 1e-8


@dataclass(frozen=True)
class LevelEffect:
    """One value of a parameter: its adjusted mean, and the difference to the first value with its interval."""

    level: Any
    settings: int
    mean: float | None
    difference: float | None = None
    interval: Interval | None = None


@dataclass(frozen=True)
class ParameterEffect:
    """One parameter. `note` is the reason if the settings do not separate its effect from that of another parameter."""

    parameter: str
    levels: tuple[LevelEffect, ...]
    note: str = ""


@dataclass(frozen=True)
class Conditions:
    """How intervals are computed: bounds and level, conversations, and whether the number of questions depends on the data."""

    bounds: tuple[float | None, float | None] = (None, None)
    level: float = 0.95
    clusters: np.ndarray | None = None
    is_sequential: bool = False


def main_effects(
    settings: Sequence[Mapping[str, Any]], values: np.ndarray, conditions: Conditions
) -> list[ParameterEffect]:
    """The effect of each parameter with two values or more. `values` has one row per setting and one column per question."""
    names = list(dict.fromkeys(name for setting in settings for name in setting))
    levels = {name: list(dict.fromkeys(setting.get(name) for setting in settings)) for name in names}
    varied = [name for name in names if len(levels[name]) > 1]
    design, columns = _design(settings, varied, levels)
    inverse = np.linalg.pinv(design)
    known = inverse @ design
    effects = []
    for name in varied:
        contrasts = [_contrast(design.shape[1], columns[name], level) for level in range(len(levels[name]))]
        items = []
        for number, (level, contrast) in enumerate(zip(levels[name], contrasts, strict=True)):
            count = sum(setting.get(name) == level for setting in settings)
            mean = _weights(contrast, known, inverse)
            change = _weights(contrast - contrasts[0], known, inverse) if number else None
            items.append(_level(level, count, mean, change, values, conditions))
        lost = any(item.difference is None for item in items[1:])
        effects.append(ParameterEffect(name, tuple(items), _LOST if lost else ""))
    return effects


_LOST = "these settings do not separate its effect from that of other parameters"


def _design(
    settings: Sequence[Mapping[str, Any]], varied: Sequence[str], levels: Mapping[str, list[Any]]
) -> tuple[np.ndarray, dict[str, range]]:
    """The design matrix with effects that add up to 0 per parameter, and the columns of each parameter."""
    columns, position = {}, 1
    for name in varied:
        columns[name] = range(position, position + len(levels[name]) - 1)
        position += len(levels[name]) - 1
    design = np.zeros((len(settings), position))
    for row, setting in enumerate(settings):
        design[row] = _contrast(position, range(0), 0)
        for name in varied:
            part = _contrast(position, columns[name], levels[name].index(setting.get(name)))
            part[0] = 0.0
            design[row] += part
    return design, columns


def _contrast(width: int, columns: range, level: int) -> np.ndarray:
    """The mean at one level: the intercept plus the effect of the level; the last level's is minus the sum of the others."""
    contrast = np.zeros(width)
    contrast[0] = 1.0
    if level < len(columns):
        contrast[columns[level]] = 1.0
    else:
        contrast[list(columns)] = -1.0
    return contrast


def _weights(contrast: np.ndarray, known: np.ndarray, inverse: np.ndarray) -> np.ndarray | None:
    """The weight of each setting in a contrast; None if the settings do not determine it."""
    return contrast @ inverse if np.allclose(contrast @ known, contrast, atol=_ROUNDING) else None


def _level(
    level: Any,
    count: int,
    mean: np.ndarray | None,
    change: np.ndarray | None,
    values: np.ndarray,
    conditions: Conditions,
) -> LevelEffect:
    adjusted = None if mean is None or not values.shape[1] else float((mean @ values).mean())
    if change is None or not values.shape[1]:
        return LevelEffect(level, count, adjusted)
    per_question = change @ values
    bounds = _bounds(change, conditions.bounds)
    return LevelEffect(level, count, adjusted, float(per_question.mean()), _interval(per_question, bounds, conditions))


def _bounds(weights: np.ndarray, bounds: tuple[float | None, float | None]) -> tuple[float | None, float | None]:
    """The bounds of a weighted sum of scores."""
    low, high = bounds
    if low is None or high is None:
        return None, None
    ends = np.stack([weights * low, weights * high])
    return float(ends.min(axis=0).sum()), float(ends.max(axis=0).sum())


def _interval(values: np.ndarray, bounds: tuple[float | None, float | None], conditions: Conditions) -> Interval | None:
    low, high = bounds
    if conditions.is_sequential:
        clusters = conditions.clusters
        if clusters is not None:
            values = np.array([values[clusters == label].mean() for label in dict.fromkeys(clusters.tolist())])
        finite = (-np.inf if low is None else low, np.inf if high is None else high)
        return any_time_interval(values, conditions.level, finite)
    if conditions.clusters is not None:
        return clustered_interval(values, conditions.clusters, bounds, conditions.level)
    return mean_interval(values, conditions.level, bounds)
