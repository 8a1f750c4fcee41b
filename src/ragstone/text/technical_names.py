"""Technical names: options, headers, error codes, variables, settings, functions and paths, and which replace others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ragstone.text.overlap import content_stems
from ragstone.text.sentences import sentences

_KINDS = [
    re.compile(rf"(?:{pattern})")
    for pattern in (
        r"(?<![\w-])--[a-zA-Z][\w-]+",
        r"\bX(?:-[A-Z]\w+)+",
        r"\b[A-Z]{2,6}-\d{3,}\b",
        r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b",
        r"\b[a-z][a-z0-9]*(?:\.[a-z][a-z0-9]*)*_\w+(?:\.\w+)*",
        r"\b(?:[a-z]+|(?:[A-Z][a-z]+)+)[A-Z][a-z]\w+",
        r"(?<![^\s`'\"(])/[a-z][\w-]+(?:/[\w{}-]+)*(?![\w./])",
    )
]
# The least share of the words of a claim in a sentence with another name.
_SAME_THING = 0.3


@lru_cache(maxsize=2048)
def _names(text: str) -> list[list[str]]:
    return [sorted({*pattern.findall(text)}) for pattern in _KINDS]


def strange_names(text: str, *known: str) -> dict[str, list[str]]:
    """The names that the known texts do not have, and those of the same kind that only these have.

    A longer name with a known one is not strange, nor a variable with the letters of an option.
    """
    whole, said, found = " ".join(known), text.casefold(), {}
    for own, known_names, others in zip(_names(text), _names(whole), _other_kinds(whole), strict=True):
        for name in own:
            same = (other.casefold() in name.casefold() for other in known_names)
            if name.casefold() not in whole.casefold() and not any(same) and not any(map(_letters(name).count, others)):
                found[name] = [other for other in known_names if other.casefold() not in said]
    return found


def replaced_name(claim: str, texts: Sequence[str], known: str = "") -> tuple[str, str] | None:
    """A name of a claim that no text has, and the one of its kind in a sentence about the same thing."""
    words = content_stems(claim)
    for name, others in strange_names(claim, *texts, known).items():
        for part in (text[start:end] for text in texts for start, end in sentences(text)):
            if (other := next(filter(part.count, others), "")) and len(
                words & content_stems(part)
            ) >= _SAME_THING * len(words):
                return name, other
    return None


def _other_kinds(text: str) -> list[list[str]]:
    """For each kind the letters of the names of the others."""
    names = _names(text)
    return [[_letters(name) for other in names if other is not kind for name in other] for kind in names]


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()
