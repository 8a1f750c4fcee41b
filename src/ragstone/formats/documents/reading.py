"""From paths to documents: what a file is, is seen by its content; what cannot be read is reported, and the rest goes on."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ragstone.errors import RagstoneError, UsageError
from ragstone.formats.documents.base import Document, DocumentProblem, Section, UnreadableError
from ragstone.formats.documents.docx import read_docx
from ragstone.formats.documents.html import read_html
from ragstone.formats.documents.pdf import read_pdf
from ragstone.formats.documents.plain import read_markdown, read_text
from ragstone.storage.places import Place, open_place

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
_BY_SIGHT = ("pdf", "docx", "html")


@dataclass(frozen=True)
class DocumentSet:
    """Documents that were read, and those that could not be."""

    documents: list[Document]
    problems: list[DocumentProblem]


def read_documents(paths: Sequence[str], most_bytes: int = MOST_BYTES) -> DocumentSet:
    """All documents of files and folders; of a folder those files whose extension says that they can be read."""
    documents: list[Document] = []
    problems: list[DocumentProblem] = []
    for source, place in _files(paths):
        try:
            documents.append(_read(source, place, most_bytes))
        except (UnreadableError, RagstoneError, OSError) as error:
            problems.append(DocumentProblem(source, str(error)))
    return DocumentSet(documents, problems)


def _files(paths: Sequence[str]) -> Iterator[tuple[str, Place]]:
    """Each file once, with the name that it goes by: within a folder its path from there."""
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
            raise UnreadableError(
                f"it has {size / 2**20:,.0f} MB, and at most {most_bytes / 2**20:,.0f} MB are read: split it"
            )
        data = file.read()
    if not data.strip():
        raise UnreadableError("it is empty")
    said = EXTENSIONS.get(_extension(source))
    kind = _recognise(data) or (said if said in _READERS and said not in _BY_SIGHT else None)
    if kind is None:
        _refuse(said)
    notes = [f"it is named .{_extension(source)}, and read as {kind}"] if kind != said else []
    sections, more = _sections(kind or "text", data)
    sections = [section for section in sections if any(letter.isalnum() for letter in section.text)]
    if not sections:
        raise UnreadableError("it holds no text")
    return Document(source, sections, notes + more)


def _refuse(said: str | None) -> None:
    """Complain of a file that is not what its name says; one without a telling name is taken for text."""
    if said is not None:
        raise UnreadableError(f"it is named as {said}, and is none: it may be broken, or have the wrong extension")


def _sections(kind: str, data: bytes) -> tuple[list[Section], list[str]]:
    if kind == "pdf":
        pages = read_pdf(data)
        return pages.sections, pages.notes
    return _READERS[kind](data), []


def _recognise(data: bytes) -> str | None:
    """What a file is by its first bytes, whatever it is called."""
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
