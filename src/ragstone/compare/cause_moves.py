"""How many samples a new version fixes and breaks, by the diagnoses of both runs."""

from __future__ import annotations

from typing import NamedTuple

from ragstone.compare.comparison import Comparison
from ragstone.compare.diagnosis import diagnose
from ragstone.storage.runs import Run


class Moves(NamedTuple):
    """The number of pairs that fail only in A, only in B and in both."""

    fixed: int
    newly_failing: int
    still_failing: int


def count_moves(comparison: Comparison, most: int) -> Moves | None:
    """The failing pairs of a comparison; None if a run has more than `most` samples or no diagnosis."""
    sides = []
    for run, rows in ((comparison.before, comparison.pairs.before), (comparison.after, comparison.pairs.after)):
        failing = _failing(run, most)
        if failing is None:
            return None
        sides.append([failing[row] for row in rows])
    pairs = list(zip(*sides, strict=True))
    return Moves(*(pairs.count(move) for move in ((True, False), (False, True), (True, True))))


def _failing(run: Run, most: int) -> list[bool] | None:
    if run.info.rows > most:
        return None
    diagnosis = diagnose(run, texts=False)
    return [outcome.cause is not None for outcome in diagnosis.outcomes] if diagnosis.has_content else None
