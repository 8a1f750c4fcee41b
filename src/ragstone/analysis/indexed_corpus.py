"""The chunks and documents of a system: they separate lost facts from facts that were not retrieved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from ragstone.analysis.cause_names import LOST, MISSING, SPLIT, Cause
from ragstone.data.types import Chunk
from ragstone.errors import StorageError
from ragstone.formats.chunk_files import read_chunks
from ragstone.storage.places import Place, open_place
from ragstone.text.words import FoldedText


@dataclass(frozen=True)
class Store:
    """The chunks in the order in which the splitter made them, and the documents by name."""

    chunks: Sequence[Chunk] = ()
    documents: Sequence[tuple[str, str]] = ()

    def find(self, fact: str) -> tuple[Cause, str] | None:
        """The cause for a fact that was not retrieved; None if chunks and documents do not show it."""
        wanted = FoldedText(fact)
        if not self.chunks or not wanted:
            return None
        for chunk, text in zip(self.chunks, self._folded_chunks, strict=True):
            if wanted.folded in text.folded:
                return MISSING, f"{_named(chunk)} contains it and was not retrieved"
        for (first, start), (second, end) in pairwise(zip(self.chunks, self._folded_chunks, strict=True)):
            if first.source == second.source and wanted.folded in start.folded.rstrip() + end.folded:
                return SPLIT, f"it begins in {_named(first)} and ends in {_named(second)}"
        for name, document in self._folded_documents:
            if wanted.folded in document.folded:
                return LOST, f"it is in {name} and in no chunk"
        return None

    @cached_property
    def _folded_chunks(self) -> list[FoldedText]:
        return [FoldedText(chunk.text) for chunk in self.chunks]

    @cached_property
    def _folded_documents(self) -> list[tuple[str, FoldedText]]:
        return [(name, FoldedText(text)) for name, text in self.documents]


def open_store(chunks: str, documents: Sequence[str]) -> Store:
    """Read a file of chunks and folders of documents."""
    return Store(read_chunks(chunks), tuple(text for path in documents for text in read_documents(path)))


def read_documents(path: str) -> list[tuple[str, str]]:
    """The text files of a folder and its subfolders, with their names."""
    found = [(place.name, place.read_bytes().decode("utf-8", errors="replace")) for place in _files(open_place(path))]
    if not found:
        raise StorageError(f"{path} contains no documents. Name a folder of text files.")
    return found


def _files(place: Place) -> Iterator[Place]:
    for child in place.children():
        if child.is_folder():
            yield from _files(child)
        else:
            yield child


def _named(chunk: Chunk) -> str:
    return f"chunk '{chunk.id}'" if chunk.id else f"a chunk of {chunk.source}" if chunk.source else "a chunk"
