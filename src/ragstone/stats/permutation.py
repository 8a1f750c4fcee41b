"""The paired permutation test: if nothing changed, each difference could as well have had the other sign."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragstone.stats.bootstrap import RESAMPLES
from ragstone.stats.units import make_units

# How many signs are held at a time: 4 MB.
_CELLS = 500_000
# Sums of the same numbers in another order differ by rounding; such ties count as ties.
_ROUNDING = 1e-9


def sign_flip_test(
    differences: np.ndarray, clusters: np.ndarray | None = None, resamples: int = RESAMPLES, seed: int = 0
) -> np.ndarray:
    """The two-sided p of each column's mean difference being 0; nan where there is no value.

    All sign patterns are tried where they are no more than the resamples (13 rows for 10,000), else random ones. With
    clusters, all differences of a cluster change sign together.
    """
    units = make_units(differences, clusters, seed)
    sums = units.sums
    total, scale = np.abs(sums.sum(axis=0)), np.abs(sums).sum(axis=0)
    # Units without any difference change nothing, whatever their sign.
    sums = sums[np.any(sums != 0, axis=1)]
    exact = 2 ** min(len(sums), 60) <= resamples
    reached = np.zeros(sums.shape[1])
    tried = 0
    for flipped in every_pattern(len(sums)) if exact else random_patterns(len(sums), resamples, seed):
        changed = np.abs(2 * (flipped @ sums) - sums.sum(axis=0))
        reached += np.count_nonzero(changed >= total - _ROUNDING * scale, axis=0)
        tried += len(flipped)
    p = reached / tried if exact else (reached + 1) / (tried + 1)
    return np.where(units.used > 0, p, np.nan)


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
