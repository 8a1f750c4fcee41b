"""Text and numbers for reports. Text from data is made safe to print: it cannot send commands to the terminal."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.padding import Padding
    from rich.text import Text

# Control characters except tab and newline, and the marks that override the direction of writing.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# The same as an expression for Arrow.
HIDDEN_CHARACTERS = (
    r"[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}\x{200e}\x{200f}\x{2028}\x{2029}\x{202a}-\x{202e}\x{2066}-\x{2069}]"
)
# The same without the characters that JSON escapes.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Replace control characters by visible codes: an escape becomes a backslash and x1b."""
    return _UNSAFE.sub(_code, text.replace("\r\n", "\n"))


def _code(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def plain(text: str, style: str = "") -> Text:
    """Text from data as rich text: no markup, no control characters."""
    from rich.text import Text  # noqa: PLC0415  (JSON output needs no rich)

    return Text(visible(text), style=style)


def indented(text: str, style: str = "") -> Padding:
    """Text from data; every line starts two columns to the right."""
    from rich.padding import Padding  # noqa: PLC0415

    return Padding(plain(text, style), (0, 0, 0, 2), expand=False)


def title(text: str) -> Text:
    """The bold title of a section, after an empty line."""
    return plain(f"\n{text}", "bold")


def section(heading: str, lines: Iterable[str]) -> Iterator[RenderableType]:
    """A title and its lines, indented. Nothing if there are no lines."""
    listed = list(lines)
    if listed:
        yield title(heading)
    yield from map(indented, listed)


def by_reason(reasons: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names grouped by reason, from (name, reason) pairs. Empty reasons are left out."""
    groups: dict[str, list[str]] = {}
    for name, reason in reasons:
        if reason:
            groups.setdefault(reason, []).append(name)
    return groups


def counted(count: int, word: str) -> str:
    """A number with its noun: 1 question, 2 questions."""
    return f"{count:,} {word}{'s' if count != 1 else ''}"


def numbered(word: str, numbers: Sequence[int]) -> str:
    """A noun with numbers: `fact 2`, `facts 1, 3`."""
    return f"{word}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def one_line(text: str, most: int) -> str:
    """The start of a text on one line, at most `most` characters."""
    line = " ".join(visible(text).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


_PLACES, _MOST_PLACES = 3, 9
# Larger values have two significant digits or more with three decimals.
_SMALL = 0.1


def places_for(bounds: Sequence[float | None], *values: float | None) -> int:
    """The decimals of a metric: three, and more for one without an upper bound that is small, such as a price."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if bounds[1] is not None or not 0 < largest < _SMALL:
        return _PLACES
    return min(_MOST_PLACES, _PLACES - 1 - math.floor(math.log10(largest)))


def number(value: float | None, places: int = 3) -> str:
    """Three decimals, or a dash for None."""
    return "–" if value is None else f"{value:.{places}f}"


def signed(value: float | None, places: int = 3) -> str:
    """Three decimals with a sign, or a dash for None."""
    return "–" if value is None else f"{value:+.{places}f}" if round(value, places) else "0.000"


def p_value(p: float | None) -> str:
    """A p-value with three decimals, or `<0.001`."""
    return "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def interval_text(low: float | None, high: float | None, places: int = 3) -> str:
    """Both ends of an interval, or a dash."""
    return "–" if low is None or high is None else f"{low:.{places}f} – {high:.{places}f}"


def signed_interval(low: float | None, high: float | None, places: int = 3) -> str:
    """Both ends of the interval of a difference, or a dash."""
    return "–" if low is None or high is None else f"{signed(low, places)} to {signed(high, places)}"


def to_json(value: Any) -> str:
    """JSON for programs that is also safe to print on a terminal."""
    written = json.dumps(value, indent=2, ensure_ascii=False)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", written)
