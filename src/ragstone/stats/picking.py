"""Which rows to label next: those where people may well say otherwise than predicted, each with a known chance."""

from __future__ import annotations

import numpy as np

# So much of every chance is spread evenly: no row is out of reach, and a wrong guess of who is uncertain costs little.
_EVEN = 0.5
# From how many labels on they tell where a judge errs, and how wide a neighbourhood of scores is, in shares of all rows.
LEAST_LABELS = 10
_BANDWIDTH = 0.12


def guess_errors(scores: np.ndarray, labels: np.ndarray, bounds: tuple[float | None, float | None]) -> np.ndarray:
    """How far each row's label may lie from what its score predicts; labels are nan where there is none.

    With a few labels it is learnt from rows with similar scores; before, a score in the middle of its range is unsure.
    """
    known = ~np.isnan(labels)
    if known.sum() >= LEAST_LABELS and np.ptp(scores[known]) > 0:
        return _learn(scores, labels, known)
    low, high = bounds
    if low is None or high is None or high <= low:
        return np.ones(len(scores))
    share = np.clip((scores - low) / (high - low), 0.0, 1.0)
    return np.asarray(np.sqrt(share * (1 - share)) + 0.05)


def make_chances(errors: np.ndarray, size: int) -> np.ndarray:
    """The chance of each row in a choice of so many: by its possible error, and in part even; never above 1."""
    rows = len(errors)
    if size >= rows:
        return np.ones(rows)
    mean = errors.mean()
    weights = _EVEN + (1 - _EVEN) * (errors / mean if mean > 0 else np.ones(rows))
    chances = size * weights / weights.sum()
    # What one row cannot take goes to the others.
    for _ in range(rows):
        above = chances >= 1
        free = ~above
        wanted = (size - above.sum()) * weights[free] / weights[free].sum()
        if not (wanted > 1).any():
            chances[above], chances[free] = 1.0, wanted
            break
        chances[free] = wanted
    return np.asarray(chances)


def pick(chances: np.ndarray, seed: int = 0) -> np.ndarray:
    """Rows, each with its chance, as many as the chances add up to: evenly spaced along the rows in random order."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(chances))
    reached = np.cumsum(chances[order])
    size = round(float(reached[-1])) if len(reached) else 0
    places = np.searchsorted(reached, random.random() + np.arange(size), side="right")
    picked = order[np.minimum(places, len(order) - 1)]
    return np.asarray(random.permutation(np.unique(picked)))


def _learn(scores: np.ndarray, labels: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The spread of labels among rows with similar scores, by their ranks."""
    from scipy import stats  # noqa: PLC0415  (takes longer to load than most runs; not everybody needs it)

    ranks = stats.rankdata(scores) / len(scores)
    slope, intercept = np.polyfit(scores[known], labels[known], 1)
    left = (labels[known] - intercept - slope * scores[known]) ** 2
    near = np.exp(-(((ranks[:, None] - ranks[known][None, :]) / _BANDWIDTH) ** 2) / 2)
    # A row among neighbours without errors may err all the same: the mean of all counts as one more neighbour.
    return np.asarray(np.sqrt((near @ left + left.mean()) / (near.sum(axis=1) + 1)))
