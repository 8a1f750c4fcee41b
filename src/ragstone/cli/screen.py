"""What the commands share on the screen: a console, progress on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from ragstone.engine.progress import Progress, Report, silent

_SECONDS_BETWEEN_LINES = 5.0


def console() -> Console:
    """Standard output; wide enough for a table when it goes to a file."""
    width = None if sys.stdout.isatty() else max(110, shutil.get_terminal_size().columns)
    return Console(width=width, highlight=False, soft_wrap=False)


def remark(text: str) -> None:
    """Something worth knowing, on standard error."""
    sys.stderr.write(f"note: {text}\n")


@contextmanager
def showing_progress(quiet: bool) -> Iterator[Report]:
    """A function to report progress to."""
    if quiet:
        yield silent
    elif sys.stderr.isatty():
        with _bar() as report:
            yield report
    else:
        yield _Lines()


@contextmanager
def _bar() -> Iterator[Report]:
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TextColumn("{task.completed:,} rows"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def report(progress: Progress) -> None:
            bar.update(task, description=progress.stage, completed=progress.done, total=progress.total)

        yield report


class _Lines:
    """A line when a stage begins or ends, and every few seconds in between."""

    def __init__(self) -> None:
        self._stage = ""
        self._last = 0.0

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        ends = progress.total is not None and progress.done == progress.total
        if progress.stage == self._stage and not ends and now - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._stage, self._last = progress.stage, now
        of = f" of {progress.total:,}" if progress.total is not None else ""
        sys.stderr.write(f"{progress.stage}: {progress.done:,}{of} rows\n")
