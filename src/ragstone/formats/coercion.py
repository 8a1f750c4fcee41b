"""Converts values to the types of a sample's fields; `Unfit` explains why a value does not fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ragstone.formats.common_fields import parse_cell
from ragstone.formats.values import PLAIN, Unfit, kind_of, plain, shown, storable

__all__ = ["VERDICTS", "Unfit", "coerce"]

# Values of an absent part of a chunk or fact.
_EMPTY = (None, "")
_TRUE, _FALSE = {"true", "1", "yes"}, {"false", "0", "no"}
_ROLES = ("user", "assistant", "system", "tool")
VERDICTS = ("entailment", "neutral", "contradiction")
_NUGGET_VERDICTS = ("support", "partial_support", "not_support")


def coerce(name: str, value: Any, from_text: bool = False) -> Any:
    """The value as pyarrow needs it for this field; `from_text` if it is a cell of a text table such as CSV."""
    if from_text or type(value) not in PLAIN:
        value = _open(name, value, from_text)
        if value is None:
            return None
    try:
        return _FIELDS[name](value)
    except RecursionError:
        raise Unfit("is nested too deeply") from None


def _open(name: str, value: Any, from_text: bool) -> Any:
    if isinstance(value, Unfit):
        raise value
    value = plain(value)
    return parse_cell(name, value) if from_text and isinstance(value, str) else value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value if value.isascii() else storable(value)
    if isinstance(value, bool | int | float):
        return str(value)
    raise Unfit(f"must be text, got {kind_of(value)}")


def _question(value: Any) -> str | None:
    text = _text(value)
    return None if not text or text.isspace() else text


def _identifier(value: Any) -> str:
    if not isinstance(value, str):
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Unfit(f"must be text or a whole number, got {kind_of(value)}")
        value = str(value)
    text = storable(value).strip()
    if not text:
        raise Unfit("is empty", "leave the field out to get an id made from the question")
    return text


def _texts(value: Any) -> list[str]:
    return [_text(value)] if isinstance(value, str) else _each(_list(value), _text)


def _chunks(value: Any) -> list[dict[str, Any]]:
    items = _list(value)
    types = set(map(type, items))
    if types == {str}:
        return [{"text": _text(item)} for item in items]
    if len(types) > 1 and len(kinds := {kind_of(item) for item in items}) > 1:
        raise Unfit(
            f"mixes {' and '.join(sorted(kinds))}", "make every chunk a text, or every chunk {text, id, score, source}"
        )
    return _each(items, _chunk)


def _chunk(value: Any) -> dict[str, Any]:
    if type(value) is not dict and not isinstance(value, Mapping):  # the check of an abstract class is slow
        raise Unfit(f"must be a text or {{text, id, score, source}}, got {kind_of(value)}")
    text = plain(value.get("text"))
    if text is None:
        raise Unfit(f"has no text; its keys are {', '.join(map(str, value)) or 'none'}")
    chunk: dict[str, Any] = {"text": _text(text)}
    for key, convert in _CHUNK_PARTS:
        part = value.get(key)
        if part is not None and (part := plain(part)) not in _EMPTY:
            try:
                chunk[key] = convert(part)
            except Unfit as unfit:
                raise Unfit(f"({key}) {unfit.message}") from None
    return chunk


def _facts(value: Any) -> list[dict[str, Any]]:
    return _each([value] if isinstance(value, str) else _list(value), _fact)


def _fact(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, Mapping) or value.get("text") is None:
        raise Unfit(f"must be a text or {{text, kind, source, importance}}, got {kind_of(value)}")
    kind = value.get("kind") or "citation"
    if kind not in ("citation", "statement"):
        raise Unfit(f"has the kind {kind!r}", "a fact is a citation or a statement")
    importance = _optional(value.get("importance"), _text)
    if importance not in (None, "vital", "okay"):
        raise Unfit(f"has the importance {importance!r}", "a fact is vital or okay")
    source = _optional(value.get("source"), _text)
    return {"text": _text(value["text"]), "kind": kind, "source": source, "importance": importance}


def _turns(value: Any) -> list[dict[str, Any]]:
    return _each(_list(value), _turn)


def _turn(value: Any) -> dict[str, Any]:
    text = value.get("text", value.get("content")) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or value.get("role") is None or text is None:
        raise Unfit(f"must be {{role, text, contexts}}, got {kind_of(value)}")
    role = _text(value["role"]).strip().lower()
    if role not in _ROLES:
        raise Unfit(f"has the role {shown(role)}", f"a role is one of {', '.join(_ROLES)}")
    return {"role": role, "text": _text(text), "contexts": _optional(value.get("contexts"), _chunks)}


def _steps(value: Any) -> list[dict[str, Any]]:
    return _each([value] if isinstance(value, str) else _list(value), _step)


def _step(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = {"tool": value}
    if not isinstance(value, Mapping) or plain(value.get("tool")) in _EMPTY:
        raise Unfit(f"must be the name of a tool or {{tool, query, contexts, seconds}}, got {kind_of(value)}")
    return {
        "tool": _text(value["tool"]),
        "query": _optional(value.get("query"), _text),
        "contexts": _optional(value.get("contexts"), _chunks),
        "seconds": _optional(value.get("seconds"), _number),
    }


def _citations(value: Any) -> list[dict[str, Any]]:
    return _each(_list(value), _citation)


def _citation(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or plain(value.get("chunk")) in _EMPTY:
        raise Unfit(f"must be {{chunk, start, end, text}}, got {kind_of(value)}")
    start, end = (_optional(value.get(key), _position) for key in ("start", "end"))
    if (start is None) != (end is None) or (start is not None and start > end):
        raise Unfit(f"goes from {start} to {end}", "give start and end as positions in the answer, or neither")
    return {
        "chunk": _identifier(value["chunk"]),
        "start": start,
        "end": end,
        "text": _optional(value.get("text"), _text),
    }


def _position(value: Any) -> int:
    number = _number(value)
    if number < 0 or not number.is_integer():
        raise Unfit(f"must be a position from 0, got {shown(value)}")
    return int(number)


def _relevance(value: Any) -> list[dict[str, Any]]:
    """Grades sorted by id, from a mapping, a list of ids (grade 1), pairs or {id, grade}."""
    if isinstance(value, str | int):
        value = [value]
    pairs = value.items() if isinstance(value, Mapping) else map(_grade_pair, _list(value))
    grades: dict[str, float] = {}
    for key, raw in pairs:
        # A struct column has every id of the file in every row; ids without a grade belong to other rows.
        if raw is None:
            continue
        name = _identifier(key)
        try:
            grade = _number(math.nan if (known := plain(raw)) is None else known)
        except Unfit as unfit:
            raise Unfit(f"the grade of {name!r} {unfit.message}") from None
        if grades.setdefault(name, grade) != grade:
            raise Unfit(f"grades {name!r} as {grades[name]:g} and as {grade:g}", "give each id one grade")
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
    word = str(int(value) if isinstance(value, float) and value.is_integer() else value).strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise Unfit(f"must be true or false, got {shown(value)}")


def _metadata(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, Mapping):
        raise Unfit(f"must be a mapping, got {kind_of(value)}", "put single values into separate columns")
    # A table has every key in every row; keys without a value belong to other rows.
    return {key: item for key, item in _jsonable(value).items() if item is not None} or None


def _claims(value: Any) -> list[dict[str, Any]]:
    return _each(_list(value), _claim)


def _claim(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"text": _text(value), "triplet": None}
    if isinstance(value, Mapping):
        return {"text": _text(value.get("text")), "triplet": _optional(value.get("triplet"), _texts)}
    parts = _texts(value)
    return {"text": " ".join(parts), "triplet": parts}


def _verdicts(value: Any) -> list[str]:
    return _each(_list(value), _verdict)


def _verdict(value: Any, words: tuple[str, ...] = VERDICTS) -> str:
    word = str(value).strip().lower()
    if word not in words:
        raise Unfit(f"must be one of {', '.join(words)}, got {shown(value)}")
    return word


def _nugget_verdicts(value: Any) -> list[str]:
    return _each(_list(value), lambda item: _verdict(item, _NUGGET_VERDICTS))


def _verdict_matrix(value: Any) -> list[list[str]]:
    return _each(_list(value), _verdicts)


def _number(value: Any) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise Unfit(f"must be a number, got {kind_of(value)}")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise Unfit(f"must be a number, got {shown(value)}") from None
    if not math.isfinite(number):
        raise Unfit(f"must be a finite number, got {shown(value)}")
    return number


def _list(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(value) if PLAIN.issuperset(map(type, value)) else [plain(item) for item in value]
    raise Unfit(f"must be a list, got {kind_of(value)}")


def _each(items: list[Any], convert: Callable[[Any], Any]) -> list[Any]:
    """Convert every element; an error names the element that does not fit."""
    done: list[Any] = []
    try:
        for item in items:
            done.append(convert(item))  # noqa: PERF401  (the length gives the element that failed)
    except Unfit as unfit:
        raise Unfit(f"entry {len(done) + 1} {unfit.message}", unfit.hint) from None
    return done


def _optional(value: Any, convert: Callable[[Any], Any]) -> Any:
    value = plain(value)
    return None if value in _EMPTY else convert(value)


def _jsonable(value: Any) -> Any:
    """Metadata as JSON values: dates become text, NaN becomes None."""
    value = plain(value)
    if isinstance(value, str):
        return storable(value)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {storable(str(key)): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_jsonable(item) for item in value]
    return storable(str(value))


_CHUNK_PARTS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("id", _identifier),
    ("score", _number),
    ("source", _text),
)
_FIELDS: dict[str, Callable[[Any], Any]] = {
    "id": _identifier,
    "question": _question,
    "answer": _text,
    "contexts": _chunks,
    "references": _texts,
    "reference_contexts": _texts,
    "relevance": _relevance,
    "facts": _facts,
    "answerable": _truth,
    "documents": _texts,
    "history": _turns,
    "rewritten_question": _question,
    "steps": _steps,
    "expected_steps": _steps,
    "citations": _citations,
    "metadata": _metadata,
    "answer_claims": _claims,
    "reference_claims": _claims,
    "answer_claims_in_reference": _verdicts,
    "reference_claims_in_answer": _verdicts,
    "answer_claims_in_contexts": _verdict_matrix,
    "reference_claims_in_contexts": _verdict_matrix,
    "answer_claims_in_all_contexts": _verdicts,
    "reference_claims_in_all_contexts": _verdicts,
    "verdict_agreement": lambda value: _each(_list(value), _number),
    "standalone_question": _question,
    "answer_claims_in_history": _verdicts,
    "reference_entities": _texts,
    "reference_entities_in_contexts": lambda value: _each(_list(value), _truth),
    "answer_claims_in_corpus": _verdicts,
    "nugget_support": _nugget_verdicts,
}
