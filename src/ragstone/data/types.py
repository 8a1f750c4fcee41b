"""The nouns of an evaluation, as plain Python values: one row, seen by a person."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["ok", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrieved text."""

    text: str
    id: str | None = None
    score: float | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """What a chunk must contain for a right answer."""

    text: str
    kind: str = "citation"
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement; a triplet (subject, relation, object) where the extractor gives one."""

    text: str
    triplet: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Grade:
    """A grade on its scale; what it would be on average where the judge's probabilities are known, and its reasons where given."""

    value: float
    lowest: float
    highest: float
    expected: float | None = None
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Which of two answers a judge prefers: `one` is the sample's own, `other` the one that it is held against, or it is a tie."""

    # Which one it saw first; `neither` where both are the same and nobody was asked.
    first: str
    winner: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class FactMatch:
    """A place where a fact was found: which fact, in which chunk, from which to which character."""

    fact: int
    chunk: int
    start: int
    end: int
    confidence: float
    matcher: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One question with everything known about it. None means that it is not known."""

    id: str
    question: str | None = None
    answer: str | None = None
    contexts: list[Chunk] | None = None
    references: list[str] | None = None
    reference_contexts: list[str] | None = None
    relevance: dict[str, float] | None = None
    facts: list[Fact] | None = None
    answerable: bool | None = None
    documents: list[str] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Score:
    """One cell: a value, or none and the reason why."""

    value: float | None
    status: Status = "ok"
    reason: str | None = None

    def __post_init__(self) -> None:
        if (self.status == "ok") != (self.value is not None):
            raise ValueError(f"a {self.status} score cannot have the value {self.value!r}")
        if self.status != "ok" and not self.reason:
            raise ValueError(f"a {self.status} score needs a reason")
