"""The rows of three or more runs side by side: the status of each question in each run, rows that differ first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.analysis.alignment import align
from ragstone.analysis.cause_texts import RowLabel
from ragstone.storage.runs import Run
from ragstone.views.moved_rows import RowLabels


@dataclass(frozen=True)
class RunCell:
    """A question in one run."""

    # From 1.
    row: int
    status: str
    wrong: float | None
    cause: str


@dataclass(frozen=True)
class SharedRow:
    """A question that all runs answer, with one cell per run."""

    cells: tuple[RunCell, ...]

    @property
    def differs(self) -> bool:
        """Whether the status is not the same in all runs."""
        return len({cell.status for cell in self.cells}) > 1

    @property
    def spread(self) -> float:
        """The largest difference between the probabilities that the answer is wrong; 0 without two of them."""
        known = [cell.wrong for cell in self.cells if cell.wrong is not None]
        return max(known) - min(known) if known else 0.0


def shared_rows(runs: Sequence[Run], judged: Sequence[RowLabels]) -> list[SharedRow]:
    """The questions that all runs answer: those with different statuses first, the largest difference first."""
    base = runs[0]
    places: list[dict[int, int]] = []
    for run in runs[1:]:
        pairs = align(base, run)
        places.append(dict(zip(pairs.before.tolist(), pairs.after.tolist(), strict=True)))
    shared = [row for row in range(base.info.rows) if all(row in other for other in places)]
    rows = [
        SharedRow(tuple(_cell(at, known) for at, known in zip((row, *(o[row] for o in places)), judged, strict=True)))
        for row in shared
    ]
    return sorted(rows, key=lambda row: (not row.differs, -row.spread))


def _cell(row: int, judged: RowLabels) -> RunCell:
    known = judged[row] if row < len(judged) else RowLabel("")
    return RunCell(row + 1, known.status, known.wrong, known)
