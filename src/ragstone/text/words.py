"""Text as folded words with their places: what is compared when case, punctuation and white space do not matter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_ASCII_FOLD = bytes(ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 32 for code in range(256))
# Scripts that are written without spaces (Thai, Lao, Myanmar, Khmer, Japanese, Chinese): each character, with the marks
# that follow it, counts as a word of its own.
_UNSPACED_RANGE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
_MARKS = "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u17b4-\u17d3\u3099\u309a\uff9e\uff9f"
_EMOJI_RANGE = "\u2600-\u27bf\U0001f000-\U0001faff"
# Belong to the letter before them like a combining mark: the soft hyphen, and the voice marks of half-width kana.
_JOINED = "\u00ad\uff9e\uff9f"
_UNSPACED_PUNCTUATION = "\u0e2f\u0e5a\u0e5b\u3000-\u303f\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_UNSPACED = re.compile(f"[{_UNSPACED_RANGE}]")
_EMOJI = re.compile(f"[{_EMOJI_RANGE}]")
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
    """A text as its folded words, ready to be searched. Places are worked out only when something is found."""

    def __init__(self, text: str) -> None:
        self._text = text
        # The same length as the text: letters and digits in lower case, all else spaces.
        self._spaced = text.encode().translate(_ASCII_FOLD).decode() if text.isascii() else None
        if self._spaced is None:
            self.folded = f" {' '.join([word.text for word in words(text)])} "
        else:
            # A space on both sides of every word, so that only whole words are found: 9 is not in 19.
            self.folded = f" {_single_spaces(self._spaced).strip()} "

    def __bool__(self) -> bool:
        return self.folded != "  "

    def find(self, other: FoldedText) -> list[Span]:
        """The places where the words of the other text stand, in the original characters."""
        spans: list[Span] = []
        at = self.folded.find(other.folded) if other else -1
        while at != -1:
            end = at + len(other.folded) - 1
            spans.append(self.original(at + 1, end))
            at = self.folded.find(other.folded, end)
        return spans

    def original(self, start: int, end: int) -> Span:
        """The original characters of the words that lie between two places of the folded text."""
        first = self.folded.count(" ", 0, start) - 1
        last = self.folded.count(" ", 0, end) - 1
        if self._spaced is None:
            return Span(self._places[first].start, self._places[last].end)
        rest = self._spaced.split(None, first)[first]
        after = rest.split(None, last - first + 1)[last - first + 1 :]
        found = rest[: len(rest) - len(after[0])] if after else rest
        begin = len(self._spaced) - len(rest)
        return Span(begin, begin + len(found.rstrip()))

    @cached_property
    def _places(self) -> list[Span]:
        return [Span(word.start, word.end) for word in words(self._text)]


def words(text: str) -> Iterator[Word]:
    """The words of a text: letters and digits with their marks, case-folded and in one Unicode form."""
    if text.isascii():
        for match in _ASCII_WORD.finditer(text.lower()):
            yield Word(match[0], match.start(), match.end())
    else:
        for match in _word_pattern().finditer(text):
            yield Word(fold(match[0]), match.start(), match.end())


def _single_spaces(text: str) -> str:
    """Runs of spaces as one; a few replacements are quicker than taking the words apart."""
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def split_unspaced(word: str) -> list[str]:
    """A word between spaces as the words that it holds, where its script does not write them apart."""
    return _PIECES.findall(word) if _UNSPACED.search(word) else [word]


@cache
def _word_pattern() -> re.Pattern[str]:
    """A letter or digit with its combining marks; a run of them where the script has spaces between words."""
    marks = "".join(re.escape(mark) for mark in map(chr, range(0x300, 0x20000)) if unicodedata.category(mark)[0] == "M")
    marks += _JOINED
    alone = f"(?=[{_UNSPACED_RANGE}])(?![{_JOINED}])[^\\W_][{marks}]*"
    in_run = f"(?![{_UNSPACED_RANGE}])[^\\W_][{marks}]*"
    return re.compile(f"{alone}|(?:{in_run})+|[{_EMOJI_RANGE}][{marks}]*")


def is_mark(character: str) -> bool:
    """Whether a character belongs to the one before it."""
    return character in _JOINED or unicodedata.category(character)[0] == "M"


def stands_alone(character: str) -> bool:
    """Whether a character is a word of its own: a letter of a script without spaces, or an emoji."""
    return bool(_EMOJI.match(character)) or (character.isalnum() and bool(_UNSPACED.match(character)))


# Words repeat; taking one apart is what costs.
@lru_cache(maxsize=1 << 16)
def fold(text: str) -> str:
    """A word in the one form in which it is compared."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    # The Turkish capital İ folds to an i with a second dot; soft hyphens are no letters; a few ligatures unfold to
    # several words, and a word stays one word.
    return folded.replace("i\u0307", "i").replace("\u00ad", "").replace(" ", "")
