"""Technical names of a text that others have not: options, headers, codes, variables, settings, functions and paths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ragstone.text.overlap import content_stems
from ragstone.text.sentences import sentences

_NAME = re.compile(
    r"(?P<option>(?<![\w-])--[a-zA-Z][\w-]+)|(?P<header>\bX(?:-[A-Z]\w+)+)|(?P<code>\b[A-Z]{2,6}-\d{3,}\b)|"
    r"(?P<variable>\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b)|(?P<setting>\b[a-z][a-z0-9]*(?:\.[a-z][a-z0-9]*){0,9}_\w+(?:\.\w+)*)|"
    r"(?P<function>\b(?:[a-z]+|(?:[A-Z][a-z]+)+)[A-Z][a-z]\w+)|(?P<path>(?<![^\s`'\"(])/[a-z][\w-]+(?:/[\w{}-]+)*(?![\w./]))"
)
_SIGNS = re.compile(r"[\W_]")
_SAME_THING = 0.3  # of the words of a claim, in a sentence with another name


@lru_cache(maxsize=2048)
def _kinds(text: str) -> dict[str, str | None]:
    return {name[0]: name.lastgroup for name in _NAME.finditer(text)}


def strange_names(text: str, *known: str) -> dict[str, list[str]]:
    """The names that the known texts do not have, not even in part or as another kind, and theirs of the same kind instead."""
    whole, said, found = " ".join(known), text.casefold(), dict[str, list[str]]()
    for name, kind in _kinds(text).items():
        there, forms = _kinds(whole).items(), (name.casefold(), _SIGNS.sub("", name).casefold())
        within = (
            other.casefold() in forms[0] if like == kind else _SIGNS.sub("", other).casefold() in forms[1]
            for other, like in there
        )
        if forms[0] not in whole.casefold() and not any(within):
            found[name] = [other for other, like in there if like == kind and other.casefold() not in said]
    return found


def replaced_name(claim: str, texts: Sequence[str], known: str = "") -> tuple[str, str] | None:
    """A name of a claim that no text has, and the one of its kind in a sentence about the same thing."""
    parts, words = [text[start:end] for text in texts for start, end in sentences(text)], content_stems(claim)
    near = " ".join(part for part in parts if len(words & content_stems(part)) >= _SAME_THING * len(words))
    found = strange_names(claim, *texts, known)
    return next(((name, other) for name, some in found.items() for other in some if other in near), None)
