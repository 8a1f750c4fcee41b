"""A text in passages that a small model can read: windows of whole sentences, and in long texts those nearest to a claim."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from ragstone.text.overlap import content_words
from ragstone.text.sentences import sentences
from ragstone.text.words import Span, words

# What a model that reads 384 pieces of words can take beside a claim.
WINDOW = 230
_OVERLAP = 40
# A text of more windows is not read as a whole.
_MOST_WINDOWS = 3
_NEAREST_WINDOWS = 2
_NEAREST_SENTENCES = 5
_CLOSEST = 2


class _Sentence(NamedTuple):
    start: int
    end: int
    size: int


class Passages:
    """A text taken apart once, whatever the number of claims that are held against it."""

    def __init__(self, text: str, size: int = WINDOW, overlap: int = _OVERLAP) -> None:
        self.text = text
        self._size = size
        self._sentences = list(_sentences(text, size, overlap))
        self._windows = list(_windows(self._sentences, size, overlap))

    def all(self) -> list[str]:
        """The whole text, window by window."""
        return [self._slice(first, last) for first, last in self._windows]

    def nearest(self, claim: str) -> list[str]:
        """What to read for a claim: all windows of a short text; of a long one the five nearest sentences and the nearest windows."""
        if len(self._windows) <= _MOST_WINDOWS:
            return self.all()
        weights = self._weights(claim)
        if not weights:
            return []
        chosen = self._nearest_windows(weights)
        return list(dict.fromkeys([self.nearest_sentences(claim), *(self._slice(*window) for window in chosen)]))

    def nearest_closely(self, claim: str) -> list[str]:
        """The same and the two nearest sentences by themselves, where there are more.

        A small model overlooks what stands in the middle of other things: with these two the best passage tells supported claims
        from others with an AUC of .908 in place of .897, on validation data of several sentences.
        """
        passages = self.nearest(claim)
        if len(self._sentences) > _CLOSEST and (closest := self.nearest_sentences(claim, _CLOSEST)):
            passages.append(closest)
        return passages

    def nearest_sentences(self, claim: str, most: int = _NEAREST_SENTENCES) -> str:
        """The sentences that share most with the claim, in the order of the text; nothing if none does."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word, weight in self._weights(claim).items():
            for place in self._places[word]:
                scores[place] += weight
        chosen: list[int] = []
        room = self._size
        for place, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:most]:
            room -= self._sentences[place].size
            if room < 0 and chosen:
                break
            chosen.append(place)
        return " ".join(self._slice(place, place) for place in sorted(chosen))

    def _nearest_windows(self, weights: dict[str, float]) -> Iterable[tuple[int, int]]:
        scores: defaultdict[tuple[int, int], float] = defaultdict(float)
        for word, weight in weights.items():
            for window in {window for place in self._places[word] for window in self._windows_of[place]}:
                scores[window] += weight
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:_NEAREST_WINDOWS]
        return sorted(window for window, _ in best)

    def _weights(self, claim: str) -> dict[str, float]:
        """The claim's words that the text has, the rarer the heavier."""
        count = len(self._sentences)
        return {
            word: math.log1p(count / len(self._places[word]))
            for word in sorted(content_words(claim))
            if word in self._places
        }

    def _slice(self, first: int, last: int) -> str:
        return self.text[self._sentences[first].start : self._sentences[last].end]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """In which sentences each word stands."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for place, sentence in enumerate(self._sentences):
            for word in content_words(self.text[sentence.start : sentence.end]):
                found[word].append(place)
        return dict(found)

    @cached_property
    def _windows_of(self) -> dict[int, list[tuple[int, int]]]:
        found: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for window in self._windows:
            for place in range(window[0], window[1] + 1):
                found[place].append(window)
        return found


def _sentences(text: str, size: int, overlap: int) -> Iterator[_Sentence]:
    """The sentences; one that is longer than a window (a table, a log, a text without stops) in parts."""
    for span in sentences(text):
        found = [Span(span.start + word.start, span.start + word.end) for word in words(text[span.start : span.end])]
        if len(found) <= size:
            yield _Sentence(span.start, span.end, len(found))
            continue
        for at in range(0, len(found), size - overlap):
            part = found[at : at + size]
            yield _Sentence(part[0].start, part[-1].end, len(part))
            if at + size >= len(found):
                break


def _windows(parts: list[_Sentence], most: int, overlap: int) -> Iterator[tuple[int, int]]:
    """From which to which sentence; neighbours share their ends, so that what belongs together stands together once."""
    first = 0
    while first < len(parts):
        last, size = first, parts[first].size
        while last + 1 < len(parts) and size + parts[last + 1].size <= most:
            last += 1
            size += parts[last].size
        yield first, last
        if last + 1 == len(parts):
            return
        room = min(overlap, most - parts[last + 1].size)
        following = last + 1
        while following - 1 > first and parts[following - 1].size <= room:
            following -= 1
            room -= parts[following].size
        first = following
