"""The SQuAD normalisation: lower-case, no ASCII punctuation, no English articles, single spaces."""

from __future__ import annotations

import re
import string

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise(text: str) -> str:
    """The text as SQuAD's script compares it."""
    return " ".join(tokens(text))


def tokens(text: str) -> list[str]:
    """The words of the normalised text."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()
