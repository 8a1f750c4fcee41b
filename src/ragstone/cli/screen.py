"""Terminal output of the commands: console, tables, notes and progress."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragstone.engine.progress import Report, silent
from ragstone.report.progress import showing_bar
from ragstone.report.text import visible

if TYPE_CHECKING:
    from rich.console import Console

_SECONDS_BETWEEN_LINES = 5.0


def console() -> Console:
    """Standard output; at least 110 columns wide if it is not a terminal."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else max(110, shutil.get_terminal_size().columns)
    return Console(width=width, highlight=False, soft_wrap=False)


def remark(text: str) -> None:
    """Prints a note on standard error."""
    sys.stderr.write(f"note: {visible(text)}\n")


def noting(quiet: bool) -> Callable[[str], None]:
    """A function that prints notes, or ignores them if the command is quiet."""
    return (lambda text: None) if quiet else remark  # noqa: ARG005


def every_few_seconds(report: Callable[[str], None]) -> Callable[[str], None]:
    """The function, called at most every few seconds."""
    last = time.monotonic()

    def reduced(text: str) -> None:
        nonlocal last
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            report(text)

    return reduced


def print_table(titles: Iterable[str], rows: Iterable[Iterable[str]], right: Collection[str] = ()) -> None:
    """Prints a table without borders; the columns in `right` are aligned to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title, justify="right" if title in right else "left", no_wrap=title in ("id", "model"))
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)


@contextmanager
def showing_progress(quiet: bool) -> Iterator[Report]:
    """A progress callback: a bar on a terminal, plain lines elsewhere, nothing if quiet."""
    if quiet:
        yield silent
        return
    with showing_bar() as report:
        yield report
