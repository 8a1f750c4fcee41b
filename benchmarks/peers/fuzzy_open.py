"""Fuzzy facts: `partial_ratio_alignment` of rapidfuzz as one first writes it; what is below 90 is thrown away afterwards."""

from __future__ import annotations

from benchmarks.peers.fuzzy import Prepared, prepare, score

__all__ = ["TITLE", "prepare", "work"]

TITLE = "rapidfuzz without cutoff"


def work(prepared: Prepared) -> dict[str, list[float]]:
    return score(prepared, cutoff=None)
