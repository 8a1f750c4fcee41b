"""Numbers for people, in all output: one rule decides the decimals of a value and of its interval together."""

from __future__ import annotations

import math
from collections.abc import Iterable

_PLACES, _MOST_PLACES = 3, 12
# Smaller values have three significant digits.
_SMALL = 0.01


def places_for(*values: float | None, ends: Iterable[float | None] = ()) -> int:
    """The decimals of values that are shown together: three, and more if all are small, such as prices per answer.

    The ends of their intervals get the same decimals; they decide only if all values are 0.
    """
    for group in (values, ends):
        largest = max((abs(value) for value in group if value is not None), default=0.0)
        if largest:
            return _PLACES if largest >= _SMALL else min(_MOST_PLACES, _PLACES - 1 - math.floor(math.log10(largest)))
    return _PLACES


def number(value: float | None, places: int | None = None) -> str:
    """Three decimals, more for a small value, or a dash for None."""
    return "–" if value is None else f"{value:.{places_for(value) if places is None else places}f}"


def signed(value: float | None, places: int = _PLACES) -> str:
    """A number with a sign, or a dash for None."""
    return "–" if value is None else f"{value:+.{places}f}" if round(value, places) else f"{0:.{places}f}"


def p_value(p: float | None) -> str:
    """A p-value with three decimals, or `<0.001`."""
    return "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def interval_text(low: float | None, high: float | None, places: int | None = None, joint: str = " – ") -> str:
    """Both ends of an interval, or a dash."""
    if low is None or high is None:
        return "–"
    shown = places_for(low, high) if places is None else places
    return f"{number(low, shown)}{joint}{number(high, shown)}"


def with_interval(value: float | None, low: float | None, high: float | None, joint: str = " – ") -> tuple[str, str]:
    """A value and its interval with the same decimals."""
    places = places_for(value, ends=(low, high))
    return number(value, places), interval_text(low, high, places, joint)


def signed_interval(low: float | None, high: float | None, places: int = _PLACES) -> str:
    """Both ends of the interval of a difference, or a dash."""
    return "–" if low is None or high is None else f"{signed(low, places)} to {signed(high, places)}"


def seconds(value: float) -> str:
    """A measured time in seconds with three digits: 0.045 s, 1.47 s, 12.3 s."""
    places = 3 if value < 0.1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{places}f} s"


def dollars(value: float) -> str:
    """A price: cents, or two significant digits if it is smaller."""
    places = 2 if value >= 0.1 or not value else min(_MOST_PLACES, 1 - math.floor(math.log10(value)))
    return f"${value:,.{0 if value >= 1000 else places}f}"


def duration(seconds: float) -> str:
    """A time for people: seconds, minutes from 90 seconds, hours from 90 minutes."""
    if seconds < 90:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 5400 else f"{seconds / 3600:,.1f} h"
