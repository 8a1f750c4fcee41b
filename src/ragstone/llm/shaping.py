"""From JSON to the object that was asked for, where the model wrote the right things under slightly wrong forms.

Keys may differ in case, separators and number ("supportedBy", "claim" for "claims"); a list may be an object with numbers as
keys; an entry may be a list in the order of the fields, or a bare word that belongs to the claim of its place. A key with
another meaning is never taken for a wanted one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

T = TypeVar("T", bound=BaseModel)

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
# What people add to a key without changing what it means.
_FILLERS = {"chunks", "chunk", "sentences", "passages", "numbers", "number", "ids", "id", "no", "list", "indices"}
_NUMBER_KEY = re.compile(r"(?:claim|chunk|item|triplet|question)?[\s_#\[]*(\d{1,6})[\].]?", re.IGNORECASE)
_SURROGATES = re.compile("[\ud800-\udfff]")
_MOST_FAULTS_SHOWN = 3


class ShapeError(ValueError):
    """JSON that is not what was asked for; the text says what is wrong, without quoting it."""


def fit(value: Any, kind: type[T]) -> T:
    """The object, or a ShapeError."""
    if not isinstance(value, Mapping):
        raise ShapeError("an object is wanted")
    try:
        return kind.model_validate(_mend_object(value, kind))
    except ValidationError as error:
        # One level of wrapping: {"reply": {…}}, {"name": …, "arguments": {…}}.
        inner = [entry for entry in value.values() if isinstance(entry, Mapping)]
        if len(inner) == 1 and not _match_keys(value, kind):
            return fit(inner[0], kind)
        raise ShapeError(_describe(error)) from error


def fit_list(items: list[Any], kind: type[T]) -> T:
    """The object whose only list this is, or a ShapeError."""
    name = list_field(kind)
    if name is None:
        raise ShapeError("an object is wanted, not a list")
    return fit({name: items}, kind)


def list_field(kind: type[BaseModel]) -> str | None:
    """The name of the field where the object has no other and it is a list."""
    names = list(kind.model_fields)
    return names[0] if len(names) == 1 and get_origin(kind.model_fields[names[0]].annotation) is list else None


def is_entry(value: Mapping[str, Any], kind: type[BaseModel]) -> bool:
    """Whether this is one entry of the list that the object consists of."""
    name = list_field(kind)
    entry: Any = _plain_type(get_args(kind.model_fields[name].annotation)[0]) if name else None
    return _is_model(entry) and set(_match_keys(value, entry)) == set(entry.model_fields)


def _mend_object(value: Mapping[str, Any], kind: type[BaseModel]) -> dict[str, Any]:
    keys = _match_keys(value, kind)
    only = list_field(kind)
    if not keys and only and value and _numbers(value):
        return {only: _mend(value, kind.model_fields[only].annotation, only)}
    return {name: _mend(value[key], kind.model_fields[name].annotation, name) for name, key in keys.items()}


def _match_keys(value: Mapping[str, Any], kind: type[BaseModel]) -> dict[str, str]:
    """Which key stands for which field; the exact one before others, and a number where a number is wanted."""
    matches = {}
    for name, field in kind.model_fields.items():
        keys = [key for key in value if key == name] + [key for key in value if key != name and _near(key, name)]
        if _plain_type(field.annotation) is int:
            keys = [key for key in keys if _NUMBER_KEY.fullmatch(str(value[key]).strip())] or keys
        if len(keys) == 1 or (keys and keys[0] == name):
            matches[name] = keys[0]
    return matches


def _near(key: str, name: str) -> bool:
    return _fold(key) == _fold(name)


def _fold(key: str) -> str:
    """A key without case, separators, plural and words that add nothing."""
    words = [word.casefold() for word in _WORDS.findall(key)]
    while len(words) > 1 and words[-1] in _FILLERS:
        words.pop()
    return "".join(words).removesuffix("s")


def _mend(value: Any, wanted: Any, name: str) -> Any:
    """A value in the form that its type asks for, where it can be only one."""
    if get_origin(wanted) is not list:
        return _mend_object(value, wanted) if _is_model(wanted) and isinstance(value, Mapping) else _mend_text(value)
    entry = _plain_type(get_args(wanted)[0])
    if isinstance(value, Mapping) and entry is not int:
        numbers = _numbers(value)
        if numbers:
            return [_mend_entry(value[key], entry, name, number) for number, key in sorted(numbers.items())]
        if _is_model(entry):
            value = [value]
    if not isinstance(value, list):
        return value
    return [_mend_entry(item, entry, name, place) for place, item in enumerate(value, start=1)]


def _mend_entry(item: Any, entry: Any, name: str, number: int) -> Any:
    if _is_model(entry):
        return _mend_model_entry(item, entry, number)
    if entry is str and isinstance(item, Mapping):
        texts = [text for key, text in item.items() if isinstance(text, str) and (len(item) == 1 or _near(key, name))]
        return _mend_text(texts[0]) if len(texts) == 1 else item
    return _mend_text(item)


def _mend_model_entry(item: Any, entry: type[BaseModel], number: int) -> Any:
    fields = entry.model_fields
    numbered = [name for name, field in fields.items() if _plain_type(field.annotation) is int]
    others = [name for name in fields if name not in numbered]
    if isinstance(item, Mapping):
        mended = _mend_object(item, entry)
        missing = len(numbered) == 1 and numbered[0] not in mended
        return {numbered[0]: number, **mended} if missing and set(mended) == set(others) else mended
    if isinstance(item, list) and len(item) == len(fields):
        return dict(zip(fields, map(_mend_text, item), strict=True))
    if isinstance(item, str) and len(numbered) == len(others) == 1:
        return {numbered[0]: number, others[0]: item}
    return item


def _mend_text(value: Any) -> Any:
    """Text without halves of characters, which could not be stored."""
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else value


def _numbers(value: Mapping[str, Any]) -> dict[int, str]:
    """The keys by their numbers, where all of them are different numbers."""
    found = {int(match[1]): key for key in value if (match := _NUMBER_KEY.fullmatch(key.strip()))}
    return found if len(found) == len(value) else {}


def _plain_type(annotation: Any) -> Any:
    """A type without what is annotated to it."""
    return _plain_type(get_args(annotation)[0]) if hasattr(annotation, "__metadata__") else annotation


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _describe(error: ValidationError) -> str:
    """What is wrong, by place; the values are left out."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    words = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults[:_MOST_FAULTS_SHOWN]]
    more = f" (and {len(faults) - len(words)} more)" if len(faults) > len(words) else ""
    return "; ".join(words) + more
