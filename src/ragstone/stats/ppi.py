"""Prediction-powered inference: a judge's scores of all rows and people's labels of some make one mean with its interval.

The mean is right whatever the judge is worth, and the interval the narrower the better the judge is (PPI++, Angelopoulos,
Duchi and Zrnic 2023). It is mean(labels) + λ (mean score of the other rows - mean score of the labelled rows). λ is tuned
for the least variance, shrunk where few labels cannot tell it from 0, and 0 where the interval would not get narrower: so
a useless judge costs nothing. The error is that of the jackknife, which knows that λ was estimated too.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from ragstone.stats.intervals import Interval, student_quantile, wilson_interval

# What labels are: 0 or 1, the change of such from one run to the other, or any numbers.
Scale = Literal["share", "change", "number"]
# With fewer labels intervals are too narrow more often than they say.
LEAST_LABELS = 30
# How sure the judge must be to be of use before its full weight counts: λ is shrunk by 1 - 2 / F.
_SHRINK = 2.0
_RESAMPLES = 999
_ROUNDING = 1e-12


class Powered(NamedTuple):
    """A mean with its interval and error; what labels alone and the judge alone say; λ; and what the labels are worth.

    `worth` is how many labels it would take to get this interval from labels alone.
    """

    mean: float
    interval: Interval
    error: float
    labels: int
    rows: int
    tuning: float
    labels_mean: float
    labels_interval: Interval
    judge_mean: float
    worth: float


def powered_mean(
    labels: np.ndarray,
    scores: np.ndarray,
    others: np.ndarray,
    level: float = 0.95,
    tuning: float | None = None,
    scale: Scale | None = None,
) -> Powered | None:
    """The mean of what people would say of all rows; `scores` are the judge's of the labelled rows, `others` of the rest.

    The labelled rows must be a random choice. None for fewer than two labels. `tuning` sets λ instead of choosing it;
    labels of 0 and 1 are shares unless `scale` says otherwise.
    """
    if len(labels) < 2:
        return None
    size, scale = len(labels), scale or tell_scale(labels)
    said, given = _steadied(labels, scores) if scale == "change" else (labels, scores)
    mean, spread = float(said.mean()), float(said.var(ddof=1)) / len(said)
    alone = (
        wilson_interval(int(said.sum()), size, level) if scale == "share" else _interval(mean, said, 0.0, level, scale)
    )
    value, tuned, pseudo = _tune(said, given, others, tuning)
    extra = tuned**2 * float(others.var(ddof=1)) / len(others) if len(others) > 1 else 0.0
    error = float(pseudo.var(ddof=1)) / len(pseudo) + extra
    if scale == "share":
        # As sure as so many more labels as the variance is less.
        interval = share_interval(value, size * spread / error if spread and error else size, level, size - 1)
    else:
        interval = _interval(value, pseudo, extra, level, scale)
    if tuning is None and (tuned == 0 or _width(interval) >= _width(alone)):
        value, tuned, error, interval = mean, 0.0, spread, alone
    worth = size * (_width(alone) / _width(interval)) ** 2 if _width(interval) > 0 else float(size)
    return Powered(
        mean=value,
        interval=interval,
        error=error**0.5,
        labels=size,
        rows=size + len(others),
        tuning=tuned,
        labels_mean=float(labels.mean()),
        labels_interval=alone,
        judge_mean=float(np.concatenate([scores, others]).mean()),
        worth=worth,
    )


def tell_scale(labels: np.ndarray) -> Scale:
    """Labels of 0 and 1 are shares, others numbers; that they are changes of shares must be said."""
    return "share" if np.isin(labels, (0.0, 1.0)).all() else "number"


def _steadied(labels: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One more pair that rose and one that fell (Bonett and Price), so that few changed pairs do not look certain."""
    return np.append(labels, [1.0, -1.0]), np.append(scores, [scores.mean()] * 2)


def _interval(value: float, pseudo: np.ndarray, extra: float, level: float, scale: Scale) -> Interval:
    if scale == "number":
        return studentised_interval(value, pseudo, extra, level)
    error = float(pseudo.var()) / len(pseudo) + extra
    reach = NormalDist().inv_cdf((1 + level) / 2) * error**0.5
    return Interval(max(-1.0, value - reach), min(1.0, value + reach))


def _tune(
    labels: np.ndarray, scores: np.ndarray, others: np.ndarray, tuning: float | None
) -> tuple[float, float, np.ndarray]:
    """The estimate, λ, and the jackknife's pseudo-values, one a label."""
    size = len(labels)
    centre = scores.mean()
    given, said = scores - centre, labels - labels.mean()
    aim = float(others.mean() - centre) if len(others) else 0.0
    sums = np.array([said.sum(), given.sum(), (said * given).sum(), (given**2).sum(), (said**2).sum()])
    rows = np.array([said, given, said * given, given**2, said**2])
    shrink = len(others) / (size + len(others))
    value, tuned = _estimate(sums[:, None], size, aim, shrink, tuning)
    left_out, _ = _estimate(sums[:, None] - rows, size - 1, aim, shrink, tuning)
    mean = float(labels.mean())
    return mean + float(value[0]), float(tuned[0]), mean + size * value[0] - (size - 1) * left_out


def _estimate(
    sums: np.ndarray, size: int, aim: float, shrink: float, tuning: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate and λ from sums of labels, scores, their products and squares; a column a set of rows."""
    said, given, product, squares, spread = sums
    together = product - said * given / size
    varies = np.maximum(squares - given**2 / size, 0.0)
    moves = np.maximum(spread - said**2 / size, 0.0)
    useful = (varies > _ROUNDING * np.maximum(squares, _ROUNDING)) & (moves > 0)
    slope = np.divide(together, varies, out=np.zeros(len(varies)), where=useful)
    if tuning is None:
        fit = np.divide(together**2, varies * moves, out=np.zeros(len(varies)), where=useful)
        doubt = _SHRINK * (1 - fit) / np.maximum(fit * max(size - 2, 1), _ROUNDING)
        tuned = slope * shrink * np.clip(1 - doubt, 0.0, 1.0)
    else:
        tuned = np.full(len(varies), tuning)
    return said / size + tuned * (aim - given / size), tuned


def share_interval(share: float, size: float, level: float, freedom: float) -> Interval:
    """Wilson's interval for a share that is as sure as that of so many labels; with Student's t, for that was estimated."""
    share, reach = min(1.0, max(0.0, share)), student_quantile(freedom, (1 + level) / 2)
    centre = (share + reach**2 / (2 * size)) / (1 + reach**2 / size)
    away = reach / (1 + reach**2 / size) * (share * (1 - share) / size + reach**2 / (4 * size**2)) ** 0.5
    return Interval(max(0.0, centre - away), min(1.0, centre + away))


def studentised_interval(value: float, pseudo: np.ndarray, extra: float, level: float) -> Interval:
    """A bootstrap-t of the mean of these values, which skew does not fool; `extra` is variance from elsewhere."""
    size, random = len(pseudo), np.random.default_rng(0)
    error = float(pseudo.var(ddof=1)) / size + extra
    if error <= 0:
        return Interval(value, value)
    drawn = (pseudo - pseudo.mean())[random.integers(0, size, (_RESAMPLES, size))]
    means = drawn.mean(axis=1) + extra**0.5 * random.normal(size=_RESAMPLES)
    errors = np.sqrt(drawn.var(axis=1, ddof=1) / size + extra)
    low, high = np.quantile(means[errors > 0] / errors[errors > 0], [(1 - level) / 2, (1 + level) / 2])
    # Never less than Student's t on the whole: resamples of few distinct labels can look too sure.
    least = 2 * student_quantile(effective_freedom(pseudo), (1 + level) / 2)
    stretch = max(1.0, least / (high - low)) if high > low else 1.0
    return Interval(value - float(high) * stretch * error**0.5, value - float(low) * stretch * error**0.5)


def effective_freedom(values: np.ndarray) -> float:
    """How many degrees of freedom their variance is known with: fewer where a few values make most of it (heavy tails)."""
    away = values - values.mean()
    spread = float((away**2).mean())
    tails = float((away**4).mean()) / spread**2 if spread > 0 else 0.0
    return max(2.0, min(len(values) - 1, 2 * len(values) / max(tails - 1, _ROUNDING)))


def _width(interval: Interval) -> float:
    return interval.high - interval.low
