"""Reads documents from paths. The kind of a file is detected by its content; unreadable files are reported.

Plain text, Markdown and Word documents are read here; Word tables row by row.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.errors import MissingExtraError, RagstoneError, UsageError
from ragstone.formats.documents.base import Document, DocumentProblem, Section, UnreadableError
from ragstone.formats.documents.html import read_html
from ragstone.formats.documents.pdf import read_pdf
from ragstone.storage.places import Place, open_place

_MOST_GROWTH_BYTES = 64 * 2**20


def read_docx(data: bytes) -> list[Section]:
    """One section per heading."""
    try:
        import docx  # noqa: PLC0415  (only needed for Word documents)
    except ImportError as error:
        raise MissingExtraError("Reading Word documents", "documents") from error
    _check_unpacked(data)
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


def _check_unpacked(data: bytes) -> None:
    """Raise for an archive that unpacks to far more than its size; zipfile never reads beyond the declared sizes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    # Pictures hardly grow. 64 MB of XML are thousands of pages, and need ten times the memory.
    if unpacked > len(data) + _MOST_GROWTH_BYTES:
        raise UnreadableError(
            f"it unpacks from {len(data) / 2**20:,.1f} to {unpacked / 2**20:,.0f} MB, which is too much: split it"
        )


def _is_heading(block: Any) -> bool:
    style = getattr(block, "style", None)
    return hasattr(block, "text") and str(getattr(style, "name", "")).startswith(("Heading", "Title"))


def _lines(block: Any) -> Iterator[str]:
    if hasattr(block, "rows"):
        for row in block.rows:
            yield f"| {' | '.join(' '.join(cell.text.split()) for cell in row.cells)} |"
    elif block.text.strip():
        yield block.text.strip()


def decode(data: bytes) -> str:
    """Decodes a text file: UTF-8, UTF-16 with a byte order mark, otherwise Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise UnreadableError(f"it starts as utf-16 but is not valid: {error.reason}") from error
    if b"\x00" in data[:8192]:
        raise UnreadableError("it is not text and has no supported kind. Supported: txt, md, html, pdf, docx")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def read_text(data: bytes) -> list[Section]:
    """The whole text as one section."""
    return [Section(_with_line_feeds(decode(data)))]


def read_markdown(data: bytes) -> list[Section]:
    """One section per heading, with the source text unchanged so that citations match the file."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  (only needed for Markdown)

    text = _with_line_feeds(decode(data))
    lines = text.split("\n")
    tokens = MarkdownIt("commonmark").parse(text)
    heads = [
        (token.map[0], token.map[1], tokens[index + 1].content.strip())
        for index, token in enumerate(tokens)
        if token.type == "heading_open" and token.map
    ]
    starts = [(0, 0, None), *heads]
    ends = [first for first, _, _ in heads] + [len(lines)]
    return [
        Section("\n".join(lines[body:end]).strip("\n"), heading)
        for (_, body, heading), end in zip(starts, ends, strict=True)
    ]


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


EXTENSIONS = {
    "txt": "text",
    "text": "text",
    "md": "markdown",
    "markdown": "markdown",
    "html": "html",
    "htm": "html",
    "xhtml": "html",
    "pdf": "pdf",
    "docx": "docx",
}
MOST_BYTES = 200 * 2**20
_READERS: dict[str, Callable[[bytes], list[Section]]] = {
    "text": read_text,
    "markdown": read_markdown,
    "html": read_html,
    "docx": read_docx,
}
_TAG = re.compile(rb"<(?:h[1-6]|p|div|section|article|main|table|ul|ol|dl|pre|br|span)\b[^<>]*>", re.IGNORECASE)
_BY_SIGHT = ("pdf", "docx", "html")


@dataclass(frozen=True)
class DocumentSet:
    """Documents that were read, and those that could not be."""

    documents: list[Document]
    problems: list[DocumentProblem]


def read_documents(paths: Sequence[str], most_bytes: int = MOST_BYTES) -> DocumentSet:
    """All documents of files and folders; of a folder, the files with a supported extension."""
    documents: list[Document] = []
    problems: list[DocumentProblem] = []
    for source, place in _files(paths):
        try:
            documents.append(_read(source, place, most_bytes))
        except (UnreadableError, RagstoneError, OSError) as error:
            problems.append(DocumentProblem(source, str(error)))
    return DocumentSet(documents, problems)


def _files(paths: Sequence[str]) -> Iterator[tuple[str, Place]]:
    """Each file once, with its name, or with its path relative to the folder."""
    seen: set[str] = set()
    for path in paths:
        place = open_place(path)
        if not place.exists():
            raise UsageError(f"there is no document {path}")
        found = _below(place, "") if place.is_folder() else iter([(place.name, place)])
        for name, file in found:
            if str(file) not in seen:
                seen.add(str(file))
                yield name, file


def _below(folder: Place, prefix: str) -> Iterator[tuple[str, Place]]:
    for child in sorted(folder.children(), key=lambda place: place.name):
        if child.name.startswith("."):
            continue
        if child.is_folder():
            yield from _below(child, f"{prefix}{child.name}/")
        elif _extension(child.name) in EXTENSIONS:
            yield f"{prefix}{child.name}", child


def _extension(name: str) -> str:
    return name.rpartition(".")[2].lower()


def _read(source: str, place: Place, most_bytes: int) -> Document:
    with place.open_input() as file:
        if (size := file.size()) > most_bytes:
            raise UnreadableError(f"it has {size / 2**20:,.0f} MB, the limit is {most_bytes / 2**20:,.0f} MB: split it")
        data = file.read()
    if not data.strip():
        raise UnreadableError("it is empty")
    said = EXTENSIONS.get(_extension(source))
    fragment = said if said == "html" and _TAG.search(data[:4096]) else None
    kind = _recognise(data) or fragment or (said if said in _READERS and said not in _BY_SIGHT else None)
    if kind is None and said is not None:  # a file without a known extension is read as text
        raise UnreadableError(
            f"its extension means {said}, but its content is not: it may be damaged or have the wrong extension"
        )
    notes = [f"its extension is .{_extension(source)}, it is read as {kind}"] if kind != said else []
    sections, more = read_pdf(data) if kind == "pdf" else (_READERS[kind or "text"](data), [])
    title = next((section.heading for section in sections if section.heading), None)
    sections = [section for section in sections if any(letter.isalnum() for letter in section.text)]
    if not sections:
        raise UnreadableError("it contains no text")
    return Document(source, sections, notes + more, title)


def _recognise(data: bytes) -> str | None:
    """The kind of a file by its first bytes."""
    head = data[:1024].lstrip(b"\xef\xbb\xbf\r\n\t ").lower()
    if b"%pdf-" in head:
        return "pdf"
    if head.startswith(b"pk\x03\x04"):
        return "docx" if _is_docx(data) else None
    return "html" if head.startswith((b"<!doctype html", b"<html")) or b"<body" in head else None


def _is_docx(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "word/document.xml" in archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return False
