"""Text as folded words with their places: what is compared when case, punctuation and white space do not matter."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

_ASCII_WORD = re.compile(r"[a-z0-9]+")
# Scripts that are written without spaces (Thai, Lao, Myanmar, Khmer, Japanese, Chinese): each character, with the marks
# that follow it, counts as a word of its own.
_UNSPACED_RANGE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MARKS = "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
_UNSPACED_PUNCTUATION = "\u0e2f\u0e5a\u0e5b\u3000-\u303f\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_UNSPACED = re.compile(f"[{_UNSPACED_RANGE}]")
_PIECES = re.compile(
    f"(?![{_UNSPACED_PUNCTUATION}])[{_UNSPACED_RANGE}][{_MARKS}]*|[^{_UNSPACED_RANGE}{_UNSPACED_PUNCTUATION}]+"
)


class Span(NamedTuple):
    """From which to which character of the original text, as in `text[start:end]`."""

    start: int
    end: int


class Word(NamedTuple):
    """A folded word and where it stands in the original text."""

    text: str
    start: int
    end: int


class FoldedText:
    """A text as its folded words, ready to be searched."""

    def __init__(self, text: str) -> None:
        self._words = list(words(text))
        # A space on both sides of every word, so that only whole words are found: 9 is not in 19.
        self.folded = f" {' '.join(word.text for word in self._words)} "
        self._starts: list[int] = []
        position = 1
        for word in self._words:
            self._starts.append(position)
            position += len(word.text) + 1

    def __bool__(self) -> bool:
        return bool(self._words)

    def find(self, other: FoldedText) -> list[Span]:
        """The places where the words of the other text stand, in the original characters."""
        spans: list[Span] = []
        if not other:
            return spans
        at = self.folded.find(other.folded)
        while at != -1:
            first = bisect_left(self._starts, at + 1)
            last = first + len(other._words) - 1
            spans.append(Span(self._words[first].start, self._words[last].end))
            at = self.folded.find(other.folded, at + len(other.folded) - 1)
        return spans


def words(text: str) -> Iterator[Word]:
    """The words of a text: letters and digits with their marks, case-folded and in one Unicode form."""
    if text.isascii():
        for match in _ASCII_WORD.finditer(text.lower()):
            yield Word(match[0], match.start(), match.end())
        return
    start = end = 0
    pending = ""
    for cluster_start, cluster_end in _clusters(text):
        cluster = text[cluster_start:cluster_end]
        unspaced = bool(_UNSPACED.match(cluster))
        if pending and (unspaced or not cluster[0].isalnum()):
            yield Word(_fold(pending), start, end)
            pending = ""
        if unspaced and cluster[0].isalnum():
            yield Word(_fold(cluster), cluster_start, cluster_end)
        elif not unspaced and cluster[0].isalnum():
            start = start if pending else cluster_start
            pending, end = pending + cluster, cluster_end
    if pending:
        yield Word(_fold(pending), start, end)


def split_unspaced(word: str) -> list[str]:
    """A word between spaces as the words that it holds, where its script does not write them apart."""
    return _PIECES.findall(word) if _UNSPACED.search(word) else [word]


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Each character together with the combining marks that follow it."""
    start = 0
    for position in range(1, len(text) + 1):
        if position == len(text) or unicodedata.category(text[position])[0] != "M":
            yield start, position
            start = position


def _fold(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded.replace(" ", "")  # a few ligatures unfold to several words; a word stays one word
