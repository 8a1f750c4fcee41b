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
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from ragstone._version import __version__
from ragstone.report.html import charts
from ragstone.report.html.charts import element, line, picture, short
from ragstone.report.html.page import breakable
from ragstone.report.html.series_chart import series_chart
from ragstone.report.text import visible
from ragstone.web.marked_text import marked_text

HUES = 8
_BARS = (168.0, 40.0)
_TREND = (132.0, 28.0)


def hue(number: int) -> str:
    """Return the CSS class for the colour of a fact, by its number from 1."""
    return f"hue{(number - 1) % HUES}"


def strip(
    mean: float | None, low: float | None, high: float | None, tone: str = "", ends: tuple[float, float] = (0.0, 1.0)
) -> Markup:
    """Draw a mean with its confidence interval on a line."""
    return charts.interval_strip(charts.strip_scale(*ends), mean, low, high, tone)


def bars(spread: Mapping[str, Any]) -> Markup:
    """Draw a histogram with equal bins from `low` to `high`."""
    counts: Sequence[int] = spread["counts"]
    width, height = _BARS
    most = max(counts, default=0)
    each = width / max(1, len(counts))
    drawn = [
        element(
            "rect",
            x=position * each + 0.5,
            y=height - 1 - tall,
            width=each - 1,
            height=tall,
            class_="bar",
        )
        for position, count in enumerate(counts)
        if count and (tall := max(1.5, (height - 4) * count / most))
    ]
    quarter = max(1, len(counts) // 4)
    step = (spread["high"] - spread["low"]) / 4
    summary = ", ".join(
        f"{sum(counts[part * quarter : (part + 1) * quarter]):,} from {short(spread['low'] + part * step)}"
        for part in range(4)
    )
    axis = line(0, height - 0.5, width, height - 0.5, "axis")
    return picture(width, height, f"distribution: {summary}" if most else "no values", *drawn, axis, class_="bars")


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
    words = f"{len(known)} runs, from {known[0][1]:.3f} to {known[-1][1]:.3f}"
    return picture(width, height, words, *drawn, class_="trend")


# The scripts of the ground-truth editor.
_EDITOR = ("draft", "editor", "sources", "passages", "queue", "signing")
_STATIC = {
    "report.css": ("ragstone.report.html", "style.css", "text/css"),
    "viewer.css": ("ragstone.web", "static/viewer.css", "text/css"),
    "compare.css": ("ragstone.web", "static/compare.css", "text/css"),
    "viewer.js": ("ragstone.web", "static/viewer.js", "text/javascript"),
    "sample.css": ("ragstone.web", "static/sample.css", "text/css"),
    "sample.js": ("ragstone.web", "static/sample.js", "text/javascript"),
    "live.js": ("ragstone.web", "static/live.js", "text/javascript"),
    "editor.css": ("ragstone.web", "static/editor.css", "text/css"),
    **{f"{name}.js": ("ragstone.web", f"static/{name}.js", "text/javascript") for name in _EDITOR},
    "icon.svg": ("ragstone.web", "static/icon.svg", "image/svg+xml"),
}


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
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(lambda name: _read("ragstone.web", f"templates/{name}").decode()),
        # Control and bidirectional characters in data become visible codes. Markup is our own.
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"thousands": lambda number: f"{number:,}", "breakable": breakable, "tone": hue}
    environment.filters |= {"json": lambda data: page_json(data).decode(), "exact": escape}
    environment.tests |= {"match_kind": lambda key, fact: key.startswith("fact-") is fact}
    environment.globals |= {
        "strip": strip,
        "tradeoff": charts.tradeoff,
        "series_chart": series_chart,
        "strip_axis": lambda low, high: charts.strip_axis(charts.strip_scale(low, high)),
        "bars": bars,
        "trend": trend,
        "marked": marked_text,
        "share_bar": charts.bar,
        "stacked": charts.stacked,
    }
    return environment
