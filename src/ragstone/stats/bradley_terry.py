"""Bradley and Terry's strengths from duels: how likely one wins against another, on one scale for all.

The logarithm of the odds that i wins against j is the difference of their strengths; a tie is half a win for each. The
strengths that make the duels likeliest exist only if everybody can be reached from everybody by wins (Ford 1957); where
one has won or lost them all, half a win both ways is added to every pair that met, and the result says so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from ragstone.stats.intervals import Interval
from ragstone.stats.resampled import RESAMPLES, draw_rows, spread

_ROUNDS = 200
_CLOSE = 1e-12
# One Newton step may not leap: far out the curve is flat and says nothing about where to land.
_LONGEST_STEP = 2.0


class Duels(NamedTuple):
    """Who met whom, what the first one got (1, 0.5 or 0), and which question it was about."""

    one: np.ndarray
    other: np.ndarray
    worth: np.ndarray
    group: np.ndarray


class Strengths(NamedTuple):
    """A strength for each player, 0 on average, with intervals; whether wins had to be added to have any."""

    values: np.ndarray
    intervals: list[Interval | None]
    smoothed: bool


def rate(duels: Duels, players: int, level: float = 0.95, resamples: int = RESAMPLES // 2, seed: int = 0) -> Strengths:
    """Strengths with bootstrap intervals over questions. Who never met the others, however far around, has none (nan)."""
    wins = count_wins(duels, players)
    values, smoothed = strengths(wins)
    rated = _met_around(wins)
    values = np.where(rated, values, np.nan)
    drawn = np.concatenate(
        [
            np.stack([_strengths_of(count_wins(duels, players, row), rated) for row in times])
            for times in draw_rows(duels.group, resamples, seed)
        ]
    )
    groups = len(np.unique(duels.group))
    intervals = [
        None if np.isnan(values[place]) else spread(drawn[:, place], groups, level) for place in range(players)
    ]
    return Strengths(values, intervals, smoothed)


def count_wins(duels: Duels, players: int, times: np.ndarray | None = None) -> np.ndarray:
    """How often the row's player won against the column's; ties count half."""
    weights = np.ones(len(duels.one)) if times is None else times
    wins = np.zeros((players, players))
    np.add.at(wins, (duels.one, duels.other), weights * duels.worth)
    np.add.at(wins, (duels.other, duels.one), weights * (1 - duels.worth))
    return wins


def strengths(wins: np.ndarray) -> tuple[np.ndarray, bool]:
    """The likeliest strengths, and whether half wins were added because there would be none."""
    met = wins + wins.T
    smoothed = connected_components(wins > 0, directed=True, connection="strong")[0] > 1
    if smoothed:
        wins = wins + np.where(met > 0, 0.5, 0.0)
        met = wins + wins.T
    _, component = connected_components(met > 0, directed=False)
    apart = (component[:, None] == component[None, :]).astype(float)
    values = np.zeros(len(wins))
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(np.clip(values[None, :] - values[:, None], -500, 500)))
        slope = (wins - met * chance).sum(axis=1)
        bend = -met * chance * (1 - chance)
        np.fill_diagonal(bend, 0.0)
        np.fill_diagonal(bend, -bend.sum(axis=1))
        # Only differences matter, so that a constant is added to make the system one that can be solved.
        step = np.linalg.solve(bend + apart, slope)
        values = values + step * min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), _CLOSE))
        if np.abs(step).max() < _CLOSE:
            break
    return values - values.mean(), bool(smoothed)


def _strengths_of(wins: np.ndarray, rated: np.ndarray) -> np.ndarray:
    """The strengths of a resample; nan where it left somebody out whom the others cannot be compared with."""
    if not _met_around(wins)[rated].all():
        return np.full(len(wins), np.nan)
    return strengths(wins)[0]


def _met_around(wins: np.ndarray) -> np.ndarray:
    """Who belongs to the largest group in which all have met, however far around."""
    _, component = connected_components(wins + wins.T > 0, directed=False)
    return np.asarray(component == np.bincount(component).argmax())
