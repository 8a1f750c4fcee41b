"""Bradley-Terry strengths from duels: the probability that one player beats another, on one scale.

The log-odds that i beats j are the difference of their strengths; a tie is half a win for each. The maximum likelihood
exists only if wins connect every player to every other in both directions (Ford 1957). If they do not, half a win in both
directions is added to every pair that met, and `smoothed` is set.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ragstone.stats.intervals import Interval
from ragstone.stats.resampled_measures import RESAMPLES, draw_rows, spread

_ROUNDS = 200
_CLOSE = 1e-12
# Limit a Newton step: far from the maximum the curve is flat and gives no direction.
_LONGEST_STEP = 2.0


class Duels(NamedTuple):
    """The two players of each duel, the result of the first (1, 0.5 or 0), and the question."""

    one: np.ndarray
    other: np.ndarray
    worth: np.ndarray
    group: np.ndarray


class Strengths(NamedTuple):
    """A strength for each player, 0 on average, with intervals; `smoothed` if half wins were added."""

    values: np.ndarray
    intervals: list[Interval | None]
    smoothed: bool


def rate(duels: Duels, players: int, level: float = 0.95, resamples: int = RESAMPLES // 2, seed: int = 0) -> Strengths:
    """Strengths with bootstrap intervals over questions. Players not connected to the rest get nan."""
    wins = count_wins(duels, players)
    values, smoothed = strengths(wins)
    rated = _is_connected(wins)
    values = np.where(rated, values, np.nan)
    drawn = np.concatenate(
        [
            np.stack([_strengths_of(count_wins(duels, players, row), rated) for row in times])
            for times in draw_rows(duels.group, resamples, seed)
        ]
    )
    groups = len(np.unique(duels.group))
    intervals = [
        None if np.isnan(values[player]) else spread(drawn[:, player], groups, level) for player in range(players)
    ]
    return Strengths(values, intervals, smoothed)


def count_wins(duels: Duels, players: int, times: np.ndarray | None = None) -> np.ndarray:
    """The number of wins of the row's player against the column's; ties count half."""
    weights = np.ones(len(duels.one)) if times is None else times
    wins = np.zeros((players, players))
    np.add.at(wins, (duels.one, duels.other), weights * duels.worth)
    np.add.at(wins, (duels.other, duels.one), weights * (1 - duels.worth))
    return wins


def strengths(wins: np.ndarray) -> tuple[np.ndarray, bool]:
    """The maximum-likelihood strengths, and whether half wins were added because there is no maximum."""
    met = wins + wins.T
    smoothed = not _reach(wins > 0).all()
    if smoothed:
        wins = wins + np.where(met > 0, 0.5, 0.0)
        met = wins + wins.T
    apart = _reach(met > 0).astype(float)
    values = np.zeros(len(wins))
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(np.clip(values[None, :] - values[:, None], -500, 500)))
        slope = (wins - met * chance).sum(axis=1)
        bend = -met * chance * (1 - chance)
        np.fill_diagonal(bend, 0.0)
        np.fill_diagonal(bend, -bend.sum(axis=1))
        # Only differences matter; adding a constant makes the system solvable.
        step = np.linalg.solve(bend + apart, slope)
        values = values + step * min(1.0, _LONGEST_STEP / max(float(np.abs(step).max()), _CLOSE))
        if np.abs(step).max() < _CLOSE:
            break
    return values - values.mean(), bool(smoothed)


def _strengths_of(wins: np.ndarray, rated: np.ndarray) -> np.ndarray:
    """The strengths of a resample; nan if it does not connect all rated players."""
    if not _is_connected(wins)[rated].all():
        return np.full(len(wins), np.nan)
    return strengths(wins)[0]


def _is_connected(wins: np.ndarray) -> np.ndarray:
    """The players in the largest connected component."""
    reach = _reach(wins + wins.T > 0)
    return np.asarray(reach[reach.sum(axis=1).argmax()])


def _reach(beats: np.ndarray) -> np.ndarray:
    """Whether a path of any length leads from the row's player to the column's."""
    reach = beats | np.eye(len(beats), dtype=bool)
    for _ in range(len(beats).bit_length()):
        reach = reach @ reach
    return reach
