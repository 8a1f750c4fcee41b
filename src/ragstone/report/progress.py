"""Progress of a run: a bar in a terminal or a notebook, plain lines elsewhere."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from ragstone.engine.progress import Progress, Report, silent
from ragstone.number_format import duration

_SECONDS_BETWEEN_LINES = 5.0
# Before that, the time left is not estimated.
_SECONDS_UNTIL_FORECAST = 15.0
_SECONDS_BETWEEN_UPDATES = 0.1


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this process."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return getattr(shell, "kernel", None) is not None


@contextmanager
def reporting(progress: bool | Report | None) -> Iterator[Report]:
    """The progress callback that a user asked for: a bar, none, or their own; by default a bar in a notebook."""
    if callable(progress):
        yield progress
    elif progress or (progress is None and in_notebook()):
        with showing_bar() as report:
            yield report
    else:
        yield silent


@contextmanager
def showing_bar() -> Iterator[Report]:
    """A progress callback: a bar in a notebook or a terminal, plain lines elsewhere."""
    if in_notebook():
        yield _NotebookBar()
    elif sys.stderr.isatty():
        with _terminal_bar() as report:
            yield report
    else:
        yield _Lines()


@contextmanager
def _terminal_bar() -> Iterator[Report]:
    from rich.console import Console  # noqa: PLC0415  (most runs show no bar)
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TextColumn("{task.completed:,} rows"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def report(progress: Progress) -> None:
            bar.update(
                task, description=f"{progress.stage}{_calls(progress)}", completed=progress.done, total=progress.total
            )

        yield report


class _NotebookBar:
    """One output that is replaced; it needs no widgets. The last line stays: how many rows were evaluated."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._stage = ""
        self._last = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        ends = progress.stage == "finishing"
        if progress.stage == self._stage and not ends and now - self._last < _SECONDS_BETWEEN_UPDATES:
            return
        self._stage, self._last = progress.stage, now
        text = f"{progress.done:,} rows evaluated" if ends else _line(progress)
        value = "" if progress.total is None else f' value="{progress.done}" max="{progress.total}"'
        bar = "" if ends else f'<progress{value} aria-label="{escape(progress.stage)}"></progress> '
        self._show({"text/plain": text, "text/html": f"<p>{bar}{escape(text)}</p>"})

    def _show(self, data: dict[str, str]) -> None:
        if self._handle is None:
            display = importlib.import_module("IPython.display").display
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


class _Lines:
    """Prints a line if a stage begins or ends, and every few seconds in between, with the time left."""

    def __init__(self) -> None:
        self._stage = ""
        self._last = 0.0
        # When the stage began, and the rows that were done then.
        self._start = (0.0, 0)

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        ends = progress.total is not None and progress.done == progress.total
        if progress.stage == self._stage and not ends and now - self._last < _SECONDS_BETWEEN_LINES:
            return
        if progress.stage != self._stage:
            self._start = now, progress.done
        self._stage, self._last = progress.stage, now
        sys.stderr.write(f"{_line(progress)}{self._left(progress, now)}\n")

    def _left(self, progress: Progress, now: float) -> str:
        seconds, rows = now - self._start[0], progress.done - self._start[1]
        if progress.total is None or rows < 1 or seconds < _SECONDS_UNTIL_FORECAST or progress.done >= progress.total:
            return ""
        return f", about {duration(seconds / rows * (progress.total - progress.done))} left"


def _line(progress: Progress) -> str:
    of = f" of {progress.total:,}" if progress.total is not None else ""
    return f"{progress.stage}: {progress.done:,}{of} rows{_calls(progress)}"


def _calls(progress: Progress) -> str:
    return f", {progress.calls:,} judge call{'s' if progress.calls != 1 else ''}" if progress.calls else ""
