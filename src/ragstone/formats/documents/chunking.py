"""Sections as passages: whole sentences up to a number of words, never across a heading or a page."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.formats.documents.base import Document
from ragstone.text.passages import Passages

MOST_WORDS = 220


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document with where it stands."""

    id: str
    text: str
    source: str
    heading: str | None = None
    page: int | None = None

    @property
    def section(self) -> str:
        """The heading or the page, as people name it."""
        return self.heading or (f"page {self.page}" if self.page is not None else "(no heading)")


def make_passages(document: Document, most_words: int = MOST_WORDS) -> list[Passage]:
    """The passages of a document in its order."""
    pieces = [
        (section, text) for section in document.sections for text in Passages(section.text, most_words, 0).all() if text
    ]
    return [
        Passage(f"{document.source}#{number}", text, document.source, section.heading, section.page)
        for number, (section, text) in enumerate(pieces, start=1)
    ]
