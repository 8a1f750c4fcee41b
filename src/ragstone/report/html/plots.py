"""The plots of a report: intervals on a line, distributions, bars. All colours come from the style sheet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from ragstone.report.html.svg import Scale, element, line, picture, short, text

_STRIP = (240.0, 20.0)
_PAD = 8.0
_HISTOGRAM = (252.0, 104.0)
_SPARK = (84.0, 20.0)
_BINS = 20


def strip_scale(low: float, high: float) -> Scale:
    """The scale that all strips of a table share."""
    return Scale(low, high, _PAD, _STRIP[0] - _PAD)


def strip_axis(scale: Scale) -> Markup:
    """The axis above a column of strips."""
    width, height = _STRIP
    parts = [text(scale(tick), height - 6, short(tick)) for tick in scale.ticks()]
    return picture(width, height, f"axis from {short(scale.low)} to {short(scale.high)}", *parts, class_="strip")


def interval_strip(
    scale: Scale, mean: float | None, low: float | None, high: float | None, tone: str = "", limit: float | None = None
) -> Markup:
    """A mean and its interval; a limit is a longer mark. Where there is nothing, the grid alone."""
    width, height = _STRIP
    middle = height / 2
    parts = [line(scale(tick), 0, scale(tick), height, "grid") for tick in scale.ticks()]
    if scale.low < 0 < scale.high:
        parts.append(line(scale(0), 0, scale(0), height, "zero"))
    if limit is not None:
        parts.append(line(scale(limit), 1, scale(limit), height - 1, "limit"))
    if mean is None:
        return picture(width, height, "no value", *parts, class_="strip")
    words = f"{mean:.3f}"
    if low is not None and high is not None:
        words += f", 95 % interval {low:.3f} to {high:.3f}"
        parts.append(line(scale(low), middle, scale(high), middle, f"interval {tone}".strip()))
        parts += [
            line(scale(end), middle - 3, scale(end), middle + 3, f"whisker {tone}".strip()) for end in (low, high)
        ]
    if limit is not None:
        words += f"; good from {short(limit)}"
    parts.append(element("circle", cx=scale(mean), cy=middle, r=4, class_=f"dot {tone}".strip()))
    return picture(width, height, words, *parts, class_="strip")


def count_values(values: np.ndarray, low: float, high: float, bins: int = _BINS) -> np.ndarray:
    """How many values fall into each of so many equal parts; what lies outside counts at the ends."""
    clipped = np.clip(values[~np.isnan(values)], low, high)
    counts: np.ndarray = np.histogram(clipped, bins=bins, range=(low, high))[0]
    return counts


def spark(values: np.ndarray, low: float, high: float) -> Markup:
    """A distribution as small as a word."""
    width, height = _SPARK
    counts = count_values(values, low, high)
    if not counts.sum():
        return picture(width, height, "no values", class_="spark")
    parts = [
        *_bars(counts, 0, width, height - 1, height - 2, "bar"),
        line(0, height - 0.5, width, height - 0.5, "axis"),
    ]
    return picture(width, height, _told(counts, low, high), *parts, class_="spark")


def histogram(values: np.ndarray, low: float, high: float, mean: float | None, zero: bool = False) -> Markup:
    """A distribution with an axis, the mean as a line and the largest count at its bar; `zero` sets signs apart."""
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
    return picture(width, height, _told(counts, low, high), *parts, class_="histogram")


def bar(share: float, label: str, tone: str = "") -> Markup:
    """One bar of a chart that is a table."""
    width, height = 160.0, 14.0
    inside = element("rect", x=0, y=2, width=max(2.0, share * width), height=height - 4, class_=f"bar {tone}".strip())
    return picture(width, height, label, inside, class_="cause")


def stacked(parts: Sequence[tuple[str, int, str]]) -> Markup:
    """A whole cut into parts: name, count, tone. Narrow parts carry no number; the legend beside has all."""
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
            x=left + place * each + 0.5,
            y=floor - _height(count, counts, most),
            width=each - 1,
            height=_height(count, counts, most),
            class_=f"{class_} {'bad' if place < half else 'good'}" if signed else class_,
        )
        for place, count in enumerate(counts)
        if count
    ]


def _height(count: int, counts: np.ndarray, most: float) -> float:
    """A single sample among thousands is still to be seen."""
    return max(1.5, most * float(count) / float(counts.max()))


def _told(counts: np.ndarray, low: float, high: float) -> str:
    if not counts.sum():
        return "no values"
    quarter = len(counts) // 4
    shares = [int(counts[start : start + quarter].sum()) for start in range(0, len(counts), quarter)]
    step = (high - low) / 4
    return "distribution: " + ", ".join(
        f"{count:,} from {short(low + step * part)} to {short(low + step * (part + 1))}"
        for part, count in enumerate(shares)
    )
