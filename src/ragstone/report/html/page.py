"""Render page data to one HTML file. Templates escape all data; the policy allows only our style and script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from ragstone._version import __version__
from ragstone.report.html.sample_data import cut_for_print
from ragstone.report.text import numbered, visible

# Characters that end a script element, open a comment, or break a line in JavaScript but not in JSON.
_UNSAFE_IN_SCRIPT = re.compile("[<>&\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def render_page(template: str, data: Mapping[str, Any], embedded: Mapping[str, Any]) -> str:
    """The whole file. `embedded` holds the same data for programs, as JSON inside the page."""
    style, script = _asset("style.css"), _asset("script.js")
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


def script_json(value: Any) -> Markup:
    """JSON that is safe inside a script element, for any text."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return Markup(_UNSAFE_IN_SCRIPT.sub(lambda match: f"\\u{ord(match[0]):04x}", written))  # noqa: S704  (escaped)


def breakable(name: str) -> Markup:
    """A metric name that may break after a dot, an underscore or a bracket."""
    return Markup("<wbr>").join(re.split(r"(?<=[._(@])(?=.)", visible(name)))


def _policy(style: str, script: str) -> str:
    """Allow only the style and the script inside the page; block all other loading, sending and execution."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _asset(name: str) -> str:
    return (resources.files("ragstone.report.html") / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(lambda name: _asset(f"templates/{name}")),
        # Text from data cannot change the direction of writing. Markup values come from our own code.
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = lambda number: f"{number:,}"
    environment.filters["cut_for_print"] = cut_for_print
    environment.filters["breakable"] = breakable
    environment.filters["numbered"] = lambda numbers, word: numbered(word, numbers)
    return environment
