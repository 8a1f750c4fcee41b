"""Decides which settings of a sweep cannot win any more. The decisions are valid after any number of looks.

For each pair of settings a bettor bets on every question that the second is better than the first. If it is not better, the
expected capital never grows. The evidence against a setting is the mean capital of the bets against it. A setting is stopped
if its evidence reaches 1 / alpha. By Ville's inequality, the chance that a best setting is ever stopped is at most alpha. The
questions must be in random order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# Shares of the capital that are staked. Each starts with an equal part of the capital, so no share must be chosen.
_STAKES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
_LARGEST_LOG = 600.0


class Stop(NamedTuple):
    """A setting that is stopped, the setting that beats it most clearly, and the evidence."""

    setting: int
    against: int
    evidence: float


class Race:
    """Several settings on the same questions. `span` is the width of the metric's bounds."""

    def __init__(self, settings: int, span: float, alpha: float) -> None:
        self.active = list(range(settings))
        self._span, self._alpha = span, alpha
        self._log_capital = np.zeros((len(_STAKES), settings, settings))
        self._sums, self._counts = np.zeros(settings), np.zeros(settings)

    def leave(self, setting: int) -> None:
        """A setting that failed takes no further part."""
        self.active.remove(setting)

    def look(self, values: np.ndarray) -> list[Stop]:
        """Add the values of more questions (one row per setting, higher is better, nan if there is none); returns who stops."""
        differences = np.nan_to_num((values[None, :, :] - values[:, None, :]) / self._span)
        for number, stake in enumerate(_STAKES):
            self._log_capital[number] += np.log1p(stake * np.clip(differences, -1.0, 1.0)).sum(axis=2)
        self._sums += np.nansum(values, axis=1)
        self._counts += np.count_nonzero(~np.isnan(values), axis=1)
        return self._stop()

    def evidence(self) -> np.ndarray:
        """The evidence against each setting; 1 at the start."""
        capital = self._capital()
        return np.asarray((capital.sum(axis=1) - capital.diagonal()) / (len(capital) - 1))

    def _capital(self) -> np.ndarray:
        return np.asarray(np.exp(np.minimum(self._log_capital, _LARGEST_LOG)).mean(axis=0))

    def _stop(self) -> list[Stop]:
        evidence, capital = self.evidence(), self._capital()
        means = np.divide(self._sums, self._counts, out=np.full(len(self._sums), -np.inf), where=self._counts > 0)
        leader = max(self.active, key=lambda one: means[one])
        stops = []
        for setting in [one for one in self.active if one != leader and evidence[one] >= 1 / self._alpha]:
            against = capital[setting].copy()
            against[setting] = 0.0
            stops.append(Stop(setting, int(against.argmax()), float(evidence[setting])))
            self.active.remove(setting)
        return stops


def look_ends(sizes: Sequence[int], first: int | None, growth: float) -> list[int]:
    """The numbers of questions after which settings are compared, and at last all of them.

    `sizes` are the questions per unit: a conversation is never split.
    """
    ends = np.cumsum(sizes)
    total = int(ends[-1])
    wanted = float(first or max(8, math.ceil(total / 10)))
    found: list[int] = []
    while wanted < total:
        end = int(ends[np.searchsorted(ends, math.ceil(wanted))])
        if end < total and end not in found:
            found.append(end)
        wanted = max(wanted * growth, wanted + 1)
    return [*found, total]
