"""The viewer's small pictures, from page data alone; strips and bars are those of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ragstone.report.html import plots
from ragstone.report.html.svg import element, line, picture, short

HUES = 8
_BARS = (168.0, 40.0)
_TREND = (132.0, 28.0)


def hue(number: int) -> str:
    """The class of a fact's colour, by its number from 1."""
    return f"hue{(number - 1) % HUES}"


def strip(
    mean: float | None,
    low: float | None,
    high: float | None,
    tone: str = "",
    ends: tuple[float, float] = (0.0, 1.0),
    limit: float | None = None,
) -> Markup:
    """A mean with its interval on a line."""
    return plots.interval_strip(plots.strip_scale(*ends), mean, low, high, tone, limit)


def bars(spread: Mapping[str, Any]) -> Markup:
    """A distribution: counts in equal parts from low to high."""
    counts: Sequence[int] = spread["counts"]
    width, height = _BARS
    most = max(counts, default=0)
    each = width / max(1, len(counts))
    drawn = [
        element(
            "rect",
            x=place * each + 0.5,
            y=height - 1 - max(1.5, (height - 4) * count / most),
            width=each - 1,
            height=max(1.5, (height - 4) * count / most),
            class_="bar",
        )
        for place, count in enumerate(counts)
        if count
    ]
    quarter = max(1, len(counts) // 4)
    step = (spread["high"] - spread["low"]) / 4
    told = ", ".join(
        f"{sum(counts[part * quarter : (part + 1) * quarter]):,} from {short(spread['low'] + part * step)}"
        for part in range(4)
    )
    axis = line(0, height - 0.5, width, height - 0.5, "axis")
    return picture(width, height, f"distribution: {told}" if most else "no values", *drawn, axis, class_="bars")


def trend(values: Sequence[float | None], here: int | None = None) -> Markup:
    """Some numbers from the oldest to the newest, as a line as small as a word; one of them marked."""
    width, height = _TREND
    there = [(place, value) for place, value in enumerate(values) if value is not None]
    if not there:
        return picture(width, height, "no values", class_="trend")
    step = (width - 8) / max(1, len(values) - 1)
    least, most = min(value for _, value in there), max(value for _, value in there)
    # At least a tenth of the range from top to bottom, so that noise does not look like mountains.
    middle, reach = (least + most) / 2, max(0.1, most - least)
    points = [(4 + place * step, height / 2 - (height - 8) * (value - middle) / reach) for place, value in there]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    drawn = [element("polyline", points=path, class_="course")]
    for (place, _), (x, y) in zip(there, points, strict=True):
        drawn.append(element("circle", cx=x, cy=y, r=3.5 if place == here else 1.5, class_="dot"))
    words = f"{len(there)} runs, from {there[0][1]:.3f} to {there[-1][1]:.3f}"
    return picture(width, height, words, *drawn, class_="trend")
