"""Draws exchanges from a log by strata, so that weighted means are those of the whole log; and groups duplicates.

If n of the N exchanges of a stratum are drawn, each represents N/n exchanges (Horvitz and Thompson 1952).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ragstone.text.questions import question_key
from ragstone.truth.harvest.log_index import Exchange

# The least share of good, bad and unclear answers among the draws, if there are enough: few answers have a signal.
CLASS_FLOOR = 0.25
# The variance within a stratum needs at least two draws.
STRATUM_FLOOR = 2
# Similarity of two questions in percent: it allows a typing error, but not another word.
NEAR = 95.0
_SHORTEST_NEAR = 15
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class Stratum:
    """Similar exchanges: their number, and how many are drawn."""

    name: str
    size: int
    drawn: int

    @property
    def weight(self) -> float:
        """The number of exchanges that each draw represents."""
        return self.size / self.drawn


@dataclass(frozen=True)
class Draw:
    """Drawn rows, each with its stratum."""

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
    """Draws n rows: a share per class, and within a class by the columns (codes and names), the most important first.

    The last columns are ignored if a stratum would get fewer than two draws.
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
    """The number of draws per group: proportional to its size, at least the floor, at most the size; n in all.

    If the floors exceed n, they are ignored.
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
    """Whole numbers that sum to n, by the largest remainders; ties keep their order."""
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
    """The stratum of each member, and the names of the strata: by as many columns as leave two draws per stratum."""
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


def group_duplicates(exchanges: Sequence[Exchange]) -> list[list[int]]:
    """Groups positions of exchanges with the same question, in order of first appearance."""
    keys = [question_key(exchange.sample.question or "") for exchange in exchanges]
    candidates: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for position, (exchange, key) in enumerate(zip(exchanges, keys, strict=True)):
        # "The fares of 2023" and "of 2024" differ in one character only, so digits must be equal.
        candidates[exchange.deployment, tuple(_DIGITS.findall(key))].append(position)
    leader = list(range(len(exchanges)))
    documents = [exchange.sample.documents or [] for exchange in exchanges]
    for positions in candidates.values():
        _join(positions, keys, documents, leader)
    groups: dict[int, list[int]] = defaultdict(list)
    for position, first in enumerate(leader):
        groups[first].append(position)
    return list(groups.values())


def may_be_same(documents: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two questions may be about the same documents: they share one, or one of them names none."""
    return not documents or not others or not set(documents).isdisjoint(others)


def _join(positions: Sequence[int], keys: Sequence[str], documents: Sequence[Sequence[str]], leader: list[int]) -> None:
    """Sets the leader of each question to the first question that it duplicates."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415

    leaders: list[int] = []
    for position in positions:
        key = keys[position]
        near = process.extract(
            key,
            [keys[first] for first in leaders],
            scorer=fuzz.ratio,
            score_cutoff=NEAR if len(key) >= _SHORTEST_NEAR else 100.0,
            limit=None,
        )
        same = (
            leaders[number] for _, _, number in near if may_be_same(documents[position], documents[leaders[number]])
        )
        leader[position] = next(same, position)
        if leader[position] == position:
            leaders.append(position)
