"""Output of commands (JSON, tables, notes, progress, next steps, files), and the run that a name means."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import DEFAULT_ROOT
from ragstone.report.json_parts import cut_lists, pick_fields
from ragstone.report.text import to_json
from ragstone.views.phrases import visible

if TYPE_CHECKING:
    from rich.console import Console

    from ragstone.engine.progress import Report
    from ragstone.storage.runs import Run, RunFolder

_MOST_ALIGNED = 80
_SECONDS_BETWEEN_LINES = 5.0
# The explanations that this store has had, by the hashes of their words.
_TOLD = "explained.json"


def console() -> Console:
    """Standard output; at least 110 columns wide if it is not a terminal."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else max(110, shutil.get_terminal_size().columns)
    return Console(width=width, highlight=False, soft_wrap=False)


def print_json(value: Any) -> None:
    """Indented JSON on standard output; only the parts that `--fields` and `--top` of the command ask for."""
    context = click.get_current_context(silent=True)
    given = context.params if context else {}
    if fields := given.get("fields"):
        value = pick_fields(value, [name.strip() for name in fields.split(",") if name.strip()])
    if top := given.get("top"):
        value, lengths = cut_lists(value, top)
        if lengths:
            remark(f"--top {top} cuts {', '.join(f'{path} ({length:,})' for path, length in lengths.items())}")
    text = to_json(value)
    if "utf" not in (getattr(sys.stdout, "encoding", None) or "utf").lower():
        text = json.dumps(json.loads(text), indent=2)  # a program reads it: no character may get lost
    click.echo(text)


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


@contextmanager
def showing_progress(quiet: bool) -> Iterator[Report]:
    """A progress callback: a bar on a terminal, plain lines elsewhere, nothing if quiet."""
    from ragstone.engine.progress import silent
    from ragstone.report.progress import showing_bar

    if quiet:
        yield silent
        return
    with showing_bar() as report:
        yield report


def write_file(text: str, path: str) -> None:
    """Write a text to a path or URL; missing folders are made, and characters that UTF-8 lacks are replaced."""
    from ragstone.storage.places import open_place

    open_place(path).write_bytes(text.encode("utf-8", "replace"))


def command_line(*words: object, out: str | None = None, metrics_file: Sequence[str] = (), **options: object) -> str:
    """A command that works as printed: words are quoted; a root and metric files are named if they must be.

    `out` is the root of the store, left out if it is the default. Other options are flags: `truth="a b"` becomes
    `--truth 'a b'`. Empty values are left out; a list repeats its flag.
    """
    parts = [str(word) for word in words]
    for name, value in (*options.items(), ("metrics_file", list(metrics_file))):
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            parts.append(flag)
        else:
            for one in value if isinstance(value, list | tuple) else [value] if value else []:
                parts += [flag, str(one)]
    if out and out not in (DEFAULT_ROOT, os.environ.get("RAGSTONE_ROOT")):
        parts += ["-o", out]
    # How this program was started, if `ragstone` is not on the PATH.
    script = sys.argv[0]
    program = f"{shlex.quote(sys.executable)} -m ragstone" if script.endswith("__main__.py") else shlex.quote(script)
    # Names from data must not control the terminal.
    return visible(" ".join(["ragstone" if shutil.which("ragstone") else program, *map(shlex.quote, parts)]))


def next_steps(*steps: tuple[str, str], err: bool = False, heading: str = "") -> None:
    """Prints commands and what they are for; on standard error if standard output is read by a program."""
    if len(steps) == 1 and not heading:
        [(command, purpose)] = steps
        click.echo(f"\nnext: {command}   ({purpose})", err=err)
        return
    width = max((len(command) for command, _ in steps if len(command) <= _MOST_ALIGNED), default=0)
    click.echo(f"\n{heading or 'next:'}", err=err)
    for command, purpose in steps:
        click.echo(f"  {command:<{width}}   {purpose}", err=err)


def find_run(wanted: str, root: str) -> Run:
    """The finished run of that path, id or name; `latest` is the newest under the root."""
    from ragstone.storage.runs import find_run as find

    return find(wanted, root)


def run_word(run: Run, root: str) -> str:
    """The word for a run in printed commands: its name, its id if a newer run has the same name, its path if it is not in the root."""
    from ragstone.errors import RagstoneError

    try:
        return run.name if find_run(run.name, root).id == run.id else run.id
    except RagstoneError:
        return run.path


def not_told_yet(texts: Iterable[str], root: str) -> list[str]:
    """The explanations that were not printed for this store yet, distinguished by their words; they are then marked as printed.

    A store that cannot be written gets them every time.
    """
    import json
    import re
    from contextlib import suppress
    from zlib import crc32

    from ragstone.errors import RagstoneError
    from ragstone.storage.places import open_place, read_json

    marks, told = open_place(root) / _TOLD, list[int]()
    with suppress(RagstoneError, ValueError):
        told = read_json(marks) if marks.exists() else []
    by_words = {crc32(re.sub(r"\d[\d.,]*", "", text).encode()): text for text in texts}
    new = {words: text for words, text in by_words.items() if words not in told}
    if new:
        with suppress(RagstoneError, OSError):
            marks.write_bytes(json.dumps([*told, *new]).encode())
    return list(new.values())


def find_folder(wanted: str, root: str) -> RunFolder:
    """The folder of a run, finished or not; `latest` is the newest of all."""
    from ragstone.storage.runs import find_folder as find

    return find(wanted, root)
