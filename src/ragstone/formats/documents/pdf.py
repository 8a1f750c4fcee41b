"""PDF: the text of each page, if the file contains text."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ragstone.errors import MissingExtraError
from ragstone.formats.documents.base import Section, UnreadableError


class Pages(NamedTuple):
    """The pages with text, and notes on the others."""

    sections: list[Section]
    notes: list[str]


def read_pdf(data: bytes) -> Pages:
    """One section per page."""
    try:
        import pypdf  # noqa: PLC0415  (only needed for PDF)
    except ImportError as error:
        raise MissingExtraError("Reading PDF files", "documents") from error
    with _quiet():
        try:
            reader = pypdf.PdfReader(io.BytesIO(data))
            if reader.is_encrypted and not reader.decrypt(""):
                raise UnreadableError("it is locked with a password: save it without one")
            count = len(reader.pages)
        except UnreadableError:
            raise
        except Exception as error:
            raise UnreadableError(f"it cannot be read as PDF: {_words(error)}") from error
        return _read_pages(reader, count)


def _read_pages(reader: object, count: int) -> Pages:
    sections, empty, broken = [], [], []
    for number in range(1, count + 1):
        try:
            text = reader.pages[number - 1].extract_text()  # type: ignore[attr-defined]
        except Exception as error:  # noqa: BLE001
            broken.append(f"page {number}: {_words(error)}")
            continue
        if text.strip():
            sections.append(Section(text.strip("\n"), page=number))
        else:
            empty.append(number)
    if not sections:
        if broken:
            raise UnreadableError(f"its {count:,} pages cannot be read: {broken[0]}")
        pages = "its page contains" if count == 1 else f"its {count:,} pages contain"
        raise UnreadableError(f"{pages} no text, perhaps only pictures: run text recognition (OCR) on the scan first")
    notes = [f"{len(empty):,} of {count:,} pages have no text, the first is page {empty[0]}"] if empty else []
    notes += [f"{len(broken):,} pages cannot be read, the first is {broken[0]}"] if broken else []
    return Pages(sections, notes)


def _words(error: Exception) -> str:
    return (str(error).strip().splitlines() or [""])[0][:200] or type(error).__name__


@contextmanager
def _quiet() -> Iterator[None]:
    """Silences the parser's log; important problems become notes."""
    logger = logging.getLogger("pypdf")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
