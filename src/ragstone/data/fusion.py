"""Rank fusion: several ranked lists of ids as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Method = Literal["rrf", "combsum", "combmnz"]
# Ids with their scores, best first.
Ranked = Sequence[tuple[str, float]]
RRF_K = 60


def fuse(lists: Sequence[Ranked], method: Method = "rrf", k: int = RRF_K) -> list[tuple[str, float]]:
    """One list of all ids, best first; equal scores by id descending, as in trec_eval.

    - `rrf` (Cormack et al. 2009): sum over the lists of 1 / (k + rank).
    - `combsum` (Fox & Shaw 1994): sum of the scores, each list scaled to 0 … 1 (min-max). If all scores of a list are equal,
      each is 1.
    - `combmnz`: the same sum × the number of lists with the id.

    An id that is in a list twice counts at its first place.
    """
    totals: dict[str, float] = {}
    counts: dict[str, int] = {}
    for ranked in lists:
        first: dict[str, tuple[int, float]] = {}
        for name, score in ranked:
            first.setdefault(name, (len(first) + 1, score))
        scores = [score for _, score in first.values()]
        low, high = min(scores, default=0.0), max(scores, default=0.0)
        for name, (rank, score) in first.items():
            scaled = (score - low) / (high - low) if high > low else 1.0
            totals[name] = totals.get(name, 0.0) + (1 / (k + rank) if method == "rrf" else scaled)
            counts[name] = counts.get(name, 0) + 1
    if method == "combmnz":
        totals = {name: total * counts[name] for name, total in totals.items()}
    return sorted(totals.items(), key=lambda item: (item[1], item[0]), reverse=True)
