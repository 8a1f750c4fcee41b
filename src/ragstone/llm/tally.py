"""Calls that were not made: what a ladder of judges decided here, counted for the part of a run in which it did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Tally:
    """What a ladder did."""

    decided: int = 0
    passed_on: int = 0
    calls_saved: int = 0
    # Of those decided here, how sure the judge was, added up: that many of them should be right.
    sure: float = 0.0

    def totals(self) -> dict[str, float | int | None]:
        """For the manifest of a run. What was passed on agrees with the stronger judge by definition."""
        everything = self.decided + self.passed_on
        return {
            "decided_locally": self.decided,
            "passed_on": self.passed_on,
            "calls_saved": self.calls_saved,
            "estimated_agreement": round((self.sure + self.passed_on) / everything, 4) if everything else None,
        }


_HERE: ContextVar[Tally | None] = ContextVar("ragstone_tally", default=None)


@contextmanager
def tally_into(tally: Tally) -> Iterator[None]:
    """Within the block, and in tasks that it starts, decisions are added to the tally."""
    token = _HERE.set(tally)
    try:
        yield
    finally:
        _HERE.reset(token)


def tally_decisions(confidences: Sequence[float], passed_on: int, calls_saved: int) -> None:
    """Add some decisions, if somebody counts."""
    if tally := _HERE.get():
        tally.decided += len(confidences)
        tally.sure += sum(confidences)
        tally.passed_on += passed_on
        tally.calls_saved += calls_saved


def add_up(tallies: Iterable[Tally]) -> Tally:
    """All parts of a run together."""
    total = Tally()
    for one in tallies:
        total.decided += one.decided
        total.passed_on += one.passed_on
        total.calls_saved += one.calls_saved
        total.sure += one.sure
    return total
