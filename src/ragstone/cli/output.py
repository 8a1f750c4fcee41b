"""Prints JSON and the next steps at the end of a command, and writes its pages."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import typer

from ragstone.cli.options import DEFAULT_ROOT


def print_json(value: Any) -> None:
    """Indented JSON on standard output."""
    from ragstone.report.text import to_json

    typer.echo(to_json(value))


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
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            parts.append(flag)
        else:
            for one in value if isinstance(value, list | tuple) else [value] if value else []:
                parts += [flag, str(one)]
    for file in metrics_file:
        parts += ["--metrics-file", file]
    if out and out not in (DEFAULT_ROOT, os.environ.get("RAGSTONE_ROOT")):
        parts += ["-o", out]
    from ragstone.report.text import visible

    # Names from data must not control the terminal.
    return visible(" ".join([_program(), *map(shlex.quote, parts)]))


def _program() -> str:
    """How this program was started, if `ragstone` is not on the PATH."""
    if shutil.which("ragstone"):
        return "ragstone"
    script = sys.argv[0]
    return f"{shlex.quote(sys.executable)} -m ragstone" if script.endswith("__main__.py") else shlex.quote(script)


def next_steps(*steps: tuple[str, str], err: bool = False) -> None:
    """Prints commands and what they are for; on standard error if standard output is read by a program."""
    if len(steps) == 1:
        [(command, purpose)] = steps
        typer.echo(f"\nnext: {command}   ({purpose})", err=err)
        return
    width = max(len(command) for command, _ in steps)
    typer.echo("\nnext:", err=err)
    for command, purpose in steps:
        typer.echo(f"  {command:<{width}}   {purpose}", err=err)
