"""The chart of a series: means per period with the band of their intervals, alarms, and changes of the judge.

Also the page of a watch with all its series.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ragstone.report.html.charts import Scale, element, line, picture, round_step, short, text
from ragstone.report.html.page import render_page
from ragstone.views.series import SeriesView

_SIZE = (560.0, 230.0)
_LEFT, _RIGHT, _TOP, _FLOOR = 42.0, 14.0, 26.0, 26.0
# The vertical axis spans at least this share of the bounds, so that noise does not look like a change.
_LEAST_SPAN = 0.2
# With more points, only the open one and alarms have a dot.
_MOST_DOTS = 45
_MOST_DATES = 4


def series_chart(metric: Mapping[str, Any]) -> Markup:
    """Points (period, estimate, low, high, complete), alarms (since, worse, direction) and breaks of one metric."""
    points: Sequence[Mapping[str, Any]] = metric["points"]
    known = [(at, point) for at, point in enumerate(points) if point["estimate"] is not None]
    width, height = _SIZE
    floor = height - _FLOOR
    if not known:
        return picture(width, height, f"{metric['metric']}: no values", class_="curve series")
    over = Scale(0.0, float(max(1, len(points) - 1)), _LEFT + 6, width - _RIGHT)
    up = vertical_scale(metric, [point for _, point in known], Scale(0.0, 1.0, floor, _TOP))
    parts = [line(_LEFT, up(tick), width - _RIGHT, up(tick), "grid") for tick in up.ticks()]
    parts += [text(_LEFT - 6, up(tick) + 4, short(tick), "end") for tick in up.ticks()]
    parts += _dates(points, over, height)
    parts.append(line(_LEFT, floor, width - _RIGHT, floor, "axis"))
    places = {point["period"]: at for at, point in enumerate(points)}
    for period in metric["breaks"]:
        if period in places:
            x = over(places[period])
            parts += [line(x, _TOP, x, floor, "limit"), text(x, floor - 5, "judge changed", _anchor(x), "count")]
    for run in _stretches(known):
        parts += _stretch(run, over, up)
    parts += [
        mark for alarm in metric["alarms"] if alarm["since"] in places for mark in _alarm(alarm, places, over, up)
    ]
    marked = {alarm["since"] for alarm in metric["alarms"]}
    for at, point in known:
        if len(known) <= _MOST_DOTS or not point["complete"] or point["period"] in marked:
            tone = " unsure" if not point["complete"] else ""
            parts.append(element("circle", cx=over(at), cy=up(point["estimate"]), r=3.5, class_=f"dot{tone}"))
    return picture(width, height, _describe(metric, [point for _, point in known]), *parts, class_="curve series")


def vertical_scale(metric: Mapping[str, Any], known: Sequence[Mapping[str, Any]], place: Scale) -> Scale:
    """The vertical axis at a place: round numbers around all intervals, within the bounds of the metric."""
    ends = [end for point in known for end in (point["low"], point["high"], point["estimate"]) if end is not None]
    low, high = min(ends), max(ends)
    least, most = metric["bounds"]
    bounded = least is not None and most is not None
    span = max(high - low, _LEAST_SPAN * (most - least) if bounded else 0.0) or 1.0
    step = round_step(span / 4)
    middle = (low + high) / 2
    bottom = math.floor(min(low, middle - span / 2) / step + 1e-9) * step
    top = math.ceil(max(high, middle + span / 2) / step - 1e-9) * step
    if bounded:
        bottom, top = max(bottom, least), min(top, most)
    return Scale(bottom, top, place.left, place.right)


def _dates(points: Sequence[Mapping[str, Any]], over: Scale, height: float) -> list[Markup]:
    last = len(points) - 1
    count = min(_MOST_DATES, len(points))
    places = sorted({round(last * number / max(1, count - 1)) for number in range(count)})
    # Dates without their year.
    return [
        text(over(at), height - 8, re.sub(r"^\d{4}-", "", points[at]["period"]), _anchor(over(at))) for at in places
    ]


def _anchor(x: float) -> str:
    return "end" if x > _SIZE[0] - 80 else "start" if x < 100 else "middle"


def _stretches(known: Sequence[tuple[int, Mapping[str, Any]]]) -> list[list[tuple[int, Mapping[str, Any]]]]:
    """Runs of neighbouring periods: a period without a value is a gap in the line."""
    runs: list[list[tuple[int, Mapping[str, Any]]]] = []
    for at, point in known:
        if runs and runs[-1][-1][0] == at - 1:
            runs[-1].append((at, point))
        else:
            runs.append([(at, point)])
    return runs


def _stretch(run: Sequence[tuple[int, Mapping[str, Any]]], over: Scale, up: Scale) -> list[Markup]:
    held = [(at, point) for at, point in run if point["low"] is not None and point["high"] is not None]
    parts = []
    if len(held) > 1:
        upper = [f"{over(at):.1f},{up(point['high']):.1f}" for at, point in held]
        lower = [f"{over(at):.1f},{up(point['low']):.1f}" for at, point in reversed(held)]
        parts.append(element("polygon", points=" ".join([*upper, *lower]), class_="band"))
    else:
        parts += [line(over(at), up(point["low"]), over(at), up(point["high"]), "interval") for at, point in held]
    if len(run) > 1:
        path = " ".join(f"{over(at):.1f},{up(point['estimate']):.1f}" for at, point in run)
        parts.append(element("polyline", points=path, class_="trace"))
    return parts


def _alarm(alarm: Mapping[str, Any], places: Mapping[str, int], over: Scale, up: Scale) -> list[Markup]:
    """A line at the first period of the new level, and its arrow above."""
    x, tone = over(places[alarm["since"]]), "bad" if alarm["worse"] else "good" if alarm["worse"] is False else "none"
    sign = "▼" if alarm["direction"] == "lower" else "▲"
    return [
        line(x, _TOP - 4, x, up(up.low), f"alarm {tone}"),
        text(x, _TOP - 9, f"{sign} seems {alarm['direction']}", _anchor(x), f"said {tone}"),
    ]


def _describe(metric: Mapping[str, Any], known: Sequence[Mapping[str, Any]]) -> str:
    first, last = known[0], known[-1]
    words = f"{metric['metric']} over {len(known)} periods: {short(first['estimate'])} in {first['period']}"
    if len(known) > 1:
        words += f", {short(last['estimate'])} in {last['period']}"
    alarms = [f"seems {alarm['direction']} since {alarm['since']}" for alarm in metric["alarms"]]
    return "; ".join([words, *alarms])


def watch_html(view: SeriesView, name: str) -> str:
    """One self-contained file."""
    embedded = {"schema": "ragstone.watch", "version": 1, **view.as_dict()}
    drawn = {"title": f"Watch {name}", "name": name, "ready": True, "series_chart": series_chart}
    return render_page("watch.html", {**drawn, **view.page()}, embedded)
