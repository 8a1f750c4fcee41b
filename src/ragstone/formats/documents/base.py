"""What a document is: sections of text under headings or on pages."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of text under one heading, or on one page."""

    text: str
    heading: str | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read; remarks say what of it was left out."""

    source: str
    sections: list[Section]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """A document that could not be read, and why."""

    source: str
    reason: str


class UnreadableError(Exception):
    """This document cannot be read; the text says why and what to do. The others go on."""
