"""Converts values to the types of a sample's fields; `Unfit` explains why a value does not fit.

Checks that there are as many verdicts as claims, facts or chunks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from ragstone.data.codec import storable
from ragstone.data.types import is_image
from ragstone.data.verdict import CONTRADICTION, ENTAILMENT, NEUTRAL, NOT, PARTIAL, SUPPORT
from ragstone.formats.chunk_parts import image_in, page_in, table_text
from ragstone.formats.common_fields import parse_cell
from ragstone.formats.loose_contexts import paths_of_texts, text_of_chunk
from ragstone.formats.values import PLAIN, Unfit, kind_of, plain, shown

__all__ = ["VERDICTS", "Unfit", "coerce", "find_mismatches"]

# Values of an absent part of a chunk or fact.
_EMPTY = (None, "")
_TRUE, _FALSE = {"true", "1", "yes"}, {"false", "0", "no"}
_FORM = "{text, id, score, source, page, image, table}"
# Parts of a chunk that name it, and the number of words of a name.
_NAMES = ("id", "source", "title", "url", "name", "file", "image", "page")
_LONGEST_NAME = 2
_ROLES = ("user", "assistant", "system", "tool")
VERDICTS = (ENTAILMENT, NEUTRAL, CONTRADICTION)
_NUGGET_VERDICTS = (SUPPORT, PARTIAL, NOT)


def coerce(name: str, value: Any, from_text: bool = False) -> Any:
    """The value as pyarrow needs it for this field; `from_text` if it is a cell of a text table such as CSV."""
    if from_text or type(value) not in PLAIN:
        if isinstance(value, Unfit):
            raise value
        is_written = isinstance(value, Decimal) and value.is_finite() and _FIELDS[name] in (_text, _question)
        value = str(value) if is_written else plain(value)  # as a float, 1.50 would become 1.5
        if from_text and isinstance(value, str):
            value = parse_cell(name, value)
        if value is None:
            return None
    try:
        return _FIELDS[name](value)
    except RecursionError:
        raise Unfit("is nested too deeply") from None


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
    if isinstance(value, str):
        # Tables fill what is unknown with empty texts: they are not a reference that an answer could miss.
        return [_text(value)] if value.strip() else []
    return _each(_list(value), _text)


def _chunks(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, Mapping) and (path := next(paths_of_texts(value, 2), None)):
        raise Unfit("must be a list, got a mapping", f"name the list in it: --map contexts=COLUMN.{path}")
    items = _list(value)
    types = set(map(type, items))
    if types == {str}:
        return [_of_text(_text(item)) for item in items]
    if len(types) > 1 and len(kinds := {kind_of(item) for item in items}) > 1:
        raise Unfit(f"mixes {' and '.join(sorted(kinds))}", f"make every chunk a text, or every chunk {_FORM}")
    return _each(items, _chunk)


def _chunk(value: Any) -> dict[str, Any]:
    if type(value) is not dict and not isinstance(value, Mapping):  # the check of an abstract class is slow
        raise Unfit(f"must be a text or {_FORM}, got {kind_of(value)}")
    text = plain(value.get("text"))
    if (table := plain(value.get("table"))) not in _EMPTY:
        text = _with_table("" if text is None else _text(text), table)
    chunk = _of_text("" if text is None else _text(text))
    for key, convert in _CHUNK_PARTS:
        part = value.get(key)
        if part is not None and (part := plain(part)) not in _EMPTY:
            try:
                chunk[key] = convert(part)
            except Unfit as unfit:
                raise Unfit(f"({key}) {unfit.message}") from None
    if text is None and (
        not {"id", "image"} & chunk.keys() or text_of_chunk(value) or any(map(_is_prose, value.items()))
    ):
        named = f"has no text; its keys are {', '.join(map(str, value)) or 'none'}"
        raise Unfit(named, "name the part that is the text: --map contexts.text=PART")
    return chunk


def _of_text(text: str) -> dict[str, Any]:
    """A chunk of a text. The path or the data of an image is its image; its text is unknown."""
    if (text[-5:].find(".") >= 0 or text[:5] in ("data:", "http:", "https")) and is_image(text):
        return {"text": "", "image": _image(text)}
    return {"text": text}


def _image(value: Any) -> str:
    image = image_in(value)
    if image is None:
        raise Unfit(f"must be the path, the address or the data URI of an image, got {kind_of(value)}")
    return storable(image)


def _page(value: Any) -> str:
    page = page_in(value)
    if page is None:
        raise Unfit(f"must be a number or a text, got {kind_of(value)}")
    return storable(page)


def _with_table(text: str, table: Any) -> str:
    """The text with a table, unless it has it: where all metrics and judges read it."""
    written = table_text(table)
    if written is None:
        raise Unfit("(table) must be a list of rows, records, columns, Markdown or HTML")
    return text if written in text else f"{text}\n\n{written}".strip()


def _is_prose(part: tuple[str, Any]) -> bool:
    """Whether a part of a chunk may be its text under another name: then the text is not unknown."""
    name, value = part
    return name not in _NAMES and isinstance(value, str) and len(value.split()) > _LONGEST_NAME


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


def _turn(value: Any) -> dict[str, Any]:
    text = value.get("text", value.get("content")) if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or value.get("role") is None or text is None:
        raise Unfit(f"must be {{role, text, contexts}}, got {kind_of(value)}")
    role = _text(value["role"]).strip().lower()
    if role not in _ROLES:
        raise Unfit(f"has the role {shown(role)}", f"a role is one of {', '.join(_ROLES)}")
    return {"role": role, "text": _text(text), "contexts": _optional(value.get("contexts"), _chunks)}


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


def _claim(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"text": _text(value), "triplet": None, "words": None}
    if isinstance(value, Mapping):
        words = value["words"] if isinstance(value.get("words"), int) and value["words"] > 0 else None
        triplet = _optional(value.get("triplet"), _texts)
        return {"text": _text(value.get("text")), "triplet": triplet, "words": words}
    parts = _texts(value)
    return {"text": " ".join(parts), "triplet": parts, "words": None}


def _verdict(value: Any, words: tuple[str, ...] = VERDICTS) -> str:
    word = str(value).strip().lower()
    if word not in words:
        raise Unfit(f"must be one of {', '.join(words)}, got {shown(value)}")
    return word


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


def _list_of(convert: Callable[[Any], Any], or_text: bool = False) -> Callable[[Any], list[Any]]:
    """Converts a list of such values; with `or_text`, a text is its only element."""
    return lambda value: _each([value] if or_text and isinstance(value, str) else _list(value), convert)


def _optional(value: Any, convert: Callable[[Any], Any]) -> Any:
    value = plain(value)
    return None if value in _EMPTY else convert(value)


def _jsonable(value: Any) -> Any:
    """Metadata as JSON values: dates become text, NaN becomes None. Of bytes that are not a text, the size is kept."""
    value = plain(value)
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
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
    ("image", _image),
    ("page", _page),
)
_verdicts = _list_of(_verdict)
_FIELDS: dict[str, Callable[[Any], Any]] = {
    name: convert
    for convert, names in (
        (_identifier, "id"),
        (_text, "answer"),
        (_question, "question rewritten_question standalone_question"),
        (_texts, "references reference_contexts documents reference_entities generated_questions"),
        (_chunks, "contexts"),
        (_relevance, "relevance"),
        (_truth, "answerable noncommittal"),
        (_metadata, "metadata"),
        (_list_of(_fact, or_text=True), "facts"),
        (_list_of(_turn), "history"),
        (_list_of(_step, or_text=True), "steps expected_steps"),
        (_list_of(_citation), "citations"),
        (_list_of(_claim), "answer_claims reference_claims"),
        (_verdicts, "answer_claims_in_reference reference_claims_in_answer answer_claims_in_all_contexts"),
        (_verdicts, "reference_claims_in_all_contexts answer_claims_in_history answer_claims_in_corpus"),
        (_list_of(_verdicts), "answer_claims_in_contexts reference_claims_in_contexts"),
        (_list_of(_number), "verdict_agreement"),
        (_list_of(_truth), "reference_entities_in_contexts chunk_usefulness"),
        (_list_of(_position), "needed_sentences"),
        (_list_of(lambda item: _verdict(item, _NUGGET_VERDICTS)), "nugget_support"),
    )
    for name in names.split()
}
# Verdicts and the claims, facts or chunks that they judge.
_JUDGED = {
    **dict.fromkeys([name for name in _FIELDS if name.startswith("answer_claims_in_")], "answer_claims"),
    **dict.fromkeys([name for name in _FIELDS if name.startswith("reference_claims_in_")], "reference_claims"),
    "verdict_agreement": "answer_claims",
    "reference_entities_in_contexts": "reference_entities",
    "nugget_support": "facts",
    "chunk_usefulness": "contexts",
}
_ITEMS = {"facts": "fact", "contexts": "chunk"}


def find_mismatches(values: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Field, message and hint for verdicts whose number differs from that of their claims or chunks."""
    for field, claims_field in _JUDGED.items():
        verdicts = values.get(field)
        if verdicts is None:
            continue
        claims, chunks = values.get(claims_field), values.get("contexts")
        if claims is not None and len(claims) != len(verdicts):
            name = names.get(claims_field, claims_field)
            yield (
                field,
                f"has {len(verdicts)} entries for the {len(claims)} of {name}",
                f"write one per {_ITEMS.get(claims_field, 'claim')}",
            )
        if field.endswith("_claims_in_contexts") and chunks is not None:
            name = names.get("contexts", "contexts")
            for number, row in enumerate(verdicts, start=1):
                if len(row) != len(chunks):
                    message = f"entry {number} has {len(row)} verdicts for the {len(chunks)} of {name}"
                    yield field, message, "write one per chunk"
                    break
