"""From page data to HTML or JSON: templates that escape everything, and the same data for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import escape

from ragstone._version import __version__
from ragstone.report.html import plots
from ragstone.report.html.page import breakable
from ragstone.report.plain import visible
from ragstone.web import drawing

# The scripts of the editor of ground truth: the edits that are kept, a case, its texts, the queue, who signs, rescoring.
_EDITOR = ("draft", "editor", "sources", "queue", "signing", "rescore")
_STATIC = {
    "report.css": ("ragstone.report.html", "style.css", "text/css"),
    "viewer.css": ("ragstone.web", "static/viewer.css", "text/css"),
    "viewer.js": ("ragstone.web", "static/viewer.js", "text/javascript"),
    "editor.css": ("ragstone.web", "static/editor.css", "text/css"),
    **{f"{name}.js": ("ragstone.web", f"static/{name}.js", "text/javascript") for name in _EDITOR},
    "icon.svg": ("ragstone.web", "static/icon.svg", "image/svg+xml"),
}


def page_html(template: str, data: Mapping[str, Any]) -> bytes:
    """A whole page."""
    text = _environment().get_template(template).render(**data, version=__version__)
    # Half a surrogate pair, which JSON can carry, has no place in UTF-8.
    return text.encode("utf-8", "replace")


def page_json(data: Any) -> bytes:
    """The same data for programs."""
    return json.dumps(plain(data), ensure_ascii=True, allow_nan=False).encode()


def plain(value: Any) -> Any:
    """Page data as JSON knows it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def static_file(name: str) -> tuple[bytes, str] | None:
    """One of our own files and its kind; None for any other name."""
    if name not in _STATIC:
        return None
    package, path, kind = _STATIC[name]
    return _read(package, path), kind


@cache
def _read(package: str, path: str) -> bytes:
    return (resources.files(package) / path).read_bytes()


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(lambda name: _read("ragstone.web", f"templates/{name}").decode()),
        # Text from data cannot turn the direction of writing or hide; what is markup already was made by us.
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"thousands": lambda number: f"{number:,}", "breakable": breakable, "tone": drawing.hue}
    environment.filters |= {"json": lambda data: page_json(data).decode(), "exact": escape}
    environment.globals |= {
        "strip": drawing.strip,
        "strip_axis": lambda low, high: plots.strip_axis(plots.strip_scale(low, high)),
        "bars": drawing.bars,
        "trend": drawing.trend,
        "share_bar": plots.bar,
        "stacked": plots.stacked,
    }
    return environment
