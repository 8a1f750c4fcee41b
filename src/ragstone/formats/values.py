"""Plain Python values, and words for what they are."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

# Types that need no unwrapping; most values are one of them, and asking costs less than trying.
PLAIN = frozenset({str, list, dict, bool, int})
_KINDS = {str: "text", dict: "a mapping", list: "a list", tuple: "a list", bool: "true/false", type(None): "nothing"}


class Unfit(Exception):  # noqa: N818  (a value's state as much as an error: formats leave it in the value's place)
    """A value does not fit its field: why, and what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


def plain(value: Any) -> Any:
    """Numpy scalars and arrays, decimals and NaN as plain Python."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, Decimal):
        return plain(float(value))
    if hasattr(value, "tolist") and not isinstance(value, memoryview):
        return plain(value.tolist())
    return value


def storable(text: str) -> str:
    """Half a UTF-16 pair (JSON can spell one) cannot be stored; it becomes a question mark."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def kind_of(value: Any) -> str:
    """What a value is, in a word that a person who does not program knows."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a number"
    return _KINDS.get(type(value), type(value).__name__)


def shown(value: Any) -> str:
    """A value as it stands in a message: quoted, and not too long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
