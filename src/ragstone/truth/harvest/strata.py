"""Which exchanges of a log are drawn: by strata, each with its share, so that weighted means are those of the whole log.

An exchange stands for N/n others, where n of the N of its stratum are drawn (Horvitz and Thompson 1952).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

# Of good, bad and unclear answers at least this share of the draws each, where there are as many: few answers have a signal.
CLASS_FLOOR = 0.25
# Two draws tell how different the exchanges of a stratum are; one does not.
STRATUM_FLOOR = 2


@dataclass(frozen=True)
class Stratum:
    """Exchanges that are alike, how many there are, and how many of them are drawn."""

    name: str
    size: int
    drawn: int

    @property
    def weight(self) -> float:
        """How many exchanges each drawn one stands for."""
        return self.size / self.drawn


@dataclass(frozen=True)
class Draw:
    """Rows that were drawn, each with its stratum."""

    rows: np.ndarray
    stratum_of: np.ndarray
    strata: list[Stratum]


def draw(
    classes: np.ndarray,
    class_names: Sequence[str],
    columns: Mapping[str, tuple[np.ndarray, Sequence[str]]],
    n: int,
    seed: int,
) -> Draw:
    """Draw n rows: each class its share, within it by the columns (numbers, and their names), the first the most important.

    The last columns are left aside where there would be fewer than two draws for each stratum.
    """
    random = np.random.default_rng(seed)
    sizes = np.bincount(classes, minlength=len(class_names))
    n = min(n, int(sizes.sum()))
    floors = np.minimum(sizes, int(n * CLASS_FLOOR))
    rows: list[np.ndarray] = []
    strata: list[Stratum] = []
    stratum_of: list[int] = []
    for number, share in enumerate(shares(sizes, n, floors)):
        if not share:
            continue
        members = np.flatnonzero(classes == number)
        labels, names = _split(members, columns, int(share))
        counts = np.bincount(labels)
        for place, drawn in enumerate(shares(counts, int(share), np.minimum(counts, STRATUM_FLOOR))):
            if drawn:
                rows.append(random.choice(members[labels == place], drawn, replace=False))
                stratum_of += [len(strata)] * int(drawn)
                name = " · ".join([class_names[number], *names[place]])
                strata.append(Stratum(name, int(counts[place]), int(drawn)))
    return Draw(np.concatenate(rows), np.array(stratum_of), strata)


def shares(sizes: np.ndarray, n: int, floors: np.ndarray) -> np.ndarray:
    """How many to draw of each: in proportion to the sizes, at least the floor, never more than there are; n in all.

    Floors that are too high together give way to proportion.
    """
    if floors.sum() > n:
        floors = np.zeros_like(sizes)
    fixed = np.zeros(len(sizes))
    free = sizes > 0
    ideal = np.zeros(len(sizes))
    while free.any():
        rest = n - fixed.sum()
        ideal[free] = rest * sizes[free] / sizes[free].sum()
        low, high = free & (ideal < floors), free & (ideal > sizes)
        if not low.any() and not high.any():
            break
        bound = low if low.any() else high
        fixed[bound] = (floors if low.any() else sizes)[bound]
        free = free & ~bound
    return _round(np.where(free, ideal, fixed), sizes, n)


def _round(ideal: np.ndarray, sizes: np.ndarray, n: int) -> np.ndarray:
    """Whole numbers that sum to n, by the largest remainders; those of equal remainders in their order."""
    whole: np.ndarray = np.minimum(np.floor(ideal + 1e-9).astype(int), sizes)
    for place in np.argsort(-(ideal - whole), kind="stable"):
        if whole.sum() >= n:
            break
        if whole[place] < sizes[place]:
            whole[place] += 1
    return whole


def _split(
    members: np.ndarray, columns: Mapping[str, tuple[np.ndarray, Sequence[str]]], n: int
) -> tuple[np.ndarray, list[list[str]]]:
    """The stratum of each member, and the names of strata: by as many columns as leave two draws for each."""
    used = list(columns)
    while True:
        sizes = [len(columns[name][1]) for name in used]
        codes = np.zeros(len(members), dtype=np.int64)
        for name, size in zip(used, sizes, strict=True):
            codes = codes * size + columns[name][0][members]
        cells, labels = np.unique(codes, return_inverse=True)
        if not used or len(cells) * STRATUM_FLOOR <= n:
            break
        used.pop()
    places = zip(*np.unravel_index(cells, sizes), strict=True) if used else [()]
    names = [[columns[name][1][place] for name, place in zip(used, cell, strict=True)] for cell in places]
    return labels, names
