"""What can be seen of an answer without a judge: whether it has the words of a reference, and where its numbers come from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragstone.text.squad import tokens

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
# An answer in other words still has about half of the words of a reference that it agrees with.
_LEAST_SHARE = 0.5


def numbers(text: str) -> set[str]:
    """The numbers of a text, with thousands and decimals as they are written."""
    return set(_NUMBER.findall(text))


def seems_right(answer: str, references: Sequence[str]) -> bool:
    """Some reference has all its numbers, and half of its words or more, in the answer."""
    said, figures = set(tokens(answer)), numbers(answer)
    return any(
        numbers(reference) <= figures and _share(tokens(reference), said) >= _LEAST_SHARE for reference in references
    )


def foreign_numbers(answer: str, *known: str) -> set[str]:
    """The numbers of an answer that stand in none of these texts."""
    return numbers(answer).difference(*map(numbers, known))


def _share(wanted: Sequence[str], said: set[str]) -> float:
    return sum(word in said for word in wanted) / len(wanted) if wanted else 0.0
