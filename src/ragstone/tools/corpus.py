"""A corpus of documents or chunks that claims are looked up in, by words: BM25 with one count per word and passage."""

from __future__ import annotations

import hashlib
import math
import os
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ragstone.data.types import Chunk
from ragstone.errors import UsageError
from ragstone.text.overlap import content_stems

# The usual constants of BM25: how much repeated words and long passages count.
_K1, _B = 1.2, 0.75


class WordCorpus:
    """Passages that share rare words with a text; short passages first where the words are the same."""

    def __init__(self, passages: Sequence[Chunk]) -> None:
        self._passages = list(passages)
        stems = [content_stems(passage.text) for passage in self._passages]
        self._sizes = [len(found) for found in stems]
        self._mean = sum(self._sizes) / max(1, len(stems)) or 1.0
        self._with: defaultdict[str, list[int]] = defaultdict(list)
        for at, found in enumerate(stems):
            for stem in found:
                self._with[stem].append(at)
        digest = hashlib.blake2b(digest_size=6)
        for passage in self._passages:
            digest.update(passage.text.encode(errors="replace") + b"\0")
        # The number goes up when other passages are found.
        self.signature = f"words/1;{len(self._passages)};{digest.hexdigest()}"

    def __len__(self) -> int:
        return len(self._passages)

    def search(self, text: str, most: int) -> list[Chunk]:
        """The nearest passages, best first; fewer than `most` if fewer share a content word with the text."""
        scores: defaultdict[int, float] = defaultdict(float)
        for stem in sorted(content_stems(text)):
            holders = self._with.get(stem, ())
            rarity = math.log1p((len(self) - len(holders) + 0.5) / (len(holders) + 0.5))
            for at in holders:
                scores[at] += rarity * (_K1 + 1) / (1 + _K1 * (1 - _B + _B * self._sizes[at] / self._mean))
        return [self._passages[at] for at in sorted(scores, key=lambda at: (-scores[at], at))[:most]]

    @classmethod
    def open(cls, named: Any) -> Any:
        """The corpus of paths (JSONL files of chunks; other files and folders are documents), or the user's own object."""
        if not named:
            return None
        if hasattr(named, "search"):
            return named
        from ragstone.formats.chunk_files import read_chunks  # noqa: PLC0415  (few runs have a corpus)
        from ragstone.formats.documents.base import make_passages  # noqa: PLC0415
        from ragstone.formats.documents.read import read_documents  # noqa: PLC0415

        paths = [os.fspath(path) for path in ([named] if isinstance(named, str | os.PathLike) else named)]
        files = [path for path in paths if path.endswith(".jsonl")]
        passages = [chunk for path in files for chunk in read_chunks(path)]
        if others := [path for path in paths if path not in files]:
            read = read_documents(others)
            if read.problems:
                problem = read.problems[0]
                raise UsageError(f"--corpus: {problem.source}: {problem.reason}")
            passages += [
                Chunk(passage.text, passage.id, source=passage.source)
                for document in read.documents
                for passage in make_passages(document)
            ]
        if not passages:
            raise UsageError(f"--corpus {paths[0]} contains no text. Name documents, or a JSONL file of chunks.")
        return cls(passages)
