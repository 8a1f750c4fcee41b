"""Two runs compared by scores that are made from all rows together: BLEU, say, or the share of distinct words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ragstone.stats.bootstrap import RESAMPLES, draw, expanded_ends
from ragstone.stats.intervals import Interval, student_quantile
from ragstone.stats.permutation import random_patterns
from ragstone.stats.resampling import JACKKNIFE_GROUPS, jackknife
from ragstone.stats.units import make_units

_CELLS = 500_000
_ROUNDING = 1e-12


class Compared(NamedTuple):
    """The interval of the difference, after minus before, and the p of there being none."""

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
    """A score of summed statistics: rows drawn in pairs for the interval, swapped between the runs for p."""
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
        moved = swapped @ change
        found = score(second.sum(axis=0) - moved) - score(first.sum(axis=0) + moved)
        reached += int(np.count_nonzero(np.abs(found) >= abs(total) - _ROUNDING))
    return Compared(Interval(float(low), float(high)), (reached + 1) / (resamples + 1))


def compare_rows(
    before: Sequence[np.ndarray],
    after: Sequence[np.ndarray],
    score: Callable[[Sequence[np.ndarray]], float],
    level: float = 0.95,
    seed: int = 0,
) -> Compared | None:
    """A score that is no function of a sum: the jackknife of the difference, groups of pairs left out in turn."""
    from scipy import special  # noqa: PLC0415  (takes longer to load than most runs; not everybody needs it)

    def difference(pairs: Sequence[Any]) -> float:
        return score([pair[1] for pair in pairs]) - score([pair[0] for pair in pairs])

    pairs: list[Any] = list(zip(before, after, strict=True))
    interval = jackknife(pairs, difference, level, seed=seed)
    if interval is None:
        return None
    freedom = min(JACKKNIFE_GROUPS, len(pairs)) - 1
    error = (interval.high - interval.low) / 2 / student_quantile(freedom, (1 + level) / 2)
    total = difference(pairs)
    p = 2 * float(special.stdtr(freedom, -abs(total) / error)) if error > 0 else float(total == 0)
    return Compared(interval, p)


def _drawn(
    random: np.random.Generator, resamples: int, first: np.ndarray, second: np.ndarray, score: Callable[..., np.ndarray]
) -> np.ndarray:
    times = draw(random, resamples, len(first))
    return np.asarray(score(times @ second) - score(times @ first))
