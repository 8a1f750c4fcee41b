"""Agreement of raters, and of a score with binary labels, as measures of drawn rows; nan if undefined.

`make_alpha` is Krippendorff's alpha: chance-corrected agreement for any number of raters with missing ratings.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragstone.stats.bootstrap import divide
from ragstone.stats.correlation import count_values
from ragstone.stats.resampled_measures import Measure

Weights = Literal["none", "linear", "quadratic"]
BINS = 10


def make_kappa(first: np.ndarray, second: np.ndarray, weights: Weights = "none") -> Measure:
    """Cohen's kappa: chance-corrected agreement. If weighted, near misses count less than far ones, by rating order."""
    ratings, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    size = len(ratings)
    cells = places[: len(first)] * size + places[len(first) :]
    away = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    cost = {"none": (away > 0).astype(np.float64), "linear": away, "quadratic": away**2}[weights]

    def measure(times: np.ndarray) -> np.ndarray:
        seen = count_values(times, cells, size * size).reshape(-1, size, size)
        rows, columns = seen.sum(axis=2), seen.sum(axis=1)
        chance = divide(np.einsum("ri,rj,ij->r", rows, columns, cost), times.sum(axis=1))
        return 1 - divide((seen * cost).sum(axis=(1, 2)), chance)

    return measure


def make_accuracy(labels: np.ndarray, verdicts: np.ndarray) -> Measure:
    """The share of rows whose verdict equals the label."""
    right = (labels == verdicts).astype(np.float64)
    return lambda times: divide(times @ right, times.sum(axis=1))


def make_f1(labels: np.ndarray, verdicts: np.ndarray) -> Measure:
    """F1 of the verdict yes (1) against labels of 0 and 1."""
    both, either = labels * verdicts, labels + verdicts
    return lambda times: divide(2 * (times @ both), times @ either)


def make_macro(labels: np.ndarray, verdicts: np.ndarray) -> dict[str, Measure]:
    """Precision, recall and F1 of each class, averaged over the classes; 0 for a class that is never right."""
    classes, places = np.unique(np.concatenate([labels, verdicts]), return_inverse=True)
    said, judged = (np.eye(len(classes))[part] for part in (places[: len(labels)], places[len(labels) :]))
    both = said * judged

    def mean(below: np.ndarray) -> Measure:
        return lambda times: np.asarray(np.nan_to_num(divide(times @ both, times @ below)).mean(axis=1))

    return {"macro_precision": mean(judged), "macro_recall": mean(said), "macro_f1": mean((said + judged) / 2)}


def majority_grade(ratings: np.ndarray) -> np.ndarray:
    """The most frequent rating of each row; on a tie the median, the lower of two middle ratings. A person gave each."""
    grades = np.full(len(ratings), np.nan)
    for row, given in enumerate(ratings):
        values, counts = np.unique(given[~np.isnan(given)], return_counts=True)
        if np.count_nonzero(counts == counts.max(initial=0)) == 1:
            grades[row] = values[counts.argmax()]
        elif len(values):
            grades[row] = np.repeat(values, counts)[(counts.sum() - 1) // 2]
    return grades


def make_auc(labels: np.ndarray, scores: np.ndarray) -> Measure:
    """The probability that a row with label 1 scores higher than one with label 0; ties count half."""
    _, places = np.unique(scores, return_inverse=True)

    def measure(times: np.ndarray) -> np.ndarray:
        good, bad = count_values(times * labels, places), count_values(times * (1 - labels), places)
        below = np.cumsum(bad, axis=1) - bad / 2
        return divide((good * below).sum(axis=1), good.sum(axis=1) * bad.sum(axis=1))

    return measure


def make_calibration_error(labels: np.ndarray, scores: np.ndarray, bins: int = BINS) -> Measure:
    """Expected calibration error: the mean distance, over bins, of scores in [0, 1] from the share of label 1."""
    places = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], scores)
    gap = labels - scores

    def measure(times: np.ndarray) -> np.ndarray:
        return divide(np.abs(count_values(times * gap, places, bins)).sum(axis=1), times.sum(axis=1))

    return measure


Scale = Literal["nominal", "ordinal", "interval"]


def make_alpha(ratings: np.ndarray, scale: Scale = "nominal") -> Measure:
    """Alpha of a table with one row per rated item and one column per rater; nan means no rating.

    Rows with fewer than two ratings are ignored.
    """
    counts = (~np.isnan(ratings)).sum(axis=1)
    rated = np.where((counts >= 2)[:, None], ratings, np.nan)
    return _make_interval(rated) if scale == "interval" else _make_by_values(rated, scale)


def _make_interval(rated: np.ndarray) -> Measure:
    """By sums of squares, which works for any numbers."""
    centred = rated - (np.nanmean(rated) if (~np.isnan(rated)).any() else 0.0)
    there = ~np.isnan(centred)
    counts, values = there.sum(axis=1).astype(np.float64), np.where(there, centred, 0.0)
    sums, squares = values.sum(axis=1), (values**2).sum(axis=1)
    # All pairs within a row: 2 (m Σv² - (Σv)²), divided by m - 1.
    within = divide(2 * (counts * squares - sums**2), counts - 1)
    statistics = np.column_stack([np.nan_to_num(within), counts, sums, squares])

    def measure(times: np.ndarray) -> np.ndarray:
        seen, total, drawn, squared = (times @ statistics).T
        expected = divide(2 * (total * squared - drawn**2), total - 1)
        return 1 - divide(seen, expected)

    return measure


def _make_by_values(rated: np.ndarray, scale: Scale) -> Measure:
    """By the coincidence table of values within a row."""
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
    """The squared number of ratings between two values, with half of each of the two."""
    middle = np.cumsum(marginals, axis=1) - marginals / 2
    cost: np.ndarray = (middle[:, :, None] - middle[:, None, :]) ** 2
    return cost


def majority(wins: np.ndarray) -> np.ndarray:
    """The verdict (1 or 0) of more than half of the deciding judges, otherwise 0.5; nan if no judge decided."""
    known = (~np.isnan(wins)).sum(axis=0)
    won, lost = (wins == 1).sum(axis=0), (wins == 0).sum(axis=0)
    worth = np.where(2 * won > known, 1.0, np.where(2 * lost > known, 0.0, 0.5))
    return np.where(known > 0, worth, np.nan)
