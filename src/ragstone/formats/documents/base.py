"""A document: sections of text under headings or on pages, and their passages.

A passage consists of whole sentences up to a number of words, within one section.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone.text.passages import Passages


@dataclass(frozen=True, slots=True)
class Section:
    """The text under one heading, or on one page."""

    text: str
    heading: str | None = None
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read; notes list the parts left out."""

    source: str
    sections: list[Section]
    notes: list[str] = field(default_factory=list)
    # The first heading, also if there is no text under it; None if it is that of a section.
    title: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """A document that could not be read, with the reason."""

    source: str
    reason: str


class UnreadableError(Exception):
    """A document cannot be read; the message has the reason and what to do. Other documents are read."""


MOST_WORDS = 220


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document and its position."""

    id: str
    text: str
    source: str
    heading: str | None = None
    page: int | None = None
    # The first heading of the document.
    title: str | None = None

    @property
    def subject(self) -> str:
        """The topic of the passage: the document's title or, without one, its name, and the heading."""
        parts = (self.title or self.source, self.heading or "")
        return " › ".join(dict.fromkeys(part for part in parts if part))

    @property
    def section(self) -> str:
        """The heading or the page, for display."""
        return self.heading or (f"page {self.page}" if self.page is not None else "(no heading)")


def make_passages(document: Document, most_words: int = MOST_WORDS) -> list[Passage]:
    """The passages of a document, in order."""
    pieces = [
        (section, text) for section in document.sections for text in Passages(section.text, most_words, 0).all() if text
    ]
    title = document.title or next((section.heading for section in document.sections if section.heading), None)
    return [
        Passage(f"{document.source}#{number}", text, document.source, section.heading, section.page, title)
        for number, (section, text) in enumerate(pieces, start=1)
    ]
