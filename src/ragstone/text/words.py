"""Text as folded words with their positions, for comparisons that ignore case, punctuation and white space."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import AnyStr, NamedTuple

from ragstone.text.lexicon import late_pattern

_ASCII_WORD = late_pattern(r"[a-zA-Z0-9]+")
ASCII_FOLD = bytes(ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 32 for code in range(256))
# Scripts that are written without spaces (Thai, Lao, Myanmar, Khmer, Japanese, Chinese): each character with its
# marks counts as a word.
_UNSPACED_RANGE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_MARKS = "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3\u3099\u309a\uff9e\uff9f"
_EMOJI_RANGE = "\u2600-\u27bf\U0001f000-\U0001faff"
# Attached to the letter before them like a combining mark: the soft hyphen, and the voice marks of half-width kana.
_JOINED = "\u00ad\uff9e\uff9f"
# Variation selectors, the only marks beyond U+20000.
_SELECTORS = "\U000e0100-\U000e01ef"
_UNSPACED_PUNCTUATION = "\u0e2f\u0e5a\u0e5b\u3000-\u303f\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_UNSPACED = late_pattern(f"[{_UNSPACED_RANGE}]")
_PIECES = late_pattern(
    f"(?![{_UNSPACED_PUNCTUATION}])[{_UNSPACED_RANGE}][{_MARKS}]*|[^{_UNSPACED_RANGE}{_UNSPACED_PUNCTUATION}]+"
)


class Span(NamedTuple):
    """Start and end in the original text, as in `text[start:end]`."""

    start: int
    end: int


class Word(NamedTuple):
    """A folded word and its position in the original text."""

    text: str
    start: int
    end: int


class FoldedText:
    """A text as folded words, ready for search. Positions are computed only if something is found.

    `folded` is passed if many texts were folded at once.
    """

    # Without a dictionary per object they need half the memory.
    __slots__ = ("_asked", "_spans", "folded", "text")

    def __init__(self, text: str, folded: str | None = None) -> None:
        self.text = text
        self._spans: Sequence[Span] = ()
        self._asked = False
        # A space on both sides of every word, so that only whole words match: 9 is not in 19.
        if folded is None and text.isascii():
            folded = f" {_single_spaces(text.encode().translate(ASCII_FOLD)).strip().decode()} "
        self.folded = f" {' '.join(word_texts(text))} " if folded is None else folded

    def __bool__(self) -> bool:
        return self.folded != "  "

    def find(self, other: FoldedText) -> list[Span]:
        """The spans of the original text that contain the words of the other text."""
        spans: list[Span] = []
        size, number, before = other.folded.count(" ") - 1, -1, 0
        at = self.folded.find(other.folded) if other else -1
        while at != -1:
            number += self.folded.count(" ", before, at + 1)
            before = at + 1
            spans.append(self._span(number, number + size - 1))
            at = self.folded.find(other.folded, at + len(other.folded) - 1)
        return spans

    def original(self, start: int, end: int) -> Span:
        """The original span of the words between two positions of the folded text."""
        first = self.folded.count(" ", 0, start) - 1
        return self._span(first, first + self.folded.count(" ", start, end))

    def _span(self, first: int, last: int) -> Span:
        """From the start of one word to the end of another; the second call computes all positions."""
        if self._asked:
            pattern = _ASCII_WORD if self.text.isascii() else _word_pattern()
            self._spans = self._spans or [Span(*match.span()) for match in pattern.finditer(self.text)]
            return Span(self._spans[first].start, self._spans[last].end)
        self._asked = True
        if not self.text.isascii():
            return self._unicode_span(first, last)
        return span_of_words(self.text.encode().translate(ASCII_FOLD), first, last)

    def _unicode_span(self, first: int, last: int) -> Span:
        matches = list(islice(_word_pattern().finditer(self.text), first, last + 1))
        return Span(matches[0].start(), matches[-1].end())


def span_of_words(spaced: AnyStr, first: int, last: int) -> Span:
    """From the start of one word to the end of another, in a text with only spaces between words."""
    rest = spaced.split(None, first)[first]
    after = rest.split(None, last - first + 1)[last - first + 1 :]
    words = rest[: len(rest) - len(after[0])] if after else rest
    begin = len(spaced) - len(rest)
    return Span(begin, begin + len(words.rstrip()))


def words(text: str) -> Iterator[Word]:
    """The words of a text: letters and digits with their marks, case-folded and in one Unicode form."""
    if text.isascii():
        for match in _ASCII_WORD.finditer(text.lower()):
            yield Word(match[0], match.start(), match.end())
    else:
        for match in _word_pattern().finditer(text):
            yield Word(fold(match[0]), match.start(), match.end())


def word_texts(text: str) -> list[str]:
    """The words without their positions."""
    return _ASCII_WORD.findall(text.lower()) if text.isascii() else [word.text for word in words(text)]


def _single_spaces(text: bytes) -> bytes:
    """Collapse runs of spaces; a few replacements are faster than splitting."""
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    return text


def split_unspaced(word: str) -> list[str]:
    """Split a word of a script that is written without spaces."""
    return _PIECES.findall(word) if _UNSPACED.search(word) else [word]


@cache
def _word_pattern() -> re.Pattern[str]:
    """A letter or digit with its combining marks; a run of them if the script has spaces between words.

    A run is matched without looking for marks at each letter first, because that is slow.
    """
    marks = _ranges([code for code in range(0x300, 0x20000) if unicodedata.category(chr(code))[0] == "M"])
    marks += _JOINED + _SELECTORS
    alone = f"(?=[{_UNSPACED_RANGE}])(?![{_JOINED}])[^\\W_][{marks}]*"
    spaced = f"[^\\W_{_UNSPACED_RANGE}]"
    return re.compile(f"{spaced}+(?:[{marks}]+{spaced}*)*|{alone}|[{_EMOJI_RANGE}][{marks}]*")


def _ranges(codes: Sequence[int]) -> str:
    """Characters for a pattern's brackets, with consecutive ones as a range."""
    runs: list[list[int]] = []
    for code in codes:
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in runs)


# Cached, because words repeat and folding is slow.
@lru_cache(maxsize=1 << 16)
def fold(text: str) -> str:
    """The form in which a word is compared."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    # The Turkish capital İ folds to an i with a second dot. Soft hyphens are not letters. A few ligatures unfold to
    # several words, but a word stays one word.
    return folded.replace("i\u0307", "i").replace("\u00ad", "").replace(" ", "")
