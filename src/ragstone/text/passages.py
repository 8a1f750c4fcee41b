"""Passages of a text that a small model can read: windows of whole sentences; of long texts, those nearest to a claim."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from ragstone.text.overlap import content_stems, content_words
from ragstone.text.sentences import sentences
from ragstone.text.words import Span, words

# Fits with a claim into a model with 384 tokens.
WINDOW = 230
_OVERLAP = 40
# Longer texts are not read as a whole.
_MOST_WINDOWS = 3
_NEAREST_WINDOWS = 2
_NEAREST_SENTENCES = 5
_RULE = re.compile(r"[ \t|]*+\r?\n[ \t]*+\|?[ \t:]*+--")
Words = Callable[[str], Iterable[str]]


class _Sentence(NamedTuple):
    start: int
    end: int
    size: int


class Passages:
    """A text that is split once for any number of claims."""

    def __init__(self, text: str, size: int = WINDOW, overlap: int = _OVERLAP) -> None:
        self.text = text
        self._size = size
        self._sentences = list(_sentences(text, size, overlap))
        self._windows = list(_windows(self._sentences, size, overlap))

    def all(self) -> list[str]:
        """The whole text as windows."""
        return [self._slice(first, last) for first, last in self._windows]

    def nearest(self, claim: str) -> list[str]:
        """The passages to read for a claim: all windows of a short text, else the five nearest sentences and the nearest windows."""
        if len(self._windows) <= _MOST_WINDOWS:
            return self.all()
        weights = self._weights(claim, content_words, self._sentences_with)
        if not weights:
            return []
        chosen = self._nearest_windows(weights)
        return list(dict.fromkeys([self.nearest_sentences(claim), *(self._slice(*window) for window in chosen)]))

    def nearest_sentences(self, claim: str, most: int = _NEAREST_SENTENCES) -> str:
        """The sentences that share most with the claim, in text order; empty if none does."""
        chosen: list[int] = []
        room = self._size
        for index in self._ranked(claim, content_words, self._sentences_with)[:most]:
            room -= self._sentences[index].size
            if room < 0 and chosen:
                break
            chosen.append(index)
        return " ".join(self._slice(index, index) for index in sorted(chosen))

    def share_of_words(self, claim: str) -> float:
        """The share of the claim's content words and numbers that the text has, in any inflection."""
        wanted = content_stems(claim)
        return sum(stem in self._stems for stem in wanted) / len(wanted) if wanted else 0.0

    def around(self, claim: str, most: int) -> str:
        """The whole text if it is short, else the sentences nearest to the claim with their neighbours, at most `most` words.

        An item comes with the heading of its list. The beginning of the text if no sentence shares a word with the claim.
        """
        if sum(sentence.size for sentence in self._sentences) <= most:
            return self.text.strip()
        ranked = self._ranked(claim, content_stems, self._stems) or list(range(len(self._sentences)))
        chosen: set[int] = set()
        room = most
        heads = [head for index in ranked[:2] if (head := self._head_of(index)) is not None]
        near = [ranked[:2], heads, *([index - 1, index + 1] for index in ranked[:2]), ranked[2:]]
        for index in (index for group in near for index in group):
            if 0 <= index < len(self._sentences) and index not in chosen:
                size = self._sentences[index].size
                if size <= room or not chosen:
                    chosen.add(index)
                    room -= size
        return " ".join(self._slice(index, index) for index in sorted(chosen))

    def _head_of(self, index: int) -> int | None:
        """The heading of the list or table that a sentence is an item of, see text/layout.py."""
        for at in range(index - 1, -1, -1):
            line = self._slice(at, at)
            if line.endswith(":"):
                return at
            if ";" not in line:
                break
        return None

    def nearest_span(self, claim: str, evidence: bool = False) -> tuple[Span, float] | None:
        """The sentence that shares most with the claim, and the share of the claim's words in it; None if it shares none.

        `evidence`: a caption or the head of a table only if nothing else shares a word: rows have the values.
        """
        ranked = self._ranked(claim, content_stems, self._stems)
        if not ranked:
            return None
        best = next((at for at in ranked if not (evidence and self._is_head(at))), ranked[0])
        sentence, wanted = self._sentences[best], content_stems(claim)
        return Span(sentence.start, sentence.end), len(wanted & set(content_stems(self._slice(best, best)))) / len(
            wanted
        )

    def _is_head(self, index: int) -> bool:
        line, end = self._slice(index, index), self._sentences[index].end
        is_first = line.startswith("|") and not (index and self._slice(index - 1, index - 1).startswith("|"))
        return line.endswith(":") or is_first or is_table_head(line, self.text[end : end + 40])

    def _ranked(self, claim: str, words_of: Words, index: Mapping[str, list[int]]) -> list[int]:
        """The sentences that share a word with the claim, nearest first."""
        scores: defaultdict[int, float] = defaultdict(float)
        for word, weight in self._weights(claim, words_of, index).items():
            for sentence in index[word]:
                scores[sentence] += weight
        return sorted(scores, key=lambda sentence: (-scores[sentence], sentence))

    @cached_property
    def _stems(self) -> dict[str, list[int]]:
        return self._index(content_stems)

    def _nearest_windows(self, weights: dict[str, float]) -> Iterable[tuple[int, int]]:
        scores: defaultdict[tuple[int, int], float] = defaultdict(float)
        for word, weight in weights.items():
            for window in {window for index in self._sentences_with[word] for window in self._windows_of[index]}:
                scores[window] += weight
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:_NEAREST_WINDOWS]
        return sorted(window for window, _ in best)

    def _weights(self, claim: str, words_of: Words, index: Mapping[str, list[int]]) -> dict[str, float]:
        """The claim's words that occur in the text; rarer words weigh more."""
        count = len(self._sentences)
        return {word: math.log1p(count / len(index[word])) for word in sorted(words_of(claim)) if word in index}

    def _slice(self, first: int, last: int) -> str:
        return self.text[self._sentences[first].start : self._sentences[last].end]

    @cached_property
    def _sentences_with(self) -> dict[str, list[int]]:
        return self._index(content_words)

    def _index(self, words_of: Words) -> dict[str, list[int]]:
        """The sentences that contain each word."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for index in range(len(self._sentences)):
            for word in words_of(self._slice(index, index)):
                found[word].append(index)
        return dict(found)

    @cached_property
    def _windows_of(self) -> dict[int, list[tuple[int, int]]]:
        windows_of: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for window in self._windows:
            for index in range(window[0], window[1] + 1):
                windows_of[index].append(window)
        return windows_of


def is_table_head(line: str, following: str) -> bool:
    """Whether a line is the head of a table in Markdown or HTML."""
    return "<th" in line or ("|" in line and _RULE.match(following) is not None)


def _sentences(text: str, size: int, overlap: int) -> Iterator[_Sentence]:
    """The sentences; one that is longer than a window (a table, a log, a text without stops) in parts."""
    for span in sentences(text):
        spans = [Span(span.start + word.start, span.start + word.end) for word in words(text[span.start : span.end])]
        if len(spans) <= size:
            yield _Sentence(span.start, span.end, len(spans))
            continue
        for at in range(0, len(spans), size - overlap):
            part = spans[at : at + size]
            yield _Sentence(part[0].start, part[-1].end, len(part))
            if at + size >= len(spans):
                break


def _windows(parts: list[_Sentence], most: int, overlap: int) -> Iterator[tuple[int, int]]:
    """First and last sentence of each window; neighbours overlap, so that adjacent content is in one window at least once."""
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
