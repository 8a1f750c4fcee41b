"""Which samples a new version fixes and breaks, by the diagnoses of both runs."""

from __future__ import annotations

from typing import NamedTuple

from ragstone.compare.comparison import Comparison
from ragstone.compare.diagnosis import diagnose
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_ids


class Moves(NamedTuple):
    """The samples that fail only in A, only in B and in both, by their ids in B; only those examined in both count."""

    fixed: list[str]
    newly_failing: list[str]
    still_failing: list[str]


def find_moves(comparison: Comparison, most: int) -> Moves | None:
    """The failing pairs of a comparison; None if a run has more than `most` samples or no diagnosis."""
    sides = []
    for run, rows in ((comparison.before, comparison.pairs.before), (comparison.after, comparison.pairs.after)):
        failing = _failing(run, most)
        if failing is None:
            return None
        sides.append([failing[row] for row in rows])
    ids = read_ids(comparison.after)
    pairs = list(zip(*sides, (ids[row] for row in comparison.pairs.after), strict=True))
    kinds = ((True, False), (False, True), (True, True))
    return Moves(*([name for was, now, name in pairs if (was, now) == kind] for kind in kinds))


def _failing(run: Run, most: int) -> list[bool | None] | None:
    """Whether each sample fails; None for a sample that was not examined."""
    if run.info.rows > most:
        return None
    diagnosis = diagnose(run, texts=False)
    if not diagnosis.has_content:
        return None
    return [None if outcome.undecided else outcome.cause is not None for outcome in diagnosis.outcomes]
