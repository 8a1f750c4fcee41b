"""From page data to one file: templates that escape everything, a policy that allows nothing but our own style and script."""

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
from ragstone.report.html.evidence import counted
from ragstone.report.plain import visible

# What could end a script element, open a comment, or is no line in JSON but one in JavaScript.
_UNSAFE_IN_SCRIPT = re.compile("[<>&\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def render_page(template: str, data: Mapping[str, Any], embedded: Mapping[str, Any]) -> str:
    """The whole file; `embedded` is the same for programs, as JSON within the page."""
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
    # Half a surrogate pair, which JSON can carry, has no place in UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def script_json(value: Any) -> Markup:
    """JSON that can stand in a script element whatever its texts are."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return Markup(_UNSAFE_IN_SCRIPT.sub(lambda found: f"\\u{ord(found[0]):04x}", written))  # noqa: S704  (escaped)


def breakable(name: str) -> Markup:
    """A metric's name that a narrow column may break after a dot, a line or a bracket."""
    return Markup("<wbr>").join(re.split(r"(?<=[._(@])(?=.)", visible(name)))


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded, sent or run, but the style and the script that stand in the page."""
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
        # Text from data cannot turn the direction of writing or hide; what is markup already was made by us.
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = lambda number: f"{number:,}"
    environment.filters["breakable"] = breakable
    environment.filters["counted"] = lambda numbers, kind: counted(kind, numbers)
    return environment
