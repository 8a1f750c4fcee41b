"""Questions that ask the same as earlier ones: by their words, and by their meaning where a model for it is here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragstone.text.overlap import content_words

if TYPE_CHECKING:
    from ragstone.models.embedders import LocalEmbedder

SAME_WORDS = 0.8
SAME_MEANING = 0.92


class Known:
    """The questions so far."""

    def __init__(self, embedder: LocalEmbedder | None = None) -> None:
        self._embedder = embedder
        self._words: list[frozenset[str]] = []
        self._vectors: list[np.ndarray] = []

    @property
    def signature(self) -> str:
        """How questions are compared."""
        return f"words:{SAME_WORDS:g}" + (f"+minilm:{SAME_MEANING:g}" if self._embedder else "")

    async def add_new(self, questions: Sequence[str]) -> list[bool]:
        """For each question, in order, whether it is new; those that are count from now on."""
        vectors = await self._embedder.embed(questions) if self._embedder and questions else None
        return [self._add(text, None if vectors is None else vectors[place]) for place, text in enumerate(questions)]

    def _add(self, text: str, vector: np.ndarray | None) -> bool:
        found = content_words(text)
        if any(len(found & other) >= SAME_WORDS * len(found | other) for other in self._words):
            return False
        if vector is not None:
            unit = vector / max(float(np.linalg.norm(vector)), 1e-9)
            if any(float(unit @ other) >= SAME_MEANING for other in self._vectors):
                return False
            self._vectors.append(unit)
        self._words.append(found)
        return True


def open_known() -> Known:
    """With the embedding model of this machine, where there is one."""
    from ragstone.models.embedders import LocalEmbedder, find_minilm  # noqa: PLC0415  (reads a model)

    minilm = find_minilm()
    return Known(LocalEmbedder(minilm) if minilm else None)
