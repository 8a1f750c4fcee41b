"""Names of metrics in narrow columns: broken between their parts, never within a word where it can be helped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

_INDENT = "  "


class MetricName:
    """A name that takes as many lines as its column needs; the later ones are indented."""

    def __init__(self, name: str, indent: str = "", after: str = "") -> None:
        self._name = name
        self._indent = indent
        self._after = after

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        whole = cell_len(f"{self._indent}{self._name}{self._after}")
        return Measurement(min(whole, 1), whole)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("\n".join(self._lines(options.max_width)), overflow="fold")

    def _lines(self, width: int) -> Iterator[str]:
        line, later = self._indent, f"{self._indent}{_INDENT}"
        pieces = list(_pieces(self._name, width - len(later) - cell_len(self._after)))
        pieces[-1] += self._after
        for piece in pieces:
            if line.strip() and cell_len(f"{line}{piece}".rstrip()) > width:
                yield line.rstrip()
                line = later
            line += piece
        yield line


def _pieces(name: str, width: int) -> Iterator[str]:
    """A name whole if it fits, else after its dots, brackets and spaces, and after its underscores if it must be."""
    for part in re.split(r"(?<=[.(, ])", name):
        yield from [part] if cell_len(part) <= width else re.split(r"(?<=_)", part)
