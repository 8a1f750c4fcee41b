"""The types of an evaluation as plain Python values: one row."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

Status = Literal["ok", "skipped", "failed"]
AnyColumn = TypeVar("AnyColumn")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrieved text. A chunk that has an id, a source or an image and an empty text is one whose text is unknown."""

    text: str = ""
    id: str | None = None
    score: float | None = None
    source: str | None = None
    # The path, the address or the data URI of an image, and the number or label of the page in the source.
    image: str | None = None
    page: str | None = None

    @property
    def unknown(self) -> str:
        """The words to show in place of a text that is unknown; empty if it is known."""
        if self.text or (self.id is None and self.source is None and self.image is None):
            return ""
        return f"text unknown ({'image' if self.image or is_image(self.source or '') else 'id only'})"

    @property
    def shown(self) -> str:
        """The text for people; what is known of it if it is unknown."""
        return self.text or self.unknown

    @property
    def label(self) -> str:
        """The source with its page, as a citation names it: `report.pdf, p. 12`."""
        return ", ".join(filter(None, (self.source, f"p. {self.page}" if self.page else "")))


_IMAGE = re.compile(
    r"data:image/.*|(?:\S+|(?:[./~\\]|[a-zA-Z]:[/\\]|\w+://).*)\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg|heic|avif)(?:[?#]\S*)?",
    re.IGNORECASE,
)
_LONGEST_PATH = 2_000


def is_image(text: str) -> bool:
    """Whether a text is nothing but the path, the address or the data of an image."""
    return (len(text) <= _LONGEST_PATH or text.startswith("data:")) and _IMAGE.fullmatch(text.strip()) is not None


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
    """A tool call on the way to an answer: its query, what it retrieved, and how long it took."""

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
    """One checkable statement; a triplet (subject, relation, object) if the extractor returns one.

    `words`: the words that it takes from the text, by which shares weigh claims of unequal length; None if they count equally.
    """

    text: str
    triplet: list[str] | None = None
    words: int | None = None


@dataclass(frozen=True, slots=True)
class Grade:
    """A grade on its scale; its expected value if the judge's probabilities are known; its reasoning if given."""

    value: float
    lowest: float
    highest: float
    expected: float | None = None
    reasoning: str | None = None


@dataclass(frozen=True, slots=True)
class CheckedItem:
    """An item of a checklist with its verdict: `yes`, `no` or `not_applicable`; the reason if one was asked for."""

    item: str
    verdict: str
    reason: str | None = None


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
