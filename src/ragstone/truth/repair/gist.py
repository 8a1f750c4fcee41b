"""What a short text says in answer to a question: the words and numbers that the question does not have already."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ragstone.text.overlap import content_words
from ragstone.text.words import words
from ragstone.truth.meaning import is_negation

_DIGITS = re.compile(r"\d+")
_YES = frozenset(["yes", "ja", "oui", "sí", "да", "是"])
_NO = frozenset(["no", "nein", "non", "nee", "нет", "否"])
# Of the shorter answer so much must stand in the longer one for both to say the same.
ENOUGH = 0.8


@dataclass(frozen=True)
class Gist:
    """Words that carry meaning, numbers among them, and whether it is a yes, a no, or denies something."""

    words: frozenset[str]
    numbers: frozenset[str]
    says: str
    denies: bool


def gist_of(text: str, question: str) -> Gist:
    """The gist of an answer, of a reference, or of facts taken together."""
    first = next((word.text for word in words(text)), "")
    says = "yes" if first in _YES else "no" if first in _NO else ""
    own = content_words(text) - _YES - _NO
    new = own - content_words(question) or own
    numbers = frozenset(digits for word in new for digits in _DIGITS.findall(word))
    return Gist(new, numbers, says, any(is_negation(word.text) for word in words(text)))


def agree(one: Gist, other: Gist) -> bool:
    """Whether two answers to one question say the same, as far as words tell: the shorter one stands in the longer one."""
    if one.says or other.says:
        return one.says == other.says
    if one.denies != other.denies:
        return False
    short, long = sorted((one, other), key=lambda gist: len(gist.words))
    return short.numbers <= long.numbers and covered(short, long) >= ENOUGH


def covered(gist: Gist, by: Gist) -> float:
    """The share of a gist's words that another one has; 0 where there are none."""
    return len(gist.words & by.words) / len(gist.words) if gist.words else 0.0


def join_numbers(numbers: Iterable[str]) -> str:
    """Numbers as a list for people."""
    return ", ".join(sorted(numbers, key=lambda digits: (len(digits), digits)))
