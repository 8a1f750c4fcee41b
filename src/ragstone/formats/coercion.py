"""Values of all kinds to the types of a sample, with a clear word for what cannot be."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from ragstone.data.schema import GIVEN_EVIDENCE

# What a cell of a table looks like when it is empty.
_EMPTY = (None, "")
_TRUE, _FALSE = {"true", "1", "yes"}, {"false", "0", "no"}
VERDICTS = ("entailment", "neutral", "contradiction")


class Unfit(Exception):
    """A value does not fit its field; the first argument says why, the second what to do."""


def coerce(name: str, value: Any, from_text: bool = False) -> Any:
    """The value as pyarrow takes it for this field; from_text when it comes from a table of text, such as CSV."""
    value = _plain(value)
    if value is None:
        return None
    if from_text and isinstance(value, str) and name not in ("id", "question", "answer"):
        if value == "":
            return None
        value = _parse_cell(name, value)
    elif from_text and value == "" and name != "answer":
        return None
    return _FIELDS[name](value)


def _plain(value: Any) -> Any:
    """Numpy scalars and arrays, NaN and Arrow maps as plain Python."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if hasattr(value, "tolist") and not isinstance(value, str | bytes | memoryview):
        return _plain(value.tolist())
    return value


def _parse_cell(name: str, value: str) -> Any:
    """Lists and mappings are written as JSON; a single word may stand for itself where that is clear."""
    if value[0] in "[{":
        try:
            return json.loads(value)
        except ValueError as error:
            raise Unfit(f"is not JSON: {error}", 'write lists as ["first", "second"]') from None
    if name in _LISTS_ONLY:
        raise Unfit(f"is not a JSON list: {_shown(value)}", 'write lists as ["first", "second"]')
    return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return _without_surrogates(value)
    if isinstance(value, bool | int | float):
        return str(value)
    raise Unfit(f"must be text, got {_kind(value)}")


def _identifier(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Unfit(f"must be text or a whole number, got {_kind(value)}")
    text = _without_surrogates(str(value)).strip()
    if not text:
        raise Unfit("is empty", "leave the field out and an id is made from the question")
    return text


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [_element(item, position, _text) for position, item in enumerate(_list(value), start=1)]


def _chunks(value: Any) -> list[dict[str, Any]]:
    items = _list(value)
    kinds = {_kind(item) for item in items}
    if len(kinds) > 1:
        raise Unfit(f"mixes {' and '.join(sorted(kinds))}", "make every chunk a text, or every chunk {text, id, score, source}")
    return [_element(item, position, _chunk) for position, item in enumerate(items, start=1)]


def _chunk(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, Mapping):
        raise Unfit(f"must be a text or {{text, id, score, source}}, got {_kind(value)}")
    if value.get("text") is None:
        raise Unfit(f"has no text; its keys are {', '.join(map(str, value)) or 'none'}")
    return {
        "text": _text(value["text"]),
        "id": _optional(value.get("id"), _identifier),
        "score": _optional(value.get("score"), _number),
        "source": _optional(value.get("source"), _text),
    }


def _facts(value: Any) -> list[dict[str, Any]]:
    items = [value] if isinstance(value, str) else _list(value)
    return [_element(item, position, _fact) for position, item in enumerate(items, start=1)]


def _fact(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, Mapping) or value.get("text") is None:
        raise Unfit(f"must be a text or {{text, kind, source}}, got {_kind(value)}")
    kind = value.get("kind") or "citation"
    if kind not in ("citation", "statement"):
        raise Unfit(f"has the kind {kind!r}", "a fact is a citation or a statement")
    return {"text": _text(value["text"]), "kind": kind, "source": _optional(value.get("source"), _text)}


def _relevance(value: Any) -> list[dict[str, Any]]:
    """Id to grade, by id since a mapping has no order; a list of ids means grade 1, Arrow may give pairs or {id, grade}."""
    if isinstance(value, str | int):
        value = [value]
    if isinstance(value, Mapping):
        pairs = list(value.items())
    else:
        pairs = [_grade_pair(item) for item in _list(value)]
    grades: dict[str, float] = {}
    for key, grade in pairs:
        name = _identifier(key)
        if name in grades:
            raise Unfit(f"grades the id {name!r} twice")
        # A struct column names every id of the file in every row; those without a grade are not this row's.
        if grade is not None:
            grades[name] = _element(grade, name, _number)
    return [{"id": name, "grade": grade} for name, grade in sorted(grades.items())]


def _grade_pair(item: Any) -> tuple[Any, Any]:
    if isinstance(item, Mapping) and "id" in item:
        return item["id"], item.get("grade", 1.0)
    if isinstance(item, tuple) and len(item) == 2:
        return item[0], item[1]
    return item, 1.0


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise Unfit(f"must be true or false, got {_shown(value)}")


def _metadata(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise Unfit(f"must be a mapping, got {_kind(value)}", "put single values into columns of their own")
    return _jsonable(value)  # type: ignore[no-any-return]


def _claims(value: Any) -> list[dict[str, Any]]:
    return [_element(item, position, _claim) for position, item in enumerate(_list(value), start=1)]


def _claim(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"text": _text(value), "triplet": None}
    if isinstance(value, Mapping):
        return {"text": _text(value.get("text")), "triplet": _optional(value.get("triplet"), _texts)}
    parts = _texts(value)
    return {"text": " ".join(parts), "triplet": parts}


def _verdicts(value: Any) -> list[str]:
    return [_element(item, position, _verdict) for position, item in enumerate(_list(value), start=1)]


def _verdict(value: Any) -> str:
    word = str(value).strip().lower()
    if word not in VERDICTS:
        raise Unfit(f"must be one of {', '.join(VERDICTS)}, got {_shown(value)}")
    return word


def _verdict_matrix(value: Any) -> list[list[str]]:
    return [_element(item, position, _verdicts) for position, item in enumerate(_list(value), start=1)]


def _number(value: Any) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise Unfit(f"must be a number, got {_shown(value)}") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Unfit(f"must be a finite number, got {_shown(value)}")
    return float(value)


def _list(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    raise Unfit(f"must be a list, got {_kind(value)}")


def _element(item: Any, position: int | str, convert: Callable[[Any], Any]) -> Any:
    """Convert one element and say which one it was if it does not fit."""
    try:
        return convert(item)
    except Unfit as unfit:
        message, *hint = unfit.args
        raise Unfit(f"entry {position} {message}", *hint) from None


def _optional(value: Any, convert: Callable[[Any], Any]) -> Any:
    value = _plain(value)
    return None if value in _EMPTY else convert(value)


def _jsonable(value: Any) -> Any:
    """Metadata as JSON can hold it: dates and the like become text, NaN becomes nothing."""
    value = _plain(value)
    if isinstance(value, Mapping):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_jsonable(item) for item in value]
    if isinstance(value, str):
        return _without_surrogates(value)
    if value is None or isinstance(value, bool | int | float):
        return None if isinstance(value, float) and not math.isfinite(value) else value
    return str(value)


def _without_surrogates(text: str) -> str:
    """Half a UTF-16 pair (JSON can spell one) cannot be stored; it becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8") if _has_surrogate(text) else text


def _has_surrogate(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _kind(value: Any) -> str:
    names = {str: "text", dict: "a mapping", list: "a list", bool: "true/false", type(None): "nothing"}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"the number {value}"
    return names.get(type(value), type(value).__name__)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


_LISTS_ONLY = {"contexts", "facts", *GIVEN_EVIDENCE}
_FIELDS: dict[str, Callable[[Any], Any]] = {
    "id": _identifier,
    "question": _text,
    "answer": _text,
    "contexts": _chunks,
    "references": _texts,
    "reference_contexts": _texts,
    "relevance": _relevance,
    "facts": _facts,
    "answerable": _truth,
    "documents": _texts,
    "metadata": _metadata,
    "answer_claims": _claims,
    "reference_claims": _claims,
    "answer_claims_in_reference": _verdicts,
    "reference_claims_in_answer": _verdicts,
    "answer_claims_in_contexts": _verdict_matrix,
    "reference_claims_in_contexts": _verdict_matrix,
}
