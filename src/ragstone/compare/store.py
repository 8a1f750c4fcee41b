"""All chunks and documents of a system, as far as they are given: what tells a lost fact from one that was not retrieved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from ragstone.compare.findings import LOST, MISSING, SPLIT, Cause
from ragstone.data.types import Chunk
from ragstone.text.words import FoldedText


@dataclass(frozen=True)
class Store:
    """The chunks in the order in which the splitter made them, and the documents by name."""

    chunks: Sequence[Chunk] = ()
    documents: Sequence[tuple[str, str]] = ()

    def find(self, fact: str) -> tuple[Cause, str] | None:
        """What became of a fact that was not retrieved; None where chunks and documents do not tell."""
        wanted = FoldedText(fact)
        if not self.chunks or not wanted:
            return None
        for chunk, text in zip(self.chunks, self._folded_chunks, strict=True):
            if wanted.folded in text.folded:
                return MISSING, f"{_named(chunk)} has it and was not retrieved"
        for (first, start), (second, end) in pairwise(zip(self.chunks, self._folded_chunks, strict=True)):
            if first.source == second.source and wanted.folded in start.folded.rstrip() + end.folded:
                return SPLIT, f"it begins in {_named(first)} and ends in {_named(second)}"
        for name, document in self._folded_documents:
            if wanted.folded in document.folded:
                return LOST, f"it stands in {name} and in no chunk"
        return None

    @cached_property
    def _folded_chunks(self) -> list[FoldedText]:
        return [FoldedText(chunk.text) for chunk in self.chunks]

    @cached_property
    def _folded_documents(self) -> list[tuple[str, FoldedText]]:
        return [(name, FoldedText(text)) for name, text in self.documents]


def _named(chunk: Chunk) -> str:
    return f"chunk '{chunk.id}'" if chunk.id else f"a chunk of {chunk.source}" if chunk.source else "a chunk"
