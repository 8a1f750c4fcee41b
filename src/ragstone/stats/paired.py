"""Tests and effect sizes for paired rows. Differences are after minus before; nan means that there is no pair.

`sign_flip_test` is the paired permutation test. `compare_sums` and `compare_rows` compare two runs by scores of all rows
together, such as BLEU or the share of distinct words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ragstone.stats.bootstrap import RESAMPLES, draw, expanded_ends, make_units, multiply
from ragstone.stats.corpus_intervals import FEW_GROUPS, rows_interval
from ragstone.stats.distributions import beta_probability, binomial_probability, student_tail
from ragstone.stats.intervals import Interval
from ragstone.stats.student import student_quantile


class Tally(NamedTuple):
    """The number of pairs in which the later value is higher, equal, lower."""

    higher: int
    equal: int
    lower: int


def tally(differences: np.ndarray) -> Tally:
    """Count the pairs."""
    present = _present(differences)
    return Tally(int((present > 0).sum()), int((present == 0).sum()), int((present < 0).sum()))


def sign_test(differences: np.ndarray) -> float:
    """The exact two-sided sign test; pairs without a difference are ignored."""
    counts = tally(differences)
    tried = counts.higher + counts.lower
    return min(1.0, 2 * binomial_probability(min(counts.higher, counts.lower), tried, 0.5)) if tried else 1.0


def share_difference_interval(before: np.ndarray, after: np.ndarray, level: float = 0.95) -> Interval | None:
    """Bonett and Price's interval of the difference of paired shares (values 0 or 1); it is valid for few changed rows."""
    both = ~(np.isnan(before) | np.isnan(after))
    counts = tally(after[both] - before[both])
    pairs = sum(counts)
    if pairs < 2:
        return None
    return _bonett_price(counts.higher, counts.lower, pairs, level)


def _bonett_price(higher: float, lower: float, pairs: float, level: float) -> Interval:
    up, down = ((count + 1) / (pairs + 2) for count in (higher, lower))
    reach = NormalDist().inv_cdf((1 + level) / 2) * ((up + down - (up - down) ** 2) / (pairs + 2)) ** 0.5
    return Interval(max(-1.0, up - down - reach), min(1.0, up - down + reach))


def pairs_to_decide(changes: np.ndarray, limit: float, most: int, level: float = 0.95) -> int:
    """The number of pairs at which the interval of a difference of shares excludes the limit, if the shares stay.

    `changes` are -1, 0 or 1. At this number about half of all samples decide. `most` if it is not reached before.
    """
    counts = tally(changes)
    pairs = sum(counts)

    def decides(size: int) -> bool:
        low, high = _bonett_price(counts.higher * size / pairs, counts.lower * size / pairs, size, level)
        return low > limit or high < limit

    return _least_size(decides, pairs, most)


def pairs_to_differ(counts: Tally, most: int, level: float = 0.95) -> int:
    """The number of pairs at which the sign test finds a difference, if the shares of the pairs stay; at most `most`."""
    pairs, fewer = sum(counts), min(counts.higher, counts.lower)

    def decides(size: int) -> bool:
        changed, rare = (count * size / pairs for count in (counts.higher + counts.lower, fewer))
        return 2 * beta_probability(changed - rare, rare + 1, 0.5) < 1 - level

    return _least_size(decides, pairs, most) if counts.higher != counts.lower else most


def _least_size(decides: Callable[[int], bool], pairs: int, most: int) -> int:
    """The smallest size from about half the pairs up that decides; `most` if none does before."""
    size = pairs
    while not decides(size) and size < most:
        size *= 2
    below, above = size // 2, size
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if decides(middle) else (middle, above)
    return min(above, most)


def standardised_difference(differences: np.ndarray) -> float | None:
    """Cohen's d_z: the mean difference in standard deviations of the differences; None if they do not vary."""
    present = _present(differences)
    if len(present) < 2 or np.ptp(present) == 0:
        return None
    return float(present.mean() / present.std(ddof=1))


def superiority(differences: np.ndarray) -> float | None:
    """The probability that a row's later value is higher; ties count half."""
    counts = tally(differences)
    pairs = sum(counts)
    return (counts.higher + counts.equal / 2) / pairs if pairs else None


def _present(values: np.ndarray) -> np.ndarray:
    present: np.ndarray = values[~np.isnan(values)]
    return present


# Number of signs in memory at a time: 4 MB.
_CELLS = 500_000
# Sums of the same numbers in another order differ by rounding; they count as ties.
_ROUNDING = 1e-9


class Flipped(NamedTuple):
    """For each column, the p of a mean difference of 0: alone, and corrected for all columns."""

    p: np.ndarray
    joint: np.ndarray


def sign_flip_test(
    differences: np.ndarray, clusters: np.ndarray | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> np.ndarray:
    """The two-sided p of a mean difference of 0 for each column; nan if a column has no value.

    All sign patterns are used if there are at most `resamples` of them (13 rows for 10,000), otherwise random ones. With
    clusters, all differences of a cluster change sign together.
    """
    return flip_signs(differences, clusters, resamples=resamples, seed=seed).p


def flip_signs(
    differences: np.ndarray,
    clusters: np.ndarray | None = None,
    family: np.ndarray | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Flipped:
    """`sign_flip_test` with p corrected within a family of columns (all by default; nan outside it).

    The correction is Westfall and Young's step-down maximum: as strict as Holm's, but it takes the correlation of the columns
    into account, so that ten variants of one metric do not need ten times the evidence.
    """
    units = make_units(differences, clusters, seed)
    used = units.used > 0
    # Units without a difference have no effect.
    sums = units.sums[np.any(units.sums != 0, axis=1)]
    scale = np.sqrt((sums**2).sum(axis=0))
    scaled = np.divide(sums, scale, out=np.zeros(sums.shape), where=scale > 0)
    total = np.abs(scaled.sum(axis=0)) * (1 - _ROUNDING) - _ROUNDING
    members = np.flatnonzero(used if family is None else family & used)
    order = members[np.argsort(-total[members], kind="stable")]
    exact = 2 ** min(len(sums), 60) <= resamples
    reached, reached_jointly, tried = np.zeros(len(total)), np.zeros(len(order)), 0
    for flipped in every_pattern(len(sums)) if exact else random_patterns(len(sums), resamples, seed):
        sizes = np.abs(2 * multiply(flipped, scaled) - scaled.sum(axis=0))
        reached += np.count_nonzero(sizes >= total, axis=0)
        highest = np.maximum.accumulate(sizes[:, order[::-1]], axis=1)[:, ::-1]
        reached_jointly += np.count_nonzero(highest >= total[order], axis=0)
        tried += len(flipped)
    least = 0 if exact else 1
    joint = np.full(len(total), np.nan)
    joint[order] = np.maximum.accumulate((reached_jointly + least) / (tried + least))
    return Flipped(np.where(used, (reached + least) / (tried + least), np.nan), joint)


def every_pattern(size: int) -> Iterator[np.ndarray]:
    """All 2^n patterns of 0 and 1 for n units."""
    numbers = np.arange(2**size)
    yield ((numbers[:, None] >> np.arange(size)) & 1).astype(np.float64)


def random_patterns(size: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """Random patterns of 0 and 1 for this many units, in blocks."""
    random = np.random.default_rng(seed)
    block = max(1, _CELLS // size)
    for first in range(0, resamples, block):
        rows = min(block, resamples - first)
        bits = np.frombuffer(random.bytes(rows * ((size + 7) // 8)), dtype=np.uint8).reshape(rows, -1)
        yield np.unpackbits(bits, axis=1, count=size).astype(np.float64)


_SUM_ROUNDING = 1e-12


class Compared(NamedTuple):
    """The interval of the difference, after minus before, and the p of no difference."""

    interval: Interval
    p: float


def compare_sums(
    before: np.ndarray,
    after: np.ndarray,
    score: Callable[[np.ndarray], np.ndarray],
    clusters: np.ndarray | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Compared | None:
    """Compare a score of summed statistics: a paired bootstrap for the interval, swaps between the runs for p."""
    first, second = make_units(before, clusters, seed).sums, make_units(after, clusters, seed).sums
    size = len(first)
    if size < 2:
        return None
    random, block = np.random.default_rng(seed), max(1, _CELLS // size)
    drawn = [_drawn(random, min(block, resamples - at), first, second, score) for at in range(0, resamples, block)]
    low, high = np.quantile(np.concatenate(drawn), expanded_ends(size, level))
    change, total = second - first, float(score(second.sum(axis=0)) - score(first.sum(axis=0)))
    reached = 0
    for swapped in random_patterns(size, resamples, seed):
        moved = multiply(swapped, change)
        difference = score(second.sum(axis=0) - moved) - score(first.sum(axis=0) + moved)
        reached += int(np.count_nonzero(np.abs(difference) >= abs(total) - _SUM_ROUNDING))
    return Compared(Interval(float(low), float(high)), (reached + 1) / (resamples + 1))


def compare_rows(
    before: Sequence[np.ndarray],
    after: Sequence[np.ndarray],
    score: Callable[[Sequence[np.ndarray]], float],
    level: float = 0.95,
) -> Compared | None:
    """Compare a score that is not a function of a sum, by a delete-a-group jackknife of the difference."""

    def difference(pairs: Sequence[Any]) -> float:
        return score([pair[1] for pair in pairs]) - score([pair[0] for pair in pairs])

    pairs: list[Any] = list(zip(before, after, strict=True))
    if len(pairs) < 2:
        return None
    total = difference(pairs)
    interval = rows_interval(pairs, difference, level)
    if interval is None:
        return Compared(Interval(total, total), float(total == 0))
    freedom = min(FEW_GROUPS, len(pairs)) - 1
    error = (interval.high - interval.low) / 2 / student_quantile(freedom, (1 + level) / 2)
    p = 2 * student_tail(freedom, abs(total) / error)
    return Compared(interval, p)


def _drawn(
    random: np.random.Generator, resamples: int, first: np.ndarray, second: np.ndarray, score: Callable[..., np.ndarray]
) -> np.ndarray:
    times = draw(random, resamples, len(first))
    return np.asarray(score(multiply(times, second)) - score(multiply(times, first)))
