"""Correlations of scores with labels, with bootstrap intervals: Pearson, Spearman, Kendall's tau-b and Somers' D.

A correlation is nan if one side does not vary. It can be computed within each input, over the whole data set, or between
systems: a metric may rank systems well and answers badly, or the reverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ragstone.stats.bootstrap import divide
from ragstone.stats.intervals import Interval
from ragstone.stats.resampled_measures import RESAMPLES, Estimate, Measure, estimate

Coefficient = Literal["spearman", "pearson", "kendall", "somers"]
COEFFICIENTS: tuple[Coefficient, ...] = ("spearman", "pearson", "kendall", "somers")
# A spread below this share of the magnitude of the values is rounding error.
_ROUNDING = 1e-13
_DIGITS = 12


def make_correlation(first: np.ndarray, second: np.ndarray, coefficient: Coefficient = "spearman") -> Measure:
    """The measure for two columns without nan. Somers' D only uses pairs that differ in the second column."""
    if coefficient in ("kendall", "somers"):
        return _concordance(first, second, coefficient == "somers", np.zeros(len(first)))
    return (_pearson if coefficient == "pearson" else _spearman)(first, second)


def make_partial(
    first: np.ndarray, second: np.ndarray, strata: np.ndarray, coefficient: Coefficient = "spearman"
) -> Measure:
    """The correlation within strata, after each stratum's mean (of ranks, for Spearman) is subtracted.

    Kendall's tau and Somers' D only use pairs within one stratum. Systems that differ in quality make every metric look good;
    with systems as strata, the correlation is about the answers of one system.
    """
    if coefficient in ("kendall", "somers"):
        return _concordance(first, second, coefficient == "somers", strata)
    _, codes = np.unique(strata, return_inverse=True)
    member = np.eye(int(codes.max()) + 1)[codes] if len(codes) else np.zeros((0, 0))
    rank = _ranker if coefficient == "spearman" else _as_given

    def measure(times: np.ndarray) -> np.ndarray:
        counts = times @ member
        whole = [rank(first)(times), rank(second)(times)]
        means = [np.nan_to_num(divide((times * values) @ member, counts)) @ member.T for values in whole]
        left = [values - mean for values, mean in zip(whole, means, strict=True)]
        return weighted_pearson(left[0], left[1], times, [_size(values) for values in whole])

    return measure


def weighted_pearson(
    first: np.ndarray, second: np.ndarray, times: np.ndarray, sizes: Sequence[float] | None = None
) -> np.ndarray:
    """Pearson's r in each resample; `sizes` are the magnitudes before centring, if the values were centred."""
    total = times.sum(axis=1, keepdims=True)
    away, aside = (values - divide((times * values).sum(axis=1, keepdims=True), total) for values in (first, second))
    above = (times * away * aside).sum(axis=1)
    squares = [(times * values**2).sum(axis=1) for values in (away, aside)]
    rounding = [total[:, 0] * (_ROUNDING * size) ** 2 for size in sizes or (_size(first), _size(second))]
    varies = (squares[0] > rounding[0]) & (squares[1] > rounding[1])
    below = np.sqrt(squares[0]) * np.sqrt(squares[1])
    return _clipped(np.divide(above, below, out=np.full(len(times), np.nan), where=varies & (below > 0)))


def correlate_each(first: np.ndarray, second: np.ndarray, coefficient: Coefficient) -> np.ndarray:
    """The correlation within each row of two tables with few columns."""
    if coefficient == "pearson":
        return weighted_pearson(first, second, np.ones(first.shape))
    signs = [np.sign(table[:, :, None] - table[:, None, :]) for table in (first, second)]
    if coefficient in ("kendall", "somers"):
        untied = [np.abs(sign).sum(axis=(1, 2)) for sign in signs]
        below = np.sqrt(untied[0] * untied[1]) if coefficient == "kendall" else untied[1] * (untied[0] > 0)
        return _clipped(divide((signs[0] * signs[1]).sum(axis=(1, 2)), below))
    ranks = [sign.sum(axis=2) for sign in signs]  # up to a factor and a constant
    return weighted_pearson(ranks[0], ranks[1], np.ones(first.shape))


def _clipped(values: np.ndarray) -> np.ndarray:
    """Limit to [-1, 1]: rounding may exceed 1 by an ulp."""
    return np.asarray(np.clip(values, -1.0, 1.0))


def _size(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))


def _pearson(first: np.ndarray, second: np.ndarray) -> Measure:
    return lambda times: weighted_pearson(first[None, :], second[None, :], times)


def _spearman(first: np.ndarray, second: np.ndarray) -> Measure:
    rank_first, rank_second = _ranker(first), _ranker(second)
    return lambda times: weighted_pearson(rank_first(times), rank_second(times), times)


def _as_given(values: np.ndarray) -> Measure:
    return lambda times: np.broadcast_to(values, times.shape)


def mid_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1; equal values share their mean rank."""
    return np.asarray(_ranker(values)(np.ones((1, len(values))))[0])


def _ranker(values: np.ndarray) -> Measure:
    """The mid-rank of each row's value among all drawn rows."""
    _, codes = np.unique(values, return_inverse=True)

    def ranks(times: np.ndarray) -> np.ndarray:
        drawn = count_values(times, codes)
        mid_ranks: np.ndarray = (np.cumsum(drawn, axis=1) - drawn / 2 + 0.5)[:, codes]
        return mid_ranks

    return ranks


def count_values(times: np.ndarray, codes: np.ndarray, size: int | None = None) -> np.ndarray:
    """The number of times each value was drawn; `codes` maps rows to values."""
    size = size or int(codes.max(initial=-1)) + 1
    shifted = codes[None, :] + size * np.arange(len(times))[:, None]
    return np.bincount(shifted.ravel(), times.ravel(), minlength=size * len(times)).reshape(len(times), size)


def _concordance(first: np.ndarray, second: np.ndarray, somers: bool, strata: np.ndarray) -> Measure:
    """Concordant minus discordant pairs within strata, divided by the number of untied pairs."""
    _, ours = np.unique(first, return_inverse=True)
    _, theirs = np.unique(second, return_inverse=True)
    _, codes = np.unique(strata, return_inverse=True)
    cells = [np.unique(np.stack([codes, of]), axis=1, return_inverse=True)[1].ravel() for of in (ours, theirs)]

    def measure(times: np.ndarray) -> np.ndarray:
        pairs = _count_pairs(times, codes)
        untied = [pairs - _count_pairs(times, of) for of in cells]
        below = untied[1] * (untied[0] > 0) if somers else np.sqrt(untied[0] * untied[1])
        return _clipped(divide(_order(times, ours, theirs, codes), below))

    return measure


def _count_pairs(times: np.ndarray, codes: np.ndarray) -> np.ndarray:
    drawn = count_values(times, codes)
    return np.asarray((drawn * (drawn - 1) / 2).sum(axis=1))


def _order(times: np.ndarray, first: np.ndarray, second: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Concordant minus discordant pairs, in blocks of rows, for all resamples at once."""
    surplus, block = np.zeros(len(times)), max(1, 2_000_000 // max(1, len(first)))
    for start in range(0, len(first), block):
        rows = slice(start, start + block)
        signs = np.sign(first[rows, None] - first[None, :]) * np.sign(second[rows, None] - second[None, :])
        signs = (signs * (strata[rows, None] == strata[None, :])).T.astype(np.float64)
        surplus += ((times @ signs) * times[:, rows]).sum(axis=1)
    return surplus / 2


Level = Literal["dataset", "sample", "system", "partial", "residual", "label"]
LEVELS: tuple[Level, ...] = ("dataset", "sample", "system", "partial", "residual", "label")
# With two systems the coefficient can only be 1 or -1.
LEAST_SYSTEMS = 3
LEAST_ROWS = 3
# Above this, fewer resamples: Kendall's tau and Somers' D use all pairs of rows.
_MOST_PAIRS = 4e10


class Correlation(NamedTuple):
    """A correlation at a level; `units` rows, inputs or systems were used, `skipped` inputs could not be used."""

    value: float | None
    interval: Interval | None
    units: int
    skipped: int
    reason: str
    drawn: np.ndarray


class Scored(NamedTuple):
    """Rows with a score, a label, an input and a system."""

    scores: np.ndarray
    labels: np.ndarray
    inputs: np.ndarray
    systems: np.ndarray

    def take(self, rows: np.ndarray) -> Scored:
        """The chosen rows."""
        return Scored(*(column[rows] for column in self))


def correlate_at(
    level: Level,
    rows: Scored,
    coefficient: Coefficient = "spearman",
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Correlation:
    """The correlation at a level, with a bootstrap interval over inputs; if it is undefined, the reason."""
    measure, units, skipped, reason = _prepare(level, rows, coefficient)
    if measure is None:
        return Correlation(None, None, units, skipped, reason, np.full(resamples, np.nan))
    result: Estimate = estimate(measure, rows.inputs, confidence, resamples, seed)
    if result.value is None:
        reason = "scores or labels do not vary"
    # If few units agree perfectly, every resample does: that is not certainty.
    known = result.interval if units >= 30 or (result.interval and result.interval.low < result.interval.high) else None
    return Correlation(result.value, known, units, skipped, reason, result.drawn)


def affordable_resamples(rows: int, coefficient: Coefficient) -> int:
    """The number of resamples for this many rows."""
    return (
        RESAMPLES
        if coefficient in ("spearman", "pearson")
        else int(np.clip(_MOST_PAIRS / max(1, rows) ** 2, 100, RESAMPLES))
    )


def _prepare(level: Level, rows: Scored, coefficient: Coefficient) -> tuple[Measure | None, int, int, str]:
    if len(rows.scores) < LEAST_ROWS:
        return None, len(rows.scores), 0, f"{len(rows.scores)} labelled rows have a score; it takes {LEAST_ROWS}"
    if level in ("dataset", "label"):  # for "label" the rows are single labels
        return make_correlation(rows.scores, rows.labels, coefficient), len(rows.scores), 0, ""
    systems = len(np.unique(rows.systems))
    if level == "sample":
        return _within_inputs(rows, coefficient)
    if level == "system":
        if systems < LEAST_SYSTEMS:
            return None, systems, 0, f"there are {systems} systems; it takes {LEAST_SYSTEMS}"
        return _between_systems(rows, coefficient), systems, 0, ""
    if systems < 2:
        return None, len(rows.scores), 0, "there is one system: the same as over the data set"
    if level == "residual":
        scores, labels = (_residuals(column, rows.systems) for column in (rows.scores, rows.labels))
        return make_correlation(scores, labels, coefficient), len(rows.scores), 0, ""
    return make_partial(rows.scores, rows.labels, rows.systems, coefficient), len(rows.scores), 0, ""


def _residuals(values: np.ndarray, systems: np.ndarray) -> np.ndarray:
    """The values minus the mean of their system, as in FRANK (Pagnoni et al. 2021); rounded so that ties stay ties."""
    _, codes = np.unique(systems, return_inverse=True)
    means = np.bincount(codes, values) / np.bincount(codes)
    return np.asarray(np.round((values - means[codes]) / (_size(values) or 1.0), _DIGITS))


def _within_inputs(rows: Scored, coefficient: Coefficient) -> tuple[Measure | None, int, int, str]:
    """The mean over inputs of the correlation across systems; inputs with a constant side are skipped."""
    _, first, codes, counts = np.unique(rows.inputs, return_index=True, return_inverse=True, return_counts=True)
    order, starts = np.argsort(codes, kind="stable"), np.cumsum(counts) - counts
    correlations = np.full(len(counts), np.nan)
    for size in np.unique(counts[counts > 1]):
        mine = np.flatnonzero(counts == size)
        taken = order[starts[mine][:, None] + np.arange(size)]
        correlations[mine] = correlate_each(rows.scores[taken], rows.labels[taken], coefficient)
    used = ~np.isnan(correlations)
    if not used.any():
        why = "each input has one system" if counts.max() < 2 else "scores or labels are constant in every input"
        return None, 0, len(correlations), why

    def measure(times: np.ndarray) -> np.ndarray:
        # All rows of an input are drawn together, so its first row represents it.
        drawn = times[:, first][:, used]
        return divide(drawn @ correlations[used], drawn.sum(axis=1))

    return measure, int(used.sum()), int((~used).sum()), ""


def _between_systems(rows: Scored, coefficient: Coefficient) -> Measure:
    _, codes = np.unique(rows.systems, return_inverse=True)

    def measure(times: np.ndarray) -> np.ndarray:
        counts = count_values(times, codes)
        means = [divide(count_values(times * column, codes), counts) for column in (rows.scores, rows.labels)]
        whole = ~np.isnan(means[0] + means[1]).any(axis=1)
        values = np.full(len(times), np.nan)
        values[whole] = correlate_each(means[0][whole], means[1][whole], coefficient)
        return values

    return measure
