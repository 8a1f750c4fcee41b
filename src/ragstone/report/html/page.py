"""Render page data to one HTML file. Templates escape all data; the policy allows only our style and script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from ragstone._version import __version__
from ragstone.report.html.sample_data import Piece
from ragstone.report.text import numbered, visible

# Characters that end a script element, open a comment, or break a line in JavaScript but not in JSON.
_UNSAFE_IN_SCRIPT = re.compile("[<>&\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def render_page(template: str, data: Mapping[str, Any], embedded: Mapping[str, Any]) -> str:
    """The whole file. `embedded` holds the same data for programs, as JSON inside the page."""
    style, script = read_asset("style.css"), read_asset("script.js")
    text = (
        _environment()
        .get_template(template)
        .render(
            **data,
            version=__version__,
            policy=_policy(style, script),
            style=Markup(style),  # noqa: S704  (our own file)
            script=Markup(script),  # noqa: S704
            embedded=script_json(embedded),
        )
    )
    # JSON may contain half a surrogate pair, which UTF-8 does not allow.
    return text.encode("utf-8", "replace").decode("utf-8")


def render_fragment(template: str, data: Mapping[str, Any]) -> str:
    """A part of a page without style and script, for notebooks."""
    text = _environment().get_template(template).render(**data)
    return text.encode("utf-8", "replace").decode("utf-8")


def script_json(value: Any) -> Markup:
    """JSON that is safe inside a script element, for any text."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return Markup(_UNSAFE_IN_SCRIPT.sub(lambda match: f"\\u{ord(match[0]):04x}", written))  # noqa: S704  (escaped)


def breakable(name: str) -> Markup:
    """A metric name that may break after a dot, an underscore or a bracket."""
    return Markup("<wbr>").join(re.split(r"(?<=[._(@])(?=.)", visible(name)))


def _cut_for_print(text: str | Sequence[Piece], most: int) -> Iterator[tuple[Piece, bool]]:
    """Parts of a text, and whether they are printed: marks and what is near them, or the first `most` characters."""
    pieces = [Piece(text)] if isinstance(text, str) else list(text)
    marked = [place for place, piece in enumerate(pieces) if piece.numbers]
    left = 3 * most
    for place, piece in enumerate(pieces):
        if piece.numbers:
            yield piece, left > 0
            left -= len(piece.text)
            continue
        head = most if not marked else most // 2 if place > marked[0] else 0
        tail = most // 2 if marked and place < marked[-1] else 0
        for part, printed in _split(piece.text, min(head, max(0, left)), min(tail, max(0, left))):
            yield Piece(part), printed
            left -= len(part) if printed else 0


def _split(text: str, head: int, tail: int) -> Iterator[tuple[str, bool]]:
    """The start, the middle that is not printed, and the end, cut between words if possible."""
    if len(text) <= head + tail + 80:
        yield text, True
        return
    start = text.rfind(" ", head // 2, head) + 1 or head
    end = max(text.find(" ", len(text) - tail, len(text) - tail // 2), len(text) - tail)
    for part, printed in ((text[:start], True), (text[start:end], False), (text[end:], True)):
        if part:
            yield part, printed


def _policy(style: str, script: str) -> str:
    """Allow only the style and the script inside the page; block all other loading, sending and execution."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def read_asset(name: str) -> str:
    """A file of this package."""
    return (resources.files("ragstone.report.html") / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(lambda name: read_asset(f"templates/{name}")),
        # Text from data cannot change the direction of writing. Markup values come from our own code.
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = lambda number: f"{number:,}"
    environment.filters["cut_for_print"] = _cut_for_print
    environment.filters["breakable"] = breakable
    environment.filters["numbered"] = lambda numbers, word: numbered(word, numbers)
    return environment
