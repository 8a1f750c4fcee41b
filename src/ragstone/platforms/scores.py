"""A score of a sample as it is written to a platform."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, NamedTuple

_NAMES = uuid.UUID("8d3f1b52-8f64-4cf0-9f8e-0f1f6b1a7c11")


@dataclass(frozen=True)
class Mark:
    """One score on a trace."""

    trace: str
    metric: str
    value: float
    comment: str
    is_judged: bool
    # The run and the signature, stored with the score.
    about: dict[str, Any]
    # Metadata of the sample: some platforms need more than the trace to find it.
    metadata: dict[str, Any]

    @property
    def key(self) -> uuid.UUID:
        """The same for the same trace and metric: a second push replaces the first."""
        return uuid.uuid5(_NAMES, f"{self.trace}\0{self.metric}")


class Outcome(NamedTuple):
    """A score that was sent; the error if the platform did not take it."""

    mark: Mark
    error: str | None = None
