"""The types of an evaluation as plain Python values: one row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

Status = Literal["ok", "skipped", "failed"]
AnyColumn = TypeVar("AnyColumn")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrieved text."""

    text: str
    id: str | None = None
    score: float | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement that a chunk must contain for a correct answer."""

    text: str
    kind: str = "citation"
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement; a triplet (subject, relation, object) if the extractor returns one."""

    text: str
    triplet: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Grade:
    """A grade on its scale; its expected value if the judge's probabilities are known; its reasoning if given."""

    value: float
    lowest: float
    highest: float
    expected: float | None = None
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The preferred answer of two: `one` is the sample's own, `other` the one it is compared with, or a tie."""

    # The answer that the judge saw first; `neither` if both are equal and the judge was not called.
    first: str
    winner: str
    reasoning: str


@dataclass(frozen=True, slots=True)
class FactMatch:
    """A match of a fact: the fact, the chunk, start and end."""

    fact: int
    chunk: int
    start: int
    end: int
    confidence: float
    matcher: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One question with all its data. None means not known."""

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
    """One cell: a value, or the reason why there is none."""

    value: float | None
    status: Status = "ok"
    reason: str | None = None

    def __post_init__(self) -> None:
        if (self.status == "ok") != (self.value is not None):
            raise ValueError(f"a {self.status} score cannot have the value {self.value!r}")
        if self.status != "ok" and not self.reason:
            raise ValueError(f"a {self.status} score needs a reason")


@dataclass(frozen=True)
class Gaps(Generic[AnyColumn]):
    """The return value of a columnar evidence function if some rows have no value: a column of all rows, and the reasons."""

    column: AnyColumn
    reasons: dict[int, str]
