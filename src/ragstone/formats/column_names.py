"""The meaning of the names of columns, in English and other languages."""

from __future__ import annotations

import difflib
import tomllib
import unicodedata
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ragstone.errors import LONGEST_NAME
from ragstone.text.lexicon import late_pattern

# How reliable a name is: sure, likely, or only together with the content.
SURE, LIKELY, WEAK = 1.0, 0.7, 0.4
_ALIKE = 0.84
_LEAST_COMPOUND = 5
_CAMEL = late_pattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_APART = late_pattern(r"[^\w#]+|_")
# Chinese, Japanese, Korean and Thai write compounds without spaces.
_NO_SPACES = late_pattern("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_TRAILING_NUMBER = late_pattern(r"(?<=\D)\d+$")


class Named(NamedTuple):
    """The field that a name means, and how sure it is. An empty field: it is none of ours."""

    field: str
    strength: float


def fold(name: str) -> str:
    """The words of a name in lower case, without accents and punctuation."""
    text = unicodedata.normalize("NFKD", _CAMEL.sub(" ", name))
    text = unicodedata.normalize("NFKC", "".join(one for one in text if not unicodedata.combining(one)).casefold())
    return " ".join(_APART.sub(" ", text).split())


def read_name(name: str) -> Named | None:
    """The field that a name seems to mean; None if it is unknown."""
    words, folded = _words(), fold(name) if len(name) <= LONGEST_NAME else ""
    if not folded:
        return None
    for part, strength in (("whole", SURE), ("weak", WEAK)):
        for kind in ("question", "answer", "contexts", "gold", "id"):
            if folded in words[kind][part]:
                return Named("references" if kind == "gold" else kind, strength)
    return _read_words(folded) or _misspelt(folded)


@cache
def _words() -> dict[str, dict[str, frozenset[str]]]:
    table = tomllib.loads(Path(__file__).with_name("column_words.toml").read_text(encoding="utf-8"))
    return {
        kind: {part: frozenset(map(fold, group.get(part, ()))) for part in ("whole", "weak", "words")}
        for kind, group in table.items()
    }


def _read_words(folded: str) -> Named | None:
    """Reads a name of several words, a compound such as `Musterantwort`, or a name without spaces such as `参考答案`."""
    kinds: set[str] = set()
    unknown = 0
    for token in folded.split():
        known = _kinds_of(token)
        kinds |= known
        unknown += not known
    field = _field_of(kinds)
    if field is None:
        # The text of a bot is its answer.
        return Named("answer", WEAK) if "system" in kinds and unknown else None
    return Named(field, LIKELY if unknown else SURE)


def _kinds_of(token: str) -> set[str]:
    words = _words()
    token = _TRAILING_NUMBER.sub("", token)
    found = {kind for kind, group in words.items() if token in group["words"]}
    if found:
        return found
    if token.isdigit():
        return {"noise"}
    if _NO_SPACES.search(token):
        inside = {kind: [word for word in words[kind]["words"] if len(word) > 1 and word in token] for kind in words}
        return {kind for kind, some in inside.items() if some}
    return _parts_of_compound(token)


def _parts_of_compound(token: str) -> set[str]:
    """The kinds of both halves of a compound such as Kundenfrage; an unknown first half is ignored."""
    for kind in ("question", "answer", "contexts"):
        for word in _words()[kind]["words"]:
            if len(word) >= _LEAST_COMPOUND and token.endswith(word) and token != word:
                first = token.removesuffix(word)
                halves = {first, first.removesuffix("s"), first.removesuffix("es")}
                return {kind} | {other for other in ("gold", "noise") if halves & _words()[other]["words"]}
    return set()


def _field_of(kinds: set[str]) -> str | None:
    """The field of a name that has words of these kinds."""
    if "id" in kinds and "contexts" not in kinds:
        return "id" if not kinds & {"answer", "metadata"} else ""
    if "id" in kinds:
        return "relevance" if "gold" in kinds else ""
    if kinds & {"metadata"}:
        return ""
    if "contexts" in kinds:
        return "reference_contexts" if "gold" in kinds else "contexts" if "question" not in kinds else ""
    if "question" in kinds and "answer" in kinds:
        return None
    if "answer" in kinds or "gold" in kinds:
        return "question" if "question" in kinds else "references" if "gold" in kinds else "answer"
    return "question" if "question" in kinds else None


def _misspelt(folded: str) -> Named | None:
    """The field of the most similar known name, for names such as `qestion`."""
    by_name = {
        name: "references" if kind == "gold" else kind
        for kind in ("question", "answer", "contexts", "gold")
        for part in ("whole", "words")
        for name in _words()[kind][part]
        if len(name) >= _LEAST_COMPOUND
    }
    near = difflib.get_close_matches(folded, by_name, 1, _ALIKE)
    return Named(by_name[near[0]], LIKELY) if near else None
