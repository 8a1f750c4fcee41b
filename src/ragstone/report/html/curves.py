"""Curves with bands: how a metric falls as something grows, for one system or two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from ragstone.report.html.svg import Scale, element, line, picture, short, text

_SIZE = (340.0, 190.0)
_LEFT, _RIGHT, _TOP, _FLOOR = 34.0, 12.0, 10.0, 26.0


class Spot(NamedTuple):
    """A point of a curve, with its interval where there is one."""

    x: float
    mean: float | None
    low: float | None
    high: float | None


class Series(NamedTuple):
    """One curve; the tone is that of the style sheet: `good` for the first, `bad` for the second, `none` for others."""

    name: str
    tone: str
    spots: Sequence[Spot]


def curve_plot(series: Sequence[Series], label: str, across: str, low: float = 0.0, high: float = 1.0) -> Markup:
    """Curves on one pair of axes, each with the band of its intervals."""
    width, height = _SIZE
    found = [spot.x for one in series for spot in one.spots]
    span = (min(found), max(found)) if found and max(found) > min(found) else (0.0, 1.0)
    over = Scale(*span, _LEFT, width - _RIGHT)
    up = Scale(low, high, height - _FLOOR, _TOP)
    parts = [line(_LEFT, up(tick), width - _RIGHT, up(tick), "grid") for tick in up.ticks()]
    parts += [text(_LEFT - 6, up(tick) + 4, short(tick), "end") for tick in up.ticks()]
    parts += [text(over(x), height - _FLOOR + 14, short(x)) for x in sorted(set(found))]
    parts.append(text(width - _RIGHT, height - 1, across, "end"))
    parts.append(line(_LEFT, up(low), width - _RIGHT, up(low), "axis"))
    for one in series:
        parts += [*_band(one, over, up), *_line(one, over, up)]
    return picture(width, height, label, *parts, class_="curve")


def _band(one: Series, over: Scale, up: Scale) -> list[Markup]:
    spots = [spot for spot in one.spots if spot.low is not None and spot.high is not None]
    if len(spots) < 2:
        return [
            line(over(spot.x), up(spot.low or 0.0), over(spot.x), up(spot.high or 0.0), f"interval {one.tone}")
            for spot in spots
        ]
    upper = [f"{over(spot.x):.1f},{up(spot.high or 0.0):.1f}" for spot in spots]
    lower = [f"{over(spot.x):.1f},{up(spot.low or 0.0):.1f}" for spot in reversed(spots)]
    return [element("polygon", points=" ".join([*upper, *lower]), class_=f"band {one.tone}")]


def _line(one: Series, over: Scale, up: Scale) -> list[Markup]:
    spots = [(over(spot.x), up(spot.mean)) for spot in one.spots if spot.mean is not None]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    drawn = [element("polyline", points=path, class_=f"trace {one.tone}")] if len(spots) > 1 else []
    return [*drawn, *(element("circle", cx=x, cy=y, r=3.5, class_=f"dot {one.tone}") for x, y in spots)]
