"""Platt scaling: probabilities of a judge become calibrated ones by a logistic function of their log-odds.

The fit is shrunk towards leaving the probabilities as they are (Gaussian prior on slope and intercept), so that a few dozen
labels cannot turn them around. Whether it helps is measured by cross-validation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from ragstone.stats.logit import make_folds, sigmoid

# Probabilities of tokens end here: their log-odds would be without limit.
_EDGE = 1e-4
# Standard deviations of the prior around slope 1 and intercept 0.
_SLOPE_PRIOR, _INTERCEPT_PRIOR = 0.5, 2.0
_LEAST_SLOPE = 0.05
_FOLDS, _SPLITS = 5, 3
# Fewer pairs, or fewer of the rarer label, or fewer groups say too little.
LEAST_PAIRS, LEAST_RARE, LEAST_GROUPS = 20, 6, 5


@dataclass(frozen=True)
class Platt:
    """The map p → sigmoid(slope × logit(p) + intercept); it never changes an order."""

    slope: float
    intercept: float

    def __call__(self, likely: float) -> float:
        """The calibrated probability."""
        odds = self.slope * math.log(_clip(likely) / (1.0 - _clip(likely))) + self.intercept
        return 1.0 / (1.0 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1.0 + math.exp(odds))

    def __str__(self) -> str:
        return f"{self.slope:.4f}/{self.intercept:.4f}"

    @classmethod
    def fit(cls, odds: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> Self:
        """Maximum a posteriori, rounded to what `str` shows."""
        from scipy import optimize  # noqa: PLC0415  (slow to import)

        def loss(at: np.ndarray) -> tuple[float, np.ndarray]:
            logits = at[0] * odds + at[1]
            away = np.array([at[0] - 1.0, at[1]]) / np.array([_SLOPE_PRIOR, _INTERCEPT_PRIOR]) ** 2
            value = (weights * (np.logaddexp(0.0, logits) - labels * logits)).sum()
            prior = (((at - (1.0, 0.0)) / (_SLOPE_PRIOR, _INTERCEPT_PRIOR)) ** 2).sum() / 2
            off = weights * (sigmoid(logits) - labels)
            return float(value + prior), np.array([(off * odds).sum(), off.sum()]) + away

        bounds = [(_LEAST_SLOPE, None), (None, None)]
        found = optimize.minimize(loss, np.array([1.0, 0.0]), jac=True, bounds=bounds, method="L-BFGS-B").x
        return cls(round(float(found[0]), 4), round(float(found[1]), 4))


def _clip(likely: float) -> float:
    return min(max(likely, _EDGE), 1.0 - _EDGE)


@dataclass(frozen=True)
class PlattFit:
    """A fitted map, the log-loss without it and the cross-validated one with it, and each pair's value by other folds."""

    map: Platt
    before: float
    after: float
    # The standard error of the gain, over groups.
    noise: float
    held_out: np.ndarray

    @property
    def improves(self) -> bool:
        """Whether the gain is larger than its standard error."""
        return self.before - self.after > self.noise

    @classmethod
    def measure(
        cls, likely: np.ndarray, labels: np.ndarray, groups: np.ndarray, is_balanced: bool = False
    ) -> PlattFit | None:
        """Fit and cross-validate by group; None if there are too few labels.

        `is_balanced` counts both labels alike: the share of yes in the pairs says nothing about the share in other data.
        """
        labels = np.asarray(labels, dtype=np.float64)
        rare = min(labels.sum(), (1 - labels).sum())
        names = np.unique(groups, return_inverse=True)[1]
        if len(labels) < LEAST_PAIRS or rare < LEAST_RARE or names.max() + 1 < LEAST_GROUPS:
            return None
        odds = np.array([math.log(_clip(value) / (1.0 - _clip(value))) for value in likely])
        weights = np.ones(len(labels))
        if is_balanced:
            weights = np.where(labels == 1, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
        held_out = np.zeros(len(labels))
        for seed in range(_SPLITS):
            fold = make_folds(names, _FOLDS, seed)
            for number in range(int(fold.max()) + 1):
                seen = fold != number
                found = Platt.fit(odds[seen], labels[seen], weights[seen])
                held_out[~seen] += sigmoid(found.slope * odds[~seen] + found.intercept) / _SPLITS
        old, new = (weights * _losses(labels, values) for values in (sigmoid(odds), held_out))
        gains = np.bincount(names, weights=old - new)
        noise = float(gains.std(ddof=1) * len(gains) ** 0.5 / len(labels))
        return cls(Platt.fit(odds, labels, weights), float(old.mean()), float(new.mean()), noise, held_out)


def _losses(labels: np.ndarray, likely: np.ndarray) -> np.ndarray:
    return np.asarray(-(labels * np.log(likely) + (1 - labels) * np.log(1 - likely)))
