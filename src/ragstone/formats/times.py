"""Points in time as logs spell them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any


def as_time(value: Any) -> str | None:
    """A point in time as ISO text in UTC; None if it is none. Numbers are seconds, or milliseconds if they are large."""
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
    """From 1973 on: smaller numbers count something else."""
    if not 1e8 <= value < 1e20:
        return None
    while value > 1e11:  # milliseconds, microseconds, nanoseconds
        value /= 1000
    return datetime.fromtimestamp(value, UTC)
