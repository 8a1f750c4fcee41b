"""SVG charts for reports: intervals, distributions, bars and curves. All colours come from the style sheet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote_plus

import numpy as np
from markupsafe import Markup, escape

from ragstone.number_format import with_interval
from ragstone.views.phrases import visible


def element(name: str, *inside: Markup | str, **attributes: object) -> Markup:
    """An element. `class_` and `stroke_width` become class and stroke-width; attributes that are None are left out."""
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _written(value))
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, written, Markup("").join(map(_content, inside)))


def picture(
    width: float, height: float, label: str, *inside: Markup | str, class_: str = "", role: str = "img"
) -> Markup:
    """A drawing with a text alternative for screen readers; its role is `group` if it contains links."""
    return element(
        "svg",
        *inside,
        class_=f"plot {class_}".strip(),
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role=role,
        aria_label=label,
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def text(x: float, y: float, words: str, anchor: str = "middle", class_: str = "tick") -> Markup:
    """Text at a position; `anchor` is start, middle or end."""
    return element("text", words, x=x, y=y, text_anchor=anchor, class_=class_)


@dataclass(frozen=True)
class Scale:
    """Maps values to positions on a line."""

    low: float
    high: float
    left: float
    right: float

    def __call__(self, value: float) -> float:
        """The position of a value; values outside are clipped."""
        share = (value - self.low) / (self.high - self.low)
        return self.left + min(1.0, max(0.0, share)) * (self.right - self.left)

    def ticks(self, most: int = 5) -> list[float]:
        """Round values from end to end, at most `most`."""
        step = round_step((self.high - self.low) / max(1, most - 1))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5 or 5 times a power of ten that is at least `least`."""
    if least <= 0 or not math.isfinite(least):
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= least * (1 - 1e-9))


def short(value: float) -> str:
    """A number for an axis."""
    if abs(value) <= 1e-12:
        return "0"
    # Three digits and never an exponent: 0.00006, 1,500.
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    whole, _, part = f"{value:,.{places}f}".partition(".")
    return f"{whole}.{part.rstrip('0')}".rstrip(".").replace("-", "−")


def _written(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".") if math.isfinite(value) else "0"
    return visible(str(value))


def _content(item: Markup | str) -> Markup:
    return item if isinstance(item, Markup) else escape(visible(item))


_STRIP = (240.0, 20.0)
_PAD = 8.0
_HISTOGRAM = (252.0, 104.0)
_SPARK = (84.0, 20.0)
_SPREAD = (240.0, 34.0)
_BINS = 20


def strip_scale(low: float, high: float) -> Scale:
    """The shared scale of the strips of a table."""
    return Scale(low, high, _PAD, _STRIP[0] - _PAD)


def strip_axis(scale: Scale) -> Markup:
    """The axis above a column of strips."""
    width, height = _STRIP
    parts = [text(scale(tick), height - 6, short(tick)) for tick in scale.ticks()]
    return picture(width, height, f"axis from {short(scale.low)} to {short(scale.high)}", *parts, class_="strip")


def interval_strip(
    scale: Scale, mean: float | None, low: float | None, high: float | None, tone: str = "", limit: float | None = None
) -> Markup:
    """A mean and its interval, with an optional limit. Only the grid if there is no mean."""
    width, height = _STRIP
    middle = height / 2
    parts = [line(scale(tick), 0, scale(tick), height, "grid") for tick in scale.ticks()]
    if scale.low < 0 < scale.high:
        parts.append(line(scale(0), 0, scale(0), height, "zero"))
    if limit is not None:
        parts.append(line(scale(limit), 1, scale(limit), height - 1, "limit"))
    if mean is None:
        return picture(width, height, "no value", *parts, class_="strip")
    words, ends = with_interval(mean, low, high, " to ")
    if low is not None and high is not None:
        words += f", 95 % interval {ends}"
        parts.append(line(scale(low), middle, scale(high), middle, f"interval {tone}".strip()))
        parts += [
            line(scale(end), middle - 3, scale(end), middle + 3, f"whisker {tone}".strip()) for end in (low, high)
        ]
    if limit is not None:
        words += f"; good from {short(limit)}"
    parts.append(element("circle", cx=scale(mean), cy=middle, r=4, class_=f"dot {tone}".strip()))
    return picture(width, height, words, *parts, class_="strip")


def strip(
    mean: float | None,
    low: float | None,
    high: float | None,
    tone: str = "",
    ends: tuple[float, float] = (0.0, 1.0),
    limit: float | None = None,
) -> Markup:
    """A mean and its interval on a line with these ends, with a limit."""
    return interval_strip(strip_scale(*ends), mean, low, high, tone, limit)


def bin_edges(low: float, high: float, bins: int = _BINS) -> np.ndarray:
    """The limits of equal bins, rounded: 0.15 and not 0.15000000000000002, so that a filter can name them."""
    digits = 4 - math.floor(math.log10((high - low) / bins))
    edges = np.round(np.linspace(low, high, bins + 1), digits)
    edges[0], edges[-1] = low, high
    return edges


def count_values(values: np.ndarray, low: float, high: float, bins: int = _BINS) -> np.ndarray:
    """The number of values per bin; values outside count in the first or last bin."""
    clipped = np.clip(values[~np.isnan(values)], low, high)
    counts: np.ndarray = np.histogram(clipped, bins=bin_edges(low, high, bins))[0]
    return counts


def spark(spread: Mapping[str, Any]) -> Markup:
    """A small distribution without axes: `counts` in equal bins from `low` to `high`."""
    width, height = _SPARK
    counts, low, high = np.asarray(spread["counts"]), spread["low"], spread["high"]
    bars = _bars(counts, 0, width, height - 1, height - 2, "bar")
    axis = line(0, height - 0.5, width, height - 0.5, "axis")
    return picture(width, height, _describe(counts, low, high), *bars, axis, class_="spark")


def spread_strip(
    spread: Mapping[str, Any], mean: float | None, interval: Sequence[float] | None, name: str = "", start: str = ""
) -> Markup:
    """A distribution, and under it the mean with its interval on the same axis: `counts` in equal bins from `low` to `high`.

    With `start`, the beginning of an address that ends in a filter, each bar links to the samples in its range.
    """
    width, height = _SPREAD
    low, high, counts = spread["low"], spread["high"], np.asarray(spread["counts"])
    if not counts.sum():
        return picture(width, height, "no values", class_="strip spread")
    scale, floor = strip_scale(low, high), height - 12
    bars = _bars(counts, _PAD, width - 2 * _PAD, floor, floor - 2, "bar")
    parts = _linked(bars, counts, bin_edges(low, high, len(counts)), name, start) if start else bars
    parts.append(line(_PAD, floor, width - _PAD, floor, "axis"))
    if interval:
        parts.append(line(scale(interval[0]), height - 5, scale(interval[1]), height - 5, "interval"))
    if mean is not None:
        parts.append(element("circle", cx=scale(mean), cy=height - 5, r=4, class_="dot"))
    if (low, high) != (0.0, 1.0):
        # The axis above the column is from 0 to 1.
        height += 12
        parts += [text(_PAD, height - 2, short(low), "start"), text(width - _PAD, height - 2, short(high), "end")]
    words = _describe(counts, low, high)
    if mean is not None:
        least, most = interval or (None, None)
        shown, ends = with_interval(mean, least, most, " to ")
        words = f"mean {shown}{f', 95 % interval {ends}' if interval else ''}; {words}"
    return picture(width, height, words, *parts, class_="strip spread", role="group" if start else "img")


def _linked(bars: Sequence[Markup], counts: np.ndarray, edges: np.ndarray, name: str, start: str) -> list[Markup]:
    """The bars, each in a link with its whole column, that Tab skips: the row filter does the same by keyboard."""
    each = (_SPREAD[0] - 2 * _PAD) / len(counts)
    drawn = []
    for rect, at in zip(bars, np.flatnonzero(counts), strict=True):
        # The first and the last bar have all values beyond.
        ends = [(">=", repr(float(edges[at])))] if at else []
        ends += [("<", repr(float(edges[at + 1])))] if at + 1 < len(counts) else []
        terms = " and ".join(f"{name} {sign} {value}" for sign, value in ends)
        column = element("rect", x=_PAD + int(at) * each, y=0, width=each, height=_SPREAD[1] - 12, class_="column")
        words = f"{short(edges[at])} to {short(edges[at + 1])}: {counts[at]:,} sample{'s' if counts[at] != 1 else ''}"
        address = f"{start}{quote_plus(terms)}#samples"
        drawn.append(element("a", element("title", words), column, rect, href=address, tabindex=-1))
    return drawn


def histogram(values: np.ndarray, low: float, high: float, mean: float | None, zero: bool = False) -> Markup:
    """A distribution with an axis, the mean as a line, and the largest count. `zero` colours bars by sign."""
    width, height = _HISTOGRAM
    floor = height - 18
    scale = Scale(low, high, _PAD, width - _PAD)
    counts = count_values(values, low, high)
    parts = _bars(counts, _PAD, width - 2 * _PAD, floor, floor - 16, "bar", signed=zero)
    parts.append(line(_PAD, floor, width - _PAD, floor, "axis"))
    parts += [text(scale(tick), height - 5, short(tick)) for tick in scale.ticks()]
    if counts.sum():
        top = int(np.argmax(counts))
        centre = _PAD + (top + 0.5) * (width - 2 * _PAD) / len(counts)
        side = min(max(centre, 20), width - 20)
        parts.append(
            text(side, floor - _height(counts[top], counts, floor - 16) - 4, f"{counts[top]:,}", class_="count")
        )
    if mean is not None:
        parts.append(line(scale(mean), 6, scale(mean), floor, "mean"))
    return picture(width, height, _describe(counts, low, high), *parts, class_="histogram")


def bar(share: float, label: str, tone: str = "") -> Markup:
    """One bar of a bar chart in a table."""
    width, height = 160.0, 14.0
    inside = element("rect", x=0, y=2, width=max(2.0, share * width), height=height - 4, class_=f"bar {tone}".strip())
    return picture(width, height, label, inside, class_="cause")


def stacked(parts: Sequence[tuple[str, int, str]]) -> Markup:
    """A stacked bar of (name, count, tone) parts. Narrow parts have no number; the legend has all numbers."""
    width, height = 720.0, 30.0
    total = sum(count for _, count, _ in parts) or 1
    drawn: list[Markup] = []
    start = 0.0
    for _, count, tone in parts:
        size = width * count / total
        if count:
            drawn.append(element("rect", x=start, y=0, width=max(1.0, size - 2), height=height, class_=f"part {tone}"))
        if size > 36:
            drawn.append(text(start + size / 2 - 1, height / 2 + 5, f"{count:,}", class_=f"inside {tone}"))
        start += size
    words = ", ".join(f"{name} {count:,}" for name, count, _ in parts)
    return picture(width, height, words, *drawn, class_="stacked")


def _bars(
    counts: np.ndarray, left: float, width: float, floor: float, most: float, class_: str, signed: bool = False
) -> list[Markup]:
    each = width / len(counts)
    half = len(counts) / 2
    return [
        element(
            "rect",
            x=left + index * each + 0.5,
            y=floor - _height(count, counts, most),
            width=each - 1,
            height=_height(count, counts, most),
            class_=f"{class_} {'bad' if index < half else 'good'}" if signed else class_,
        )
        for index, count in enumerate(counts)
        if count
    ]


def _height(count: int, counts: np.ndarray, most: float) -> float:
    """The height of a bar; a single sample among thousands is still visible."""
    return max(1.5, most * float(count) / float(counts.max()))


def _describe(counts: np.ndarray, low: float, high: float) -> str:
    if not counts.sum():
        return "no values"
    quarter = len(counts) // 4
    shares = [int(counts[start : start + quarter].sum()) for start in range(0, len(counts), quarter)]
    step = (high - low) / 4
    return "distribution: " + ", ".join(
        f"{count:,} from {short(low + step * part)} to {short(low + step * (part + 1))}"
        for part, count in enumerate(shares)
    )


_SIZE = (340.0, 190.0)
_LEFT, _RIGHT, _TOP, _FLOOR = 34.0, 12.0, 10.0, 26.0


class Spot(NamedTuple):
    """A point of a curve with its optional interval."""

    x: float
    mean: float | None
    low: float | None
    high: float | None


class Series(NamedTuple):
    """One curve. Tones of the style sheet: `good` for the first, `bad` for the second, `none` for others."""

    name: str
    tone: str
    spots: Sequence[Spot]


def curve_plot(series: Sequence[Series], label: str, across: str, low: float = 0.0, high: float = 1.0) -> Markup:
    """Curves on shared axes, each with the band of its intervals."""
    width, height = _SIZE
    positions = [spot.x for one in series for spot in one.spots]
    span = (min(positions), max(positions)) if positions and max(positions) > min(positions) else (0.0, 1.0)
    over = Scale(*span, _LEFT, width - _RIGHT)
    up = Scale(low, high, height - _FLOOR, _TOP)
    parts = [line(_LEFT, up(tick), width - _RIGHT, up(tick), "grid") for tick in up.ticks()]
    parts += [text(_LEFT - 6, up(tick) + 4, short(tick), "end") for tick in up.ticks()]
    parts += [text(over(x), height - _FLOOR + 14, short(x)) for x in sorted(set(positions))]
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


def tradeoff(panel: Mapping[str, Any]) -> Markup:
    """Quality (up) against cost (across): one point per run with the intervals of both."""
    width, height = _SIZE
    points: Sequence[Mapping[str, Any]] = panel["points"]
    over = Scale(0.0, _end(points, "x"), _LEFT, width - _RIGHT)
    lowest = min((p["y"] if p["y_low"] is None else min(p["y_low"], p["y"]) for p in points), default=0.0)
    step = round_step(max(_end(points, "y") - lowest, 1e-9) / 4)
    up = Scale(math.floor(lowest / step) * step, _end(points, "y"), height - _FLOOR, _TOP)
    floor = height - _FLOOR
    parts = [line(_LEFT, up(tick), width - _RIGHT, up(tick), "grid") for tick in up.ticks()]
    parts += [text(_LEFT - 6, up(tick) + 4, short(tick), "end") for tick in up.ticks()]
    parts += [text(over(tick), floor + 14, short(tick)) for tick in over.ticks()]
    parts += [text(width - _RIGHT, height - 1, panel["axis"], "end"), line(_LEFT, floor, width - _RIGHT, floor, "axis")]
    for point in points:
        x, y = over(point["x"]), up(point["y"])
        if point["x_low"] is not None and point["x_high"] is not None:
            parts.append(line(over(point["x_low"]), y, over(point["x_high"]), y, "interval"))
        if point["y_low"] is not None and point["y_high"] is not None:
            parts.append(line(x, up(point["y_low"]), x, up(point["y_high"]), "interval"))
        parts.append(element("circle", cx=x, cy=y, r=4, class_="dot"))
        parts.append(text(x + 7, y - 6, point["name"], "start", "count"))
    words = ", ".join(f"{p['name']}: {short(p['y'])} at {short(p['x'])}" for p in points)
    label = f"{panel['quality']} against {panel['axis']}: {words}"
    return picture(width, height, label, *parts, class_="curve")


def _end(points: Sequence[Mapping[str, Any]], axis: str) -> float:
    """The end of an axis: a round number beyond all values and intervals."""
    most = max((max(p[axis], p[f"{axis}_high"] or p[axis]) for p in points), default=1.0)
    step = round_step((most or 1.0) / 4)
    return math.ceil((most or 1.0) / step) * step
