"""Conversion between Python type annotations and Arrow types, and between their values."""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable
from typing import Any, Literal

import pyarrow as pa

Convert = Callable[[Any], Any]

_SCALARS: dict[Any, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
}
GRADES = pa.list_(pa.struct([("id", pa.string()), ("grade", pa.float64())]))


@functools.lru_cache(maxsize=2_048)
def arrow_type(annotation: Any) -> pa.DataType:
    """The Arrow type for values of a Python annotation; TypeError if there is none."""
    annotation = _without_none(annotation)
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal or _is_coded_text(annotation):
        return pa.string()
    if origin is list:
        return pa.list_(arrow_type(arguments[0]))
    if origin is dict and arguments == (str, float):
        return GRADES
    if origin is dict:
        return pa.string()
    if dataclasses.is_dataclass(annotation):
        hints = typing.get_type_hints(annotation)
        return pa.struct([(f.name, arrow_type(hints[f.name])) for f in dataclasses.fields(annotation)])
    raise TypeError(f"{annotation!r} has no Arrow type")


def encoder(annotation: Any) -> Convert | None:
    """The function that converts a Python value for pyarrow; None if no conversion is needed."""
    return _converter(annotation, _encode_dataclass, _encode_dict, _encode_text)


def decoder(annotation: Any) -> Convert | None:
    """The function that converts a value from `to_pylist` to the Python value."""
    return _converter(annotation, _decode_dataclass, _decode_dict, lambda kind: kind.from_text)


def _converter(
    annotation: Any,
    on_dataclass: Callable[[Any], Convert],
    on_dict: Callable[[Any], Convert],
    on_text: Callable[[Any], Convert],
) -> Convert | None:
    annotation = _without_none(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list:
        inner = _converter(arguments[0], on_dataclass, on_dict, on_text)
        if inner is None:
            return None
        return lambda value: None if value is None else [inner(item) for item in _as_list(value)]
    if origin is dict:
        convert = on_dict(arguments)
    elif dataclasses.is_dataclass(annotation):
        convert = on_dataclass(annotation)
    elif _is_coded_text(annotation):
        convert = on_text(annotation)
    else:
        return None
    return lambda value: None if value is None else convert(value)


def _encode_dataclass(kind: Any) -> Convert:
    names = [f.name for f in dataclasses.fields(kind)]
    hints = typing.get_type_hints(kind)
    inner = {name: encoder(hints[name]) for name in names}
    return lambda value: {
        name: convert(getattr(value, name)) if (convert := inner[name]) else getattr(value, name) for name in names
    }


def _decode_dataclass(kind: Any) -> Convert:
    hints = typing.get_type_hints(kind)
    inner = [(name, convert) for name, hint in hints.items() if (convert := decoder(hint))]
    if not inner:
        return lambda value: kind(**value)
    return lambda value: kind(**{**value, **{name: convert(value[name]) for name, convert in inner}})


def _is_coded_text(annotation: Any) -> bool:
    """Whether a class is stored as a text: it has `to_text` and `from_text`."""
    return isinstance(annotation, type) and hasattr(annotation, "to_text") and hasattr(annotation, "from_text")


def _encode_text(kind: Any) -> Convert:
    return lambda value: value.to_text() if isinstance(value, kind) else value


def _as_list(value: Any) -> Any:
    if isinstance(value, str | bytes):
        raise TypeError("a text where there must be a list")
    return value


def _encode_dict(arguments: tuple[Any, ...]) -> Convert:
    if arguments == (str, float):
        return lambda value: [{"id": key, "grade": grade} for key, grade in sorted(value.items())]
    return canonical_json


def _decode_dict(arguments: tuple[Any, ...]) -> Convert:
    if arguments == (str, float):
        return lambda value: {item["id"]: item["grade"] for item in value}
    return json.loads


def canonical_json(value: Any) -> str:
    """JSON with one spelling for equal values, so that texts can be hashed and compared."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _without_none(annotation: Any) -> Any:
    """`X | None` as `X`: every Arrow column may hold nulls."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        rest = [argument for argument in typing.get_args(annotation) if argument is not type(None)]
        if len(rest) == 1:
            return rest[0]
    return annotation
