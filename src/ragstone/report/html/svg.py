"""SVG from a few functions: elements with escaped attributes, numbers without noise, scales with round ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup, escape

from ragstone.report.plain import visible


def element(name: str, *inside: Markup | str, **attributes: object) -> Markup:
    """An element; `class_` and `stroke_width` become class and stroke-width, and what is None is left out."""
    # Names of elements and attributes are escaped too: ours have nothing in them that would change.
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _written(value))
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, written, Markup("").join(map(_content, inside)))


def picture(width: float, height: float, label: str, *inside: Markup | str, class_: str = "") -> Markup:
    """A drawing that tells in words what it shows, for those who cannot see it."""
    return element(
        "svg",
        *inside,
        class_=f"plot {class_}".strip(),
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
    )


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def text(x: float, y: float, words: str, anchor: str = "middle", class_: str = "tick") -> Markup:
    """Words at a place; `start`, `middle` or `end` of them is there."""
    return element("text", words, x=x, y=y, text_anchor=anchor, class_=class_)


@dataclass(frozen=True)
class Scale:
    """From values to places on a line."""

    low: float
    high: float
    left: float
    right: float

    def __call__(self, value: float) -> float:
        """The place of a value; what lies outside is put at the end."""
        share = (value - self.low) / (self.high - self.low)
        return self.left + min(1.0, max(0.0, share)) * (self.right - self.left)

    def ticks(self, most: int = 5) -> list[float]:
        """Round values, at most so many, from end to end."""
        step = round_step((self.high - self.low) / max(1, most - 1))
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def round_step(least: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is not below."""
    if least <= 0 or not math.isfinite(least):
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= least * (1 - 1e-9))


def short(value: float) -> str:
    """A number for an axis."""
    return f"{value:.3g}".replace("-", "−") if abs(value) > 1e-12 else "0"


def _written(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".") if math.isfinite(value) else "0"
    return visible(str(value))


def _content(item: Markup | str) -> Markup:
    return item if isinstance(item, Markup) else escape(visible(item))
