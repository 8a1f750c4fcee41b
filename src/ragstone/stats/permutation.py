"""The paired permutation test: if nothing changed, each difference could as well have had the other sign."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ragstone.stats.bootstrap import RESAMPLES
from ragstone.stats.units import make_units

# How many signs are held at a time: 4 MB.
_CELLS = 500_000
# Sums of the same numbers in another order differ by rounding; such ties count as ties.
_ROUNDING = 1e-9


class Flipped(NamedTuple):
    """For each column the p of its mean being 0, by itself and corrected for all columns together."""

    p: np.ndarray
    joint: np.ndarray


def sign_flip_test(
    differences: np.ndarray, clusters: np.ndarray | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> np.ndarray:
    """The two-sided p of each column's mean difference being 0; nan where there is no value.

    All sign patterns are tried where they are no more than the resamples (13 rows for 10,000), else random ones. With
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
    """The same, and p corrected within a family of columns (all by default; nan outside it).

    The correction is Westfall and Young's step-down maximum: as strict as Holm's, but it sees from the sign patterns which
    columns rise and fall together, so that ten spellings of one metric do not cost ten times the evidence.
    """
    units = make_units(differences, clusters, seed)
    used = units.used > 0
    # Units without any difference change nothing, whatever their sign.
    sums = units.sums[np.any(units.sums != 0, axis=1)]
    scale = np.sqrt((sums**2).sum(axis=0))
    scaled = np.divide(sums, scale, out=np.zeros(sums.shape), where=scale > 0)
    total = np.abs(scaled.sum(axis=0)) * (1 - _ROUNDING) - _ROUNDING
    members = np.flatnonzero(used if family is None else family & used)
    order = members[np.argsort(-total[members], kind="stable")]
    exact = 2 ** min(len(sums), 60) <= resamples
    reached, reached_jointly, tried = np.zeros(len(total)), np.zeros(len(order)), 0
    for flipped in every_pattern(len(sums)) if exact else random_patterns(len(sums), resamples, seed):
        found = np.abs(2 * (flipped @ scaled) - scaled.sum(axis=0))
        reached += np.count_nonzero(found >= total, axis=0)
        highest = np.maximum.accumulate(found[:, order[::-1]], axis=1)[:, ::-1]
        reached_jointly += np.count_nonzero(highest >= total[order], axis=0)
        tried += len(flipped)
    least = 0 if exact else 1
    joint = np.full(len(total), np.nan)
    joint[order] = np.maximum.accumulate((reached_jointly + least) / (tried + least))
    return Flipped(np.where(used, (reached + least) / (tried + least), np.nan), joint)


def every_pattern(size: int) -> Iterator[np.ndarray]:
    """Each way to turn some of so many units round, as 0 and 1."""
    numbers = np.arange(2**size)
    yield ((numbers[:, None] >> np.arange(size)) & 1).astype(np.float64)


def random_patterns(size: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """Random ways to turn some of so many units round, block by block."""
    random = np.random.default_rng(seed)
    block = max(1, _CELLS // size)
    for first in range(0, resamples, block):
        rows = min(block, resamples - first)
        bits = np.frombuffer(random.bytes(rows * ((size + 7) // 8)), dtype=np.uint8).reshape(rows, -1)
        yield np.unpackbits(bits, axis=1, count=size).astype(np.float64)
