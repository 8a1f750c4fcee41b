"""Text from data, made safe to print: it cannot move the cursor, colour the screen, or turn the direction of writing."""

from __future__ import annotations

import json
import re
from typing import Any

from rich.padding import Padding
from rich.text import Text

# Control characters but tab and new line, and the marks that override the direction of writing.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# What JSON leaves as it is.
_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """The text with what a terminal would obey spelled out: an escape is shown as a backslash and x1b."""
    return _UNSAFE.sub(_spelled, text.replace("\r\n", "\n"))


def plain(text: str, style: str = "") -> Text:
    """Text from data as it is: no markup, no control characters."""
    return Text(visible(text), style=style)


def indented(text: str, style: str = "") -> Padding:
    """Text from data, all of its lines two columns to the right."""
    return Padding(plain(text, style), (0, 0, 0, 2), expand=False)


def counted(count: int, word: str) -> str:
    """A number with its word: 1 question, 2 questions."""
    return f"{count:,} {word}{'s' if count != 1 else ''}"


def one_line(text: str, most: int) -> str:
    """The beginning of a text on one line."""
    line = " ".join(visible(text).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def to_json(value: Any) -> str:
    """JSON for programs that does no harm on a terminal either."""
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, indent=2, ensure_ascii=False))


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
