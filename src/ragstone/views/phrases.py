"""Words that all outputs share: text from data made safe to show, counted nouns, names by reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Control characters except tab and newline, and the marks that override the direction of writing.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Replace control characters by visible codes: an escape becomes a backslash and x1b."""
    return _UNSAFE.sub(_code, text.replace("\r\n", "\n"))


def _code(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


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
