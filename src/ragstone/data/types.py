"""The types of an evaluation as plain Python values: one row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Self, TypeVar

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
    # For answers: `vital` facts must be in a good answer, `okay` ones may be.
    importance: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier message of a conversation, with the chunks that were retrieved for it if they are known."""

    role: str
    text: str
    contexts: list[Chunk] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A call of a tool on the way to an answer: what was asked of it, what it retrieved, and how long it took."""

    tool: str
    query: str | None = None
    contexts: list[Chunk] | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A reference from a part of the answer to a chunk: its id, or its rank as a number from 1.

    The part is the text from `start` to `end`; without them it is the sentence that ends with or contains `text`.
    """

    chunk: str
    start: int | None = None
    end: int | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class CitedPart:
    """A citation that was read: its place in the answer, the part that it belongs to, and the positions of the cited chunks.

    A source that several chunks share has several. A citation of something that was not retrieved has none.
    """

    start: int
    end: int
    part_start: int
    part_end: int
    chunks: list[int]
    # As it is written in the answer, or as the data names the chunk.
    name: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One checkable statement; a triplet (subject, relation, object) if the extractor returns one."""

    text: str
    triplet: list[str] | None = None


class ScoredVerdict(str):
    """A verdict on a claim: its word and, from the local judge, the numbers behind it.

    It equals its word. It is stored as the word, followed by `supported`, `contradicted` and `counted` if they are known:
    `unsure 0.52 0.03 0.61`. `counted` is the part of a claim that a share counts: the expected value of support.
    """

    __slots__ = ("contradicted", "counted", "supported")
    supported: float | None
    contradicted: float | None
    counted: float | None

    def __new__(
        cls,
        word: str,
        supported: float | None = None,
        contradicted: float | None = None,
        counted: float | None = None,
    ) -> Self:
        """Probabilities are rounded as they are stored, so that stored verdicts give the same scores."""
        verdict = super().__new__(cls, word)
        verdict.supported = _rounded(supported)
        verdict.contradicted = _rounded(contradicted)
        verdict.counted = _rounded(counted)
        return verdict

    def __getnewargs__(self) -> tuple[Any, ...]:
        return str(self), self.supported, self.contradicted, self.counted

    @classmethod
    def from_text(cls, text: str) -> Self:
        """A stored verdict, with or without numbers."""
        if isinstance(text, cls):
            return text
        word, *numbers = text.split(" ")
        return cls(word, *map(float, numbers)) if len(numbers) == _NUMBERS else cls(text)

    def to_text(self) -> str:
        """The verdict as it is stored."""
        if self.supported is None:
            return str(self)
        return f"{self} {self.supported:.4f} {self.contradicted:.4f} {self.counted:.4f}"

    def as_dict(self) -> dict[str, Any]:
        """Word and numbers for JSON."""
        return {
            "verdict": str(self),
            "supported": self.supported,
            "contradicted": self.contradicted,
            "counted": self.counted,
        }


_NUMBERS = 3


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


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
    history: list[Turn] | None = None
    rewritten_question: str | None = None
    steps: list[Step] | None = None
    expected_steps: list[Step] | None = None
    citations: list[Citation] | None = None
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
