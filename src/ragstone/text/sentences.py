"""Split texts into sentences, in any script, by readable rules.

A full stop ends a sentence if white space follows and the next word does not start in lower case. It does not after an
abbreviation, an initial or the number of a list item, or within a decimal. The stops of scripts that need no space after
them (such as 。！？ and the danda) always end a sentence. So does a line break, unless the next line starts in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.text.lexicon import lexicon, word_set
from ragstone.text.words import Span

_CLOSERS = "\"'”’»›)\\]}」』）】〉》"
_OPENERS = "\"'“‘«‹(\\[{「『（【〈《¿¡*_–—-"
_SPACED_STOPS = ".!?…"
_OTHER_STOPS = "。！？｡．।॥؟۔։።။។៕"
_STOPS = _SPACED_STOPS + _OTHER_STOPS
_END = re.compile(rf"([\n{_STOPS}][{_STOPS}]*+[{_CLOSERS}]*+)(\s*+)")
_NEXT_WORD = re.compile(rf"[\s{_OPENERS}]*+(\w{{0,20}})")
_LAST_WORD = re.compile(r"[^\s(\[{\"'“‘«]+$")
_ITEM_NUMBER = re.compile(r"[(\[]?(?:\d{1,3}|\w)[.)\]]+")
_BEFORE_NAMES, _ANYWHERE, _BEGINNERS = (
    word_set(lexicon("sentences")[name]) for name in ("before_names", "anywhere", "beginners")
)


def sentences(text: str) -> list[Span]:
    """The spans of the sentences; text without a letter or digit is not part of any sentence."""
    spans = []
    start = 0
    for end in [*_ends(text), len(text)]:
        inside = text[start:end]
        if any(character.isalnum() for character in inside):
            spans.append(Span(start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip())))
        start = end
    return spans


def _ends(text: str) -> Iterator[int]:
    start = 0
    for match in _END.finditer(text):
        if _is_end(text, start, match):
            start = match.end()
            yield start


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    stop, space = match[1], match[2]
    # A sentence continues if the next line starts in lower case and there is no empty line between. A dash or a bullet
    # starts a new one.
    lines = (stop + space).count("\n")
    if lines and (lines > 1 or not text[match.end() : match.end() + 1].islower()):
        return True
    if stop == "\n":
        return False
    if any(character in _OTHER_STOPS for character in stop):
        return stop != "．" or not text[match.end() : match.end() + 1].isdigit()
    return (space != "" or match.end() == len(text)) and _ends_spaced(text, start, match)


def _ends_spaced(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a stop that is followed by a space ends the sentence."""
    following = _NEXT_WORD.match(text, match.end())
    word = following[1] if following else ""
    if word[:1].islower():
        return False
    if match[1][0] != ".":
        return True
    if match.end(1) - start < 12 and _ITEM_NUMBER.fullmatch(text[start : match.end(1)].strip()):
        return False
    last = _LAST_WORD.search(text[max(start, match.start() - 24) : match.start()])
    before = last[0].lower() if last else ""
    if before in _BEFORE_NAMES:
        return False
    initial = len(before) == 1 and before.isalpha()
    return word.lower() in _BEGINNERS if initial or before in _ANYWHERE else True
