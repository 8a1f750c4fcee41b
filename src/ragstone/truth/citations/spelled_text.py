"""Texts as words that match across spellings: hyphenated at the end of a line, or misread by a scanner.

Only known scanner confusions count. Any other different letter may make another word, often the opposite one: million
and billion, hypertension and hypotension, or wurden and würden differ in one or two letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import product

from ragstone.text.sentences import sentences
from ragstone.text.words import Word, words

_TORN = re.compile(r"[-‐‑¬\u00ad]\s+|\u00ad")
_FOOTNOTE = re.compile(r"\[\s?(?:\d{1,3}|[a-z])\s?\]")
# Characters that a scanner confuses within a word; digits only between letters, not in numbers.
_GLYPHS = (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("1", "i"), ("5", "s"), ("cl", "d"), ("ii", "u"))
_LEAST_LETTERS = 6
_DIGIT_INSIDE = re.compile(r"(?<=[^\W\d_])[015](?=[^\W\d_])")
_MOST_CONFUSED = 3


class Spelled:
    """A text as words with their positions and the gaps between them. Invisible characters are removed."""

    def __init__(self, text: str, footnotes: bool = True) -> None:
        self.text = text
        self._kept = _seen(text, footnotes)
        self.shown = text if len(self._kept) == len(text) else "".join(text[place] for place in self._kept)
        self.words: list[Word] = list(words(self.shown))

    def __bool__(self) -> bool:
        return bool(self.words)

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Converts a span of the shown text to a span of the original text."""
        return self._kept[start], self._kept[end - 1] + 1

    def gap(self, number: int) -> str:
        """The text between a word and the word before it; the last gap is the text after all words."""
        start = self.words[number - 1].end if number else 0
        end = self.words[number].start if number < len(self.words) else len(self.shown)
        return self.shown[start:end]

    def raw(self, number: int) -> str:
        """A word as it is written."""
        return self.shown[self.words[number].start : self.words[number].end]

    def is_torn(self, number: int) -> bool:
        """Whether the gap before a word is a hyphen at the end of a line, or a soft hyphen."""
        return bool(_TORN.fullmatch(self.gap(number)))

    def initials(self, number: int) -> str:
        """The letters of an abbreviation with stops that starts here, as in U.S.A.; empty if there is none."""
        letters = ""
        while number + len(letters) < len(self.words):
            raw = self.raw(number + len(letters))
            if len(raw) != 1 or not raw.isupper() or (letters and self.gap(number + len(letters)) != "."):
                break
            letters += raw
        return letters if len(letters) > 1 else ""

    @cached_property
    def sentence_starts(self) -> frozenset[int]:
        """The words that begin a sentence, except the first sentence."""
        begins = [span.start for span in sentences(self.shown)][1:]
        found, place = set(), 0
        for number, word in enumerate(self.words):
            if place < len(begins) and word.start >= begins[place]:
                found.add(number)
                while place < len(begins) and word.start >= begins[place]:
                    place += 1
        return frozenset(found)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The positions of each word."""
        found: dict[str, list[int]] = {}
        for number, word in enumerate(self.words):
            found.setdefault(word.text, []).append(number)
        return found

    @cached_property
    def _outlines(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self.places:
            if len(word) >= _LEAST_LETTERS:
                found.setdefault(_outline(word), []).append(word)
        return found

    def beginnings(self, cited: Spelled) -> list[int]:
        """Where a citation may begin: at its first word, a part of it, or a misread form of it."""
        first = cited.words[0].text
        words = {first[:size] for size in range(1, len(first) + 1)} | set(self._outlines.get(_outline(first), ()))
        if len(cited.words) > 1 and (cited.is_torn(1) or cited.initials(0)):
            words |= {word for word in self.places if word.startswith(first)}
        return sorted(place for word in words for place in self.places.get(word, ()))


def _seen(text: str, footnotes: bool) -> Sequence[int]:
    """The positions of visible characters: no direction marks or joiners, and no [3] if `footnotes` is False."""
    hidden = [] if text.isascii() else [match.start() for match in _unseen().finditer(text)]
    if not footnotes:
        hidden += [place for match in _FOOTNOTE.finditer(text) for place in range(*match.span())]
    left_out = frozenset(hidden)
    return [place for place in range(len(text)) if place not in left_out] if left_out else range(len(text))


@cache
def _unseen() -> re.Pattern[str]:
    """Characters that only format others; the soft hyphen is kept because it may be visible."""
    codes = (chr(code) for code in range(0x80, 0x10000) if unicodedata.category(chr(code)) == "Cf" and code != 0xAD)
    return re.compile(f"[{''.join(codes)}]")


def has_footnotes(text: str) -> bool:
    """Whether a text contains a footnote mark such as [3]."""
    return bool(_FOOTNOTE.search(text))


def misread(noisy: str, true: str) -> bool:
    """Whether a scanner may have read one folded word as the other."""
    if noisy == true or min(len(noisy), len(true)) < _LEAST_LETTERS or not true.isalpha():
        return False
    # A cheap test first: most words have different outlines.
    return _outline(noisy) == _outline(true) and any(form == true for form in _readings(noisy))


@lru_cache(maxsize=1 << 14)
def _outline(word: str) -> str:
    """A word with all characters that a scanner confuses made the same."""
    for pair in (("ii", "u"), ("rn", "m"), ("vv", "w"), ("cl", "d"), ("0", "o"), ("1", "l"), ("i", "l"), ("5", "s")):
        word = word.replace(*pair)
    return word


def _readings(noisy: str) -> Iterator[str]:
    """The words that a scanner may have misread; the first letter is kept, since `cl` and `d` make two words there."""
    spots = [
        (match.start(), wrong, right)
        for pair in _GLYPHS
        for wrong, right in (pair, pair[::-1])
        if not right.isdigit()
        for match in re.finditer(re.escape(wrong), noisy)
        if _may_be_misread(noisy, match.start(), wrong, right)
    ]
    if len(spots) > _MOST_CONFUSED * 3:
        return
    for chosen in product((False, True), repeat=len(spots)):
        form = _replaced(noisy, [spot for spot, wanted in zip(spots, chosen, strict=True) if wanted])
        if form is not None:
            yield form


def _may_be_misread(noisy: str, place: int, wrong: str, right: str) -> bool:
    if wrong.isdigit():
        return bool(_DIGIT_INSIDE.match(noisy, place))
    return place > 0 or {wrong, right} == {"rn", "m"}


def _replaced(text: str, spots: list[tuple[int, str, str]]) -> str | None:
    """The text with some spots replaced; None if two overlap or there are too many."""
    parts, done = [], 0
    for place, wrong, right in sorted(spots):
        if place < done:
            return None
        parts += [text[done:place], right]
        done = place + len(wrong)
    return None if len(spots) > _MOST_CONFUSED else "".join([*parts, text[done:]])
