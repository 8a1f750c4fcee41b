"""Text and numbers for reports. Text from data is made safe to print: it cannot send commands to the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragstone.views.phrases import visible

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.padding import Padding
    from rich.text import Text

# The characters that `visible` replaces, as an expression for Arrow.
HIDDEN_CHARACTERS = (
    r"[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}\x{200e}\x{200f}\x{2028}\x{2029}\x{202a}-\x{202e}\x{2066}-\x{2069}]"
)
# The same without the characters that JSON escapes.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


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


def to_json(value: Any) -> str:
    """JSON for programs that is also safe to print on a terminal."""
    written = json.dumps(value, indent=2, ensure_ascii=False)
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", written)
