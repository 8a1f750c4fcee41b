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

_SCALARS: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
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
    if origin is dict:
        return GRADES if arguments == (str, float) else pa.string()
    if dataclasses.is_dataclass(annotation):
        hints = typing.get_type_hints(annotation)
        return pa.struct([(f.name, arrow_type(hints[f.name])) for f in dataclasses.fields(annotation)])
    raise TypeError(f"{annotation!r} has no Arrow type")


def encoder(annotation: Any) -> Convert | None:
    """The function that converts a Python value for pyarrow; None if no conversion is needed."""
    return _converter(annotation, encode=True)


def decoder(annotation: Any) -> Convert | None:
    """The function that converts a value from `to_pylist` to the Python value."""
    return _converter(annotation, encode=False)


def _converter(annotation: Any, encode: bool) -> Convert | None:
    annotation = _without_none(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    convert: Convert
    if origin is list:
        inner = _converter(arguments[0], encode)
        if inner is None:
            return None
        return lambda value: None if value is None else [inner(item) for item in _as_list(value)]
    if origin is dict and arguments != (str, float):
        convert = canonical_json if encode else json.loads
    elif origin is dict and encode:
        convert = lambda value: [{"id": key, "grade": grade} for key, grade in sorted(value.items())]  # noqa: E731
    elif origin is dict:
        convert = lambda value: {item["id"]: item["grade"] for item in value}  # noqa: E731
    elif dataclasses.is_dataclass(annotation):
        convert = _encode_dataclass(annotation) if encode else _decode_dataclass(annotation)
    elif not _is_coded_text(annotation):
        return None
    elif encode:
        convert = lambda value: value.to_text() if isinstance(value, annotation) else value  # noqa: E731
    else:
        convert = annotation.from_text
    return lambda value: None if value is None else convert(value)


def _encode_dataclass(kind: Any) -> Convert:
    hints = typing.get_type_hints(kind)
    inner = [(f.name, encoder(hints[f.name])) for f in dataclasses.fields(kind)]
    return lambda value: {
        name: convert(getattr(value, name)) if convert else getattr(value, name) for name, convert in inner
    }


def _decode_dataclass(kind: Any) -> Convert:
    inner = [(name, convert) for name, hint in typing.get_type_hints(kind).items() if (convert := decoder(hint))]
    if not inner:
        return lambda value: kind(**value)
    return lambda value: kind(**{**value, **{name: convert(value[name]) for name, convert in inner}})


def _is_coded_text(annotation: Any) -> bool:
    """Whether a class is stored as a text: it has `to_text` and `from_text`."""
    return isinstance(annotation, type) and hasattr(annotation, "to_text") and hasattr(annotation, "from_text")


def _as_list(value: Any) -> Any:
    if isinstance(value, str | bytes):
        raise TypeError("a text where there must be a list")
    return value


def canonical_json(value: Any) -> str:
    """JSON with one spelling for equal values, so that texts can be hashed and compared."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def storable(text: str) -> str:
    """Replaces lone surrogates, which JSON can contain but UTF-8 cannot, by a question mark."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def storable_value(value: Any) -> Any:
    """The same for all texts in lists and mappings, keys included."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable_value(key): storable_value(item) for key, item in value.items()}
    return [storable_value(item) for item in value] if isinstance(value, list | tuple) else value


def load_json(text: str | bytes, make_object: Convert | None = None) -> Any:
    """Foreign JSON whose texts can be stored. All that users, servers and models send is read with it."""
    if isinstance(text, bytes):  # json.loads would decode lone surrogates
        text = text.decode(json.detect_encoding(text))
    value = json.loads(text, object_pairs_hook=make_object)
    # Most texts have no such escape, and a search is faster than a look at every value.
    return storable_value(value) if "\\ud" in text or "\\uD" in text else value


def _without_none(annotation: Any) -> Any:
    """`X | None` as `X`: every Arrow column may contain nulls."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        rest = [argument for argument in typing.get_args(annotation) if argument is not type(None)]
        if len(rest) == 1:
            return rest[0]
    return annotation
