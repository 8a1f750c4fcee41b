"""Prediction-powered inference: estimate a mean from a judge's scores of all rows and human labels of some rows.

The mean is unbiased for any judge, and a better judge makes the interval narrower (PPI++, Angelopoulos, Duchi and Zrnic
2023). It is mean(labels) + λ (mean score of the other rows - mean score of the labelled rows). λ is tuned for the least
variance. It is shrunk if few labels cannot distinguish it from 0, and set to 0 if the interval would not get narrower, so
that a useless judge does no harm. The error comes from a jackknife, which includes the estimation of λ.

`powered_rounds` is for labels from rounds in which each row had a known probability of being picked. Each round gives an
unbiased estimate of the mean over all rows: the predictions for the rows that were still open, plus the labels' deviations
from them, weighted by one over the probability. Rounds are weighted by their number of labels (Zrnic and Candès 2024, in
rounds instead of row by row). `guess_errors`, `make_chances` and `pick` choose the rows to label next.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal, NamedTuple

import numpy as np

from ragstone.stats.correlation import mid_ranks
from ragstone.stats.intervals import Interval, effective_freedom, studentised_interval, wilson_interval
from ragstone.stats.student import student_quantile

# Labels are 0 or 1, the change of such values between two runs, or any numbers.
Scale = Literal["share", "change", "number"]
# With fewer labels, intervals are too narrow.
LEAST_LABELS = 30
# λ is shrunk by 1 - 2 / F, so that its full weight needs clear evidence that the judge is useful.
_SHRINK = 2.0
_ROUNDING = 1e-12


class Powered(NamedTuple):
    """A mean with its interval and error, the means from labels alone and from the judge alone, λ, and `worth`.

    `worth` is the number of labels that would give this interval without a judge.
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
    """The estimated mean label of all rows; `scores` are the judge's of the labelled rows, `others` of the rest.

    The labelled rows must be a random sample. None for fewer than two labels. `tuning` sets λ instead of estimating it;
    labels of 0 and 1 are shares unless `scale` is set.
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
        # The effective number of labels grows as the variance shrinks.
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
    """The scale of labels: 0 and 1 are shares, others numbers; changes of shares must be named by the caller."""
    return "share" if np.isin(labels, (0.0, 1.0)).all() else "number"


def _steadied(labels: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Add one pair that rose and one that fell (Bonett and Price), so that few changed pairs do not look certain."""
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
    """The estimate, λ, and the jackknife's pseudo-values, one per label."""
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
    """Estimate and λ from sums of labels, scores, their products and squares; one column per set of rows."""
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
    """Wilson's interval for a share from this many effective labels; Student's t, because that number is estimated."""
    share, reach = min(1.0, max(0.0, share)), student_quantile(freedom, (1 + level) / 2)
    centre = (share + reach**2 / (2 * size)) / (1 + reach**2 / size)
    away = reach / (1 + reach**2 / size) * (share * (1 - share) / size + reach**2 / (4 * size**2)) ** 0.5
    return Interval(max(0.0, centre - away), min(1.0, centre + away))


def _width(interval: Interval) -> float:
    return interval.high - interval.low


class Rows(NamedTuple):
    """All rows: the judge's scores, labels (nan if none), round (-1 if not labelled), and probability in that round.

    Round 0 was picked uniformly: its probabilities are ignored.
    """

    scores: np.ndarray
    labels: np.ndarray
    rounds: np.ndarray
    chances: np.ndarray

    def take(self, rows: np.ndarray) -> Rows:
        """The chosen rows."""
        return Rows(*(column[rows] for column in self))


def powered_rounds(rows: Rows, level: float = 0.95, scale: Scale | None = None) -> Powered | None:
    """The estimated mean label of all rows, from one or several rounds; None for fewer than two labels."""
    labelled = rows.rounds >= 0
    said = rows.labels[labelled]
    if (rows.rounds[labelled] == 0).all():
        return powered_mean(said, rows.scores[labelled], rows.scores[~labelled], level, scale=scale)
    if len(said) < 2:
        return None
    scale = scale or tell_scale(said)
    powered, alone = (_combine(rows, judge=judge) for judge in (True, False))
    intervals = [_rounds_interval(*estimate, rows, scale, level) for estimate in (powered, alone)]
    narrower = 0 if intervals[0].high - intervals[0].low < intervals[1].high - intervals[1].low else 1
    (value, error), interval = (powered, alone)[narrower], intervals[narrower]
    even = _variance(rows) / int((rows.rounds >= 0).sum())
    return Powered(
        mean=value,
        interval=interval,
        error=error**0.5,
        labels=len(said),
        rows=len(rows.scores),
        tuning=_fit(rows)[1] if narrower == 0 else 0.0,
        labels_mean=alone[0],
        labels_interval=intervals[1],
        judge_mean=float(rows.scores.mean()),
        worth=len(said) * even / error if error > 0 else float(len(said)),
    )


def _combine(rows: Rows, judge: bool) -> tuple[float, float]:
    """The mean over the rounds and its variance, including the sampling of the rows themselves."""
    intercept, slope = _fit(rows) if judge else (_weighted_mean(rows), 0.0)
    predicted = intercept + slope * rows.scores
    estimates = [_estimate_round(rows, number, predicted) for number in np.unique(rows.rounds[rows.rounds >= 0])]
    share = np.array([size for _, _, size in estimates]) / sum(size for _, _, size in estimates)
    value = sum(part * mean for part, (mean, _, _) in zip(share, estimates, strict=True))
    error = sum(part**2 * variance for part, (_, variance, _) in zip(share, estimates, strict=True))
    size = int((rows.rounds >= 0).sum())
    # Two parameters were fitted to the labels.
    return float(value), float(error) * size / max(size - 2, 1) + _variance(rows) / len(rows.scores)


def _estimate_round(rows: Rows, number: int, predicted: np.ndarray) -> tuple[float, float, int]:
    """One round's estimate of the mean over all rows, its variance from the choice of labels alone, and its size."""
    total = len(rows.scores)
    before = (rows.rounds >= 0) & (rows.rounds < number)
    mine = rows.rounds == number
    chances = np.full(int(mine.sum()), mine.sum() / total) if number == 0 else rows.chances[mine]
    beyond = (rows.labels[mine] - predicted[mine]) / chances
    open_rows = ~before
    value = (rows.labels[before].sum() + predicted[open_rows].sum() + beyond.sum()) / total
    # A row with probability 1 adds no variance (Hájek's approximation for a sample of fixed size).
    doubt, size = 1 - chances, len(beyond)
    centre = float((doubt * beyond).sum() / doubt.sum()) if size > 1 and doubt.sum() > 0 else 0.0
    spread = float((doubt * (beyond - centre) ** 2).sum()) * size / max(size - 1, 1)
    return float(value), spread / total**2, size


def _weights(rows: Rows) -> np.ndarray:
    labelled = rows.rounds >= 0
    even = (rows.rounds == 0).sum() / len(rows.rounds)
    chances = np.where(rows.rounds == 0, even, rows.chances)[labelled]
    return np.asarray(1 / chances)


def _weighted_mean(rows: Rows) -> float:
    return float(np.average(rows.labels[rows.rounds >= 0], weights=_weights(rows)))


def _variance(rows: Rows) -> float:
    """The variance of the labels over all rows."""
    labels, weights = rows.labels[rows.rounds >= 0], _weights(rows)
    return float(np.average((labels - _weighted_mean(rows)) ** 2, weights=weights)) * len(labels) / (len(labels) - 1)


def _fit(rows: Rows) -> tuple[float, float]:
    """Intercept and slope of the labels on the judge's scores."""
    labelled = rows.rounds >= 0
    scores, labels, weights = rows.scores[labelled], rows.labels[labelled], _weights(rows)
    centre, mean = np.average(scores, weights=weights), np.average(labels, weights=weights)
    varies = float((weights * (scores - centre) ** 2).sum())
    if varies <= 1e-12 * max(1.0, centre**2) * weights.sum():
        return float(mean), 0.0
    slope = float((weights * (scores - centre) * (labels - mean)).sum()) / varies
    return float(mean - slope * centre), slope


def _rounds_interval(value: float, error: float, rows: Rows, scale: Scale, level: float) -> Interval:
    labelled = rows.rounds >= 0
    freedom = max(1.0, float(labelled.sum()) - 2)
    if scale == "share" and error > 0:
        middle = min(1.0, max(0.0, value))
        return share_interval(value, max(middle * (1 - middle), 0.25 / freedom) / error, level, freedom)
    if scale == "change":
        # As if one more pair had risen and one had fallen.
        error = max(error, 2 / (freedom + 4) ** 2)
    intercept, slope = _fit(rows)
    beyond = (rows.labels[labelled] - intercept - slope * rows.scores[labelled]) * _weights(rows)
    reach = student_quantile(min(freedom, effective_freedom(beyond)), (1 + level) / 2) * error**0.5
    return Interval(value - reach, value + reach)


# This share of every probability is uniform: every row can be picked, and a wrong guess costs little.
_EVEN = 0.5
# The number of labels from which errors are learned, and the width of a neighbourhood as a share of all rows.
LEAST_KNOWN = 10
_BANDWIDTH = 0.12


def choose_rows(
    rows: Rows, bounds: tuple[float | None, float | None], size: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Choose scored rows without a label, and their selection probabilities; both empty if there are none."""
    scored = ~np.isnan(rows.scores)
    free = np.flatnonzero((rows.rounds < 0) & scored)
    errors = np.zeros(len(rows.scores))
    errors[scored] = guess_errors(rows.scores[scored], rows.labels[scored], bounds)
    chances = make_chances(errors[free], size)
    picked = pick(chances, seed)
    return free[picked], chances[picked]


def guess_errors(scores: np.ndarray, labels: np.ndarray, bounds: tuple[float | None, float | None]) -> np.ndarray:
    """The likely distance of each row's label from its prediction; labels are nan if there is none.

    With enough labels it is learned from rows with similar scores; before that, mid-range scores count as uncertain.
    """
    known = ~np.isnan(labels)
    if known.sum() >= LEAST_KNOWN and np.ptp(scores[known]) > 0:
        # The spread of labels among rows with similar scores, by rank
        ranks = mid_ranks(scores) / len(scores)
        slope, intercept = np.polyfit(scores[known], labels[known], 1)
        left = (labels[known] - intercept - slope * scores[known]) ** 2
        near = np.exp(-(((ranks[:, None] - ranks[known][None, :]) / _BANDWIDTH) ** 2) / 2)
        # Neighbours without errors do not exclude an error: the overall mean counts as one more neighbour.
        return np.asarray(np.sqrt((near @ left + left.mean()) / (near.sum(axis=1) + 1)))
    low, high = bounds
    if low is None or high is None or high <= low:
        return np.ones(len(scores))
    share = np.clip((scores - low) / (high - low), 0.0, 1.0)
    return np.asarray(np.sqrt(share * (1 - share)) + 0.05)


def make_chances(errors: np.ndarray, size: int) -> np.ndarray:
    """The probability of each row in a choice of this many: partly by its possible error, partly uniform; at most 1."""
    rows = len(errors)
    if size >= rows:
        return np.ones(rows)
    mean = errors.mean()
    weights = _EVEN + (1 - _EVEN) * (errors / mean if mean > 0 else np.ones(rows))
    chances = size * weights / weights.sum()
    # The excess of one row is distributed to the others.
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
    """Pick rows with these probabilities, as many as they add up to: systematic sampling in random order."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(chances))
    reached = np.cumsum(chances[order])
    size = round(float(reached[-1])) if len(reached) else 0
    places = np.searchsorted(reached, random.random() + np.arange(size), side="right")
    picked = order[np.minimum(places, len(order) - 1)]
    return np.asarray(random.permutation(np.unique(picked)))
