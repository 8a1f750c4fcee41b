"""How far a run has come, told to whoever wants to show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

Stage = Literal["reading", "evaluating", "finishing"]


class Progress(NamedTuple):
    """Rows done of rows in all; the total is unknown while reading."""

    stage: Stage
    done: int
    total: int | None = None


Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Show nothing."""
