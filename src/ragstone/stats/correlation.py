"""Pearson, Spearman, Kendall's tau-b and Somers' D as measures of drawn rows; nan where one side does not vary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ragstone.stats.resampled import Measure, take_measure
from ragstone.stats.units import divide

Coefficient = Literal["spearman", "pearson", "kendall", "somers"]
COEFFICIENTS: tuple[Coefficient, ...] = ("spearman", "pearson", "kendall", "somers")
# A spread below this share of the size of the numbers is rounding.
_ROUNDING = 1e-13


def correlate(first: np.ndarray, second: np.ndarray, coefficient: Coefficient = "spearman") -> float | None:
    """How two columns go together, from -1 to 1; None for fewer than two rows or where one does not vary."""
    return take_measure(make_correlation(first, second, coefficient), len(first)) if len(first) > 1 else None


def make_correlation(first: np.ndarray, second: np.ndarray, coefficient: Coefficient = "spearman") -> Measure:
    """The measure for two columns without gaps; Somers' D asks of pairs that differ in the second whether the first agrees."""
    if coefficient in ("kendall", "somers"):
        return _concordance(first, second, coefficient == "somers", np.zeros(len(first)))
    return (_pearson if coefficient == "pearson" else _spearman)(first, second)


def make_partial(
    first: np.ndarray, second: np.ndarray, strata: np.ndarray, coefficient: Coefficient = "spearman"
) -> Measure:
    """The correlation given the stratum: of what is left when each stratum's mean (of ranks, for Spearman) is taken out.

    Kendall's tau and Somers' D are over pairs of one stratum. Systems that differ in quality make every metric look good;
    this asks about the answers of one and the same system.
    """
    if coefficient in ("kendall", "somers"):
        return _concordance(first, second, coefficient == "somers", strata)
    _, places = np.unique(strata, return_inverse=True)
    member = np.eye(int(places.max()) + 1)[places] if len(places) else np.zeros((0, 0))
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
    """Pearson's r in each resample; `sizes` are those of the numbers from which the values were made, if not their own."""
    total = times.sum(axis=1, keepdims=True)
    away, aside = (values - divide((times * values).sum(axis=1, keepdims=True), total) for values in (first, second))
    above = (times * away * aside).sum(axis=1)
    squares = [(times * values**2).sum(axis=1) for values in (away, aside)]
    rounding = [total[:, 0] * (_ROUNDING * size) ** 2 for size in sizes or (_size(first), _size(second))]
    varies = (squares[0] > rounding[0]) & (squares[1] > rounding[1])
    below = np.sqrt(squares[0]) * np.sqrt(squares[1])
    return _clipped(np.divide(above, below, out=np.full(len(times), np.nan), where=varies & (below > 0)))


def correlate_each(first: np.ndarray, second: np.ndarray, coefficient: Coefficient) -> np.ndarray:
    """The correlation within each row of two tables of few columns."""
    if coefficient in ("kendall", "somers"):
        signs = [np.sign(table[:, :, None] - table[:, None, :]) for table in (first, second)]
        untied = [np.abs(sign).sum(axis=(1, 2)) for sign in signs]
        below = np.sqrt(untied[0] * untied[1]) if coefficient == "kendall" else untied[1] * (untied[0] > 0)
        return _clipped(divide((signs[0] * signs[1]).sum(axis=(1, 2)), below))
    if coefficient == "spearman":
        from scipy import stats  # noqa: PLC0415  (takes longer to load than most runs; not everybody needs it)

        first, second = stats.rankdata(first, axis=1), stats.rankdata(second, axis=1)
    return weighted_pearson(first, second, np.ones(first.shape))


def _clipped(values: np.ndarray) -> np.ndarray:
    """Rounding may lead beyond 1 by an ulp."""
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


def _ranker(values: np.ndarray) -> Measure:
    """The middle rank of each row's value among all that were drawn."""
    _, places = np.unique(values, return_inverse=True)

    def ranks(times: np.ndarray) -> np.ndarray:
        drawn = count_values(times, places)
        found: np.ndarray = (np.cumsum(drawn, axis=1) - drawn / 2 + 0.5)[:, places]
        return found

    return ranks


def count_values(times: np.ndarray, places: np.ndarray, size: int | None = None) -> np.ndarray:
    """How often each value was drawn, where `places` says which value each row has."""
    size = size or int(places.max(initial=-1)) + 1
    shifted = places[None, :] + size * np.arange(len(times))[:, None]
    return np.bincount(shifted.ravel(), times.ravel(), minlength=size * len(times)).reshape(len(times), size)


def _concordance(first: np.ndarray, second: np.ndarray, somers: bool, strata: np.ndarray) -> Measure:
    """Pairs of one stratum in the same order less those in opposite order, by how many are not tied."""
    _, ours = np.unique(first, return_inverse=True)
    _, theirs = np.unique(second, return_inverse=True)
    _, places = np.unique(strata, return_inverse=True)
    cells = [np.unique(np.stack([places, of]), axis=1, return_inverse=True)[1].ravel() for of in (ours, theirs)]

    def measure(times: np.ndarray) -> np.ndarray:
        pairs = _count_pairs(times, places)
        untied = [pairs - _count_pairs(times, of) for of in cells]
        below = untied[1] * (untied[0] > 0) if somers else np.sqrt(untied[0] * untied[1])
        return _clipped(divide(_order(times, ours, theirs, places), below))

    return measure


def _count_pairs(times: np.ndarray, places: np.ndarray) -> np.ndarray:
    drawn = count_values(times, places)
    return np.asarray((drawn * (drawn - 1) / 2).sum(axis=1))


def _order(times: np.ndarray, first: np.ndarray, second: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Pairs in the same order less those in opposite order: rows of signs, some at a time, for all resamples at once."""
    found, block = np.zeros(len(times)), max(1, 2_000_000 // max(1, len(first)))
    for start in range(0, len(first), block):
        rows = slice(start, start + block)
        signs = np.sign(first[rows, None] - first[None, :]) * np.sign(second[rows, None] - second[None, :])
        signs = (signs * (strata[rows, None] == strata[None, :])).T.astype(np.float64)
        found += ((times @ signs) * times[:, rows]).sum(axis=1)
    return found / 2
