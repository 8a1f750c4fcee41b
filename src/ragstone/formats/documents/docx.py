"""Word documents: paragraphs under their headings, tables row by row."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from ragstone.errors import MissingExtraError
from ragstone.formats.documents.base import Section, UnreadableError


def read_docx(data: bytes) -> list[Section]:
    """A section a heading."""
    try:
        import docx  # noqa: PLC0415  (only who reads Word documents)
    except ImportError as error:
        raise MissingExtraError("Reading Word documents", "documents") from error
    try:
        blocks: list[Any] = list(docx.Document(io.BytesIO(data)).iter_inner_content())
    except Exception as error:
        raise UnreadableError(f"it cannot be read as a Word document: {error}") from error
    sections: list[tuple[str | None, list[str]]] = [(None, [])]
    for block in blocks:
        if _is_heading(block) and block.text.strip():
            sections.append((block.text.strip(), []))
        else:
            sections[-1][1].extend(_lines(block))
    return [Section("\n".join(lines), heading) for heading, lines in sections]


def _is_heading(block: Any) -> bool:
    style = getattr(block, "style", None)
    return hasattr(block, "text") and str(getattr(style, "name", "")).startswith(("Heading", "Title"))


def _lines(block: Any) -> Iterator[str]:
    if hasattr(block, "rows"):
        for row in block.rows:
            yield f"| {' | '.join(' '.join(cell.text.split()) for cell in row.cells)} |"
    elif block.text.strip():
        yield block.text.strip()
