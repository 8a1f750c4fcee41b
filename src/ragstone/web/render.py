"""Renders page data as HTML or JSON, draws the small charts of the viewer, and serves its static files.

All data is HTML-escaped; control characters and bidirectional marks are shown as visible codes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup, escape

from ragstone._version import __version__
from ragstone.number_format import number
from ragstone.report.html.charts import element, picture
from ragstone.report.html.marked_text import marked_text
from ragstone.report.html.page import make_environment
from ragstone.report.html.series_chart import series_chart
from ragstone.web.row_plots import agreement_plot, count_agreements, legend_marks, scatter_plot
from ragstone.web.run_trend import trend_chart

_TREND = (132.0, 28.0)


def trend(values: Sequence[float | None], here: int | None = None) -> Markup:
    """Draw values from the oldest to the newest as a small line; one of them is highlighted."""
    width, height = _TREND
    known = [(position, value) for position, value in enumerate(values) if value is not None]
    if not known:
        return picture(width, height, "no values", class_="trend")
    step = (width - 8) / max(1, len(values) - 1)
    least, most = min(value for _, value in known), max(value for _, value in known)
    # The vertical axis spans at least 0.1, so that noise does not look like a change.
    middle, reach = (least + most) / 2, max(0.1, most - least)
    points = [(4 + at * step, height / 2 - (height - 8) * (value - middle) / reach) for at, value in known]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    drawn = [element("polyline", points=path, class_="course")]
    for (position, _), (x, y) in zip(known, points, strict=True):
        drawn.append(element("circle", cx=x, cy=y, r=3.5 if position == here else 1.5, class_="dot"))
    words = f"{len(known)} runs, from {number(known[0][1])} to {number(known[-1][1])}"
    return picture(width, height, words, *drawn, class_="trend")


_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_OWN = (
    *("viewer.css", "compare.css", "sample.css", "editor.css", "icon.svg"),
    *("viewer.js", "sample.js", "filter.js", "labels.js", "brush.js", "live.js"),
    # The scripts of the ground-truth editor.
    *("draft.js", "editor.js", "sources.js", "passages.js", "queue.js", "signing.js"),
)
_STATIC = {name: ("ragstone.web", f"static/{name}", _TYPES[name.partition(".")[2]]) for name in _OWN}
_STATIC["report.css"] = ("ragstone.report.html", "style.css", "text/css")


def page_html(template: str, data: Mapping[str, Any]) -> bytes:
    """Render a page as HTML."""
    text = _environment().get_template(template).render(**data, version=__version__)
    # JSON can contain lone surrogates, UTF-8 cannot.
    return text.encode("utf-8", "replace")


def page_json(data: Any) -> bytes:
    """Render page data as JSON."""
    return json.dumps(_to_json(data), ensure_ascii=True, allow_nan=False).encode()


def _to_json(value: Any) -> Any:
    """Convert page data to JSON types; NaN and infinity become None."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: _to_json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_to_json(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def static_file(name: str) -> tuple[bytes, str] | None:
    """Return a static file and its media type; None if the name is unknown."""
    if name not in _STATIC:
        return None
    package, path, kind = _STATIC[name]
    return _read(package, path), kind


@cache
def _read(package: str, path: str) -> bytes:
    return (resources.files(package) / path).read_bytes()


@cache
def _environment() -> Environment:
    environment = make_environment(_template)
    environment.filters |= {"json": lambda data: page_json(data).decode(), "exact": escape}
    environment.tests |= {"match_kind": lambda key, fact: key.startswith("fact-") is fact}
    environment.globals |= {"series_chart": series_chart, "draw_trend": trend, "marked": marked_text, "live": True}
    environment.globals |= {"scatter_plot": scatter_plot, "legend_marks": legend_marks, "trend_chart": trend_chart}
    environment.globals |= {"agreement_plot": agreement_plot, "count_agreements": count_agreements}
    environment.globals["layout"] = "viewer.html"
    return environment


def _template(name: str) -> str:
    """A template of the viewer, otherwise one of the reports: both draw a run and a comparison with the same ones."""
    own = (resources.files("ragstone.web") / "templates" / name).is_file()
    return _read("ragstone.web" if own else "ragstone.report.html", f"templates/{name}").decode()
