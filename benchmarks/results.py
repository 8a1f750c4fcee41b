"""What a benchmark found, and the table in which it is shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

Unit = Literal[
    "×",
    "GB",
    "rows/s",
    "texts/s",
    "tokens/s",
    "pairs",
    "pairs/s",
    "µs/row",
    "s",
    "ms",
    "modules",
    "at most",
    "agreement",
]


@dataclass(frozen=True)
class Result:
    """One figure. A binding target that is missed fails the run; only figures that do not wobble are binding."""

    name: str
    reached: float
    unit: Unit
    at_most: float | None = None
    binding: bool = False
    note: str = ""
    at_least: float | None = None

    @property
    def missed(self) -> bool:
        """Whether there is a target and it was not reached."""
        too_much = self.at_most is not None and not self.reached <= self.at_most
        return too_much or (self.at_least is not None and not self.reached >= self.at_least)

    @property
    def verdict(self) -> str:
        """A word for the table."""
        if self.at_most is None and self.at_least is None:
            return ""
        if not self.missed:
            return "yes"
        return "NO" if self.binding else "no"

    def cells(self) -> list[str]:
        """The figure as words."""
        limits = (("≥", self.at_least), ("≤", self.at_most))
        target = " ".join(f"{sign} {show(limit, self.unit)}" for sign, limit in limits if limit is not None)
        return [self.name, target, show(self.reached, self.unit), self.verdict, self.note]


def show(value: float, unit: Unit) -> str:
    """A figure with as many digits as can be trusted."""
    if unit == "at most":
        return f"{value:.0e}" if value else "0"
    if unit == "agreement":
        return f"{value:.4g}"
    if unit == "rows/s":
        return f"{round(value, -2):,.0f} rows/s"
    digits = 0 if unit == "modules" or value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}"


def table(results: Iterable[Result]) -> str:
    """A line a figure; it is Markdown too, so that it can be pasted into the docs."""
    return markdown([["what", "target", "reached", "kept", "note"], *(result.cells() for result in results)], (1, 2))


def markdown(lines: list[list[str]], numbers: Collection[int]) -> str:
    """Lines of cells, the first of them the head; the columns of `numbers` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    head, *rows = (_line(line, widths, numbers) for line in lines)
    rule = f"|{'|'.join('-' * (width + 1) + (':' if at in numbers else '-') for at, width in enumerate(widths))}|"
    return "\n".join((head, rule, *rows))


def _line(cells: list[str], widths: list[int], numbers: Collection[int]) -> str:
    padded = (
        cell.rjust(width) if at in numbers else cell.ljust(width)
        for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return f"| {' | '.join(padded)} |"
