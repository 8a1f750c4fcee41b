"""Finding passages by their words: those that may answer a question, and those that have something in common."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ragstone.formats.documents import Passage
from ragstone.text.names import names
from ragstone.text.overlap import content_words


class Shelf:
    """All passages, with the words and names of each."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = list(passages)
        # A heading often names what its passage only calls "it".
        self._words = [content_words(f"{passage.heading or ''} {passage.text}") for passage in passages]
        self._names = [frozenset(names(f"{passage.heading or ''}. {passage.text}")) for passage in passages]
        # What a heading names is what the passage is about.
        self._subjects = [frozenset(names(passage.heading or "")) for passage in passages]
        self._common = Counter(word for words in self._words for word in words)

    def find(self, question: str, most: int) -> list[Passage]:
        """The passages that share most with a question, rare words above all; none that shares nothing."""
        wanted = content_words(question)
        scores = [sum(self._weight(word) for word in wanted & words) for words in self._words]
        best = sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:most]
        return [self._passages[place] for place in best if scores[place] > 0]

    def partner(self, passage: Passage) -> Passage:
        """The other passage that names most of the same, and then shares most words: these can be compared."""
        own = next(place for place, other in enumerate(self._passages) if other.id == passage.id)

        def alike(place: int) -> tuple[int, float, int]:
            shared, either = self._words[own] & self._words[place], self._words[own] | self._words[place]
            named = len(self._names[own] & self._names[place]) + len(self._subjects[own] & self._subjects[place])
            return named, len(shared) / max(len(either), 1), -place

        return self._passages[max((place for place in range(len(self._passages)) if place != own), key=alike)]

    def _weight(self, word: str) -> float:
        return math.log1p(len(self._passages) / self._common[word])
