"""Progress of a run, reported through a callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from ragstone.engine.plan import Plan

Stage = Literal["reading", "asking", "evaluating", "finishing"]


class Progress(NamedTuple):
    """Rows done of rows in all; the total is unknown while reading. `calls` of models are counted until a row is done."""

    stage: Stage
    done: int
    total: int | None = None
    calls: int = 0


Report = Callable[[Progress], None]


class Meter:
    """Counts finished rows, and the share of a row with each piece of evidence that a model was asked for."""

    def __init__(self, plan: Plan, total: int, report: Report) -> None:
        self._waiting_steps = sum(step.spec.is_async for step in plan.evidence)
        self._total = total
        self._report = report
        self._rows = 0
        self._steps = 0
        self._shown = -1
        self._calls = 0

    def add_rows(self, rows: int) -> None:
        """Count rows that are finished and stored."""
        self._rows += rows
        self._steps = max(0, self._steps - rows * self._waiting_steps)
        self._show(self._rows)

    def tick(self) -> None:
        """One step of one row is done."""
        self._steps += 1
        # Only finished rows make the meter full.
        self._show(min(self._rows + self._steps // self._waiting_steps, max(self._rows, self._total - 1)))

    def count_call(self) -> None:
        """A model was called; shown while no row is done."""
        self._calls += 1
        if self._shown <= 0:
            self._report(Progress("evaluating", 0, self._total, self._calls))

    def _show(self, done: int) -> None:
        if done > self._shown or done == self._total:
            self._shown = done
            self._report(Progress("evaluating", done, self._total))


def silent(progress: Progress) -> None:
    """Show nothing."""
