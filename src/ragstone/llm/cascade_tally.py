"""Counts what a cascade of judges decided locally and how many calls that saved, per part of a run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass

from ragstone.llm.concurrency import bound


@dataclass
class Tally:
    """Decisions of a cascade."""

    decided: int = 0
    passed_on: int = 0
    calls_saved: int = 0
    # Sum of the confidences of local decisions: the expected number of correct ones.
    sure: float = 0.0

    def totals(self) -> dict[str, float | int | None]:
        """Return the totals for run.json. Escalated decisions agree with the stronger judge by definition."""
        count = self.decided + self.passed_on
        return {
            "decided_locally": self.decided,
            "passed_on": self.passed_on,
            "calls_saved": self.calls_saved,
            "estimated_agreement": round((self.sure + self.passed_on) / count, 4) if count else None,
        }


_CURRENT: ContextVar[Tally | None] = ContextVar("ragstone_tally", default=None)


def tally_into(tally: Tally) -> AbstractContextManager[None]:
    """Add the decisions made in this block, and in tasks started in it, to a tally."""
    return bound(_CURRENT, tally)


def tally_decisions(confidences: Sequence[float], passed_on: int, calls_saved: int) -> None:
    """Add decisions to the current tally, if there is one."""
    if tally := _CURRENT.get():
        tally.decided += len(confidences)
        tally.sure += sum(confidences)
        tally.passed_on += passed_on
        tally.calls_saved += calls_saved
