"""Plain Python values, and their names in messages.

Parses the timestamps of logs.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from ragstone.data import codec

# Common names of the time of a log row, the more specific first.
TIME_NAMES = (
    *("time", "timestamp", "created_at", "start_time", "datetime", "date_time", "createdAt", "created", "@timestamp"),
    *("event_time", "request_time", "asked_at", "logged_at", "ts", "when", "date", "day"),
)
_MOST_COLUMNS = 12
# Types that need no conversion; most values have one of them, so this check saves time.
PLAIN = frozenset({str, list, dict, bool, int})
_KINDS = {str: "text", dict: "a mapping", list: "a list", tuple: "a list", bool: "true/false", type(None): "nothing"}


class Unfit(Exception):  # noqa: N818  (formats also store it in place of a value)
    """A value does not fit its field; with the reason and a hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


class RepeatedKeyError(Unfit, ValueError):
    """A JSON object has a key twice, with different values."""

    # Where the object begins, if it is known.
    at: int | None = None


def load_json(text: str) -> Any:
    """The value of JSON text; a RepeatedKeyError if an object gives one key two values."""
    return codec.load_json(text, one_value_per_key)


def one_value_per_key(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs."""
    found = dict(pairs)
    if len(found) < len(pairs):
        for key, value in pairs:
            if found[key] != value:
                raise RepeatedKeyError(f"has {key!r} twice, with different values", "keep one of them, or rename one")
    return found


def plain(value: Any) -> Any:
    """Converts numpy scalars and arrays, decimals, bytes, UUIDs and NaN to plain Python."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, Decimal):
        return int(value) if value.is_finite() and value == value.to_integral_value() else plain(float(value))
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):  # a text that its writer did not mark as such; an image is none
            return value.decode()
    if isinstance(value, UUID):
        return str(value)
    if hasattr(value, "tolist") and not isinstance(value, memoryview):
        return plain(value.tolist())
    return value


def kind_of(value: Any) -> str:
    """The kind of a value in everyday words."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a number"
    return _KINDS.get(type(value), type(value).__name__)


def shown(value: Any) -> str:
    """A value for a message: quoted and shortened."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def lift(values: Mapping[str, Any], path: str) -> dict[str, Any]:
    """A row whose part `retrieval.hits` is a column of that name, unless there is such a column."""
    first, _, rest = path.partition(".")
    inner = values.get(first)
    if path in values or not isinstance(inner, Mapping) or rest not in (others := lift(inner, rest)):
        return dict(values)
    lifted = {**values, path: others.pop(rest), first: others}
    return lifted if others else {name: value for name, value in lifted.items() if name != first}


def find_time(metadata: Mapping[str, Any]) -> str | None:
    """The first timestamp under a common name, as `as_time` writes it; None if there is none."""
    times = (as_time(metadata[name]) for name in TIME_NAMES if name in metadata)
    return next((time for time in times if time is not None), None)


def watch_times(columns: dict[str, bool], metadata: Mapping[str, Any]) -> None:
    """Adds the columns of a row, each with whether all of its values so far are texts that are times."""
    for name, value in metadata.items():
        is_text = isinstance(value, str) and not value.strip().isdigit()
        columns[name] = columns.get(name, True) and is_text and as_time(value) is not None


def no_time_note(missing: int, total: int, what: str, columns: Mapping[str, bool], advice: str) -> str:
    """A note about log rows without a readable time, with the columns of `watch_times` and the option that names one."""
    names, times = sorted(columns), sorted(name for name in columns if columns[name])
    some = ", ".join(names[:_MOST_COLUMNS]) + ("…" if len(names) > _MOST_COLUMNS else "")
    listed = f" (columns: {some})" if names else ""
    options = " or ".join(shlex.join(["--map", f"time={name}"]) for name in times or ["COLUMN"])
    return f"{missing:,} of {total:,} {what} have no time that can be read{listed}; {advice}: {options}"


def as_time(value: Any) -> str | None:
    """A timestamp as ISO text in UTC; None if it is not one. Numbers are seconds, or smaller units if they are large."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip().replace(" UTC", "+00:00"))
        except ValueError:
            value = float(value) if re.fullmatch(r"\d{9,19}(?:\.\d+)?", value.strip()) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = _from_number(value)
    if not isinstance(value, datetime):
        return None
    try:
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except OverflowError:  # at the ends of the calendar
        return None


def _from_number(value: float) -> datetime | None:
    """A time after 1973; smaller numbers are not timestamps."""
    if not 1e8 <= value < 1e20:
        return None
    while value > 1e11:  # milliseconds, microseconds, nanoseconds
        value /= 1000
    return datetime.fromtimestamp(value, UTC)


def size_of(row: Mapping[str, Any]) -> int:
    """Approximate size of a row in bytes."""
    lists = (value for value in row.values() if isinstance(value, list))
    texts = sum(len(value) for value in row.values() if isinstance(value, str))
    return 200 + texts + sum(_length(item) for value in lists for item in value)


def _length(item: Any) -> int:
    if isinstance(item, dict):
        # The chunks of an earlier message or of a step are as long as those of the sample.
        inner = item.get("contexts")
        return len(item.get("text") or "") + 40 + (sum(map(_length, inner)) if inner else 0)
    return len(item) if isinstance(item, str | list) else 8
