"""Options that several commands share, spelled once."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone.errors import UsageError

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="File, folder, s3:// or other URL; - is standard input. Two files for DIAL tables and TREC.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None, typer.Option("--format", help="The format of the data, if it is not to be guessed.", show_default=False)
]
Map = Annotated[
    list[str],
    typer.Option(
        "--map",
        metavar="OURS=THEIRS",
        help="A column's other name, as in --map question=prompt. Repeatable.",
        show_default=False,
    ),
]
Limit = Annotated[
    int | None, typer.Option("-n", "--limit", min=1, help="Only the first N samples.", show_default=False)
]
Root = Annotated[
    str,
    typer.Option(
        "-o", "--out", metavar="ROOT", envvar="RAGSTONE_ROOT", help="Folder or s3:// root under which runs are stored."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of tables for people.")]
Full = Annotated[bool, typer.Option("--full", help="Show every metric, not the headlines only.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no remarks.")]
MetricsFile = Annotated[
    list[str],
    typer.Option(
        "--metrics-file",
        metavar="FILE.py",
        help="A Python file with metrics of your own. Repeatable.",
        show_default=False,
    ),
]

DEFAULT_ROOT = "ragstone-store"


def parse_map(pairs: list[str]) -> dict[str, str]:
    """`question=prompt` pairs as a mapping."""
    found: dict[str, str] = {}
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        if not equals or not ours or not theirs:
            raise UsageError(f"--map {pair}: write it as OURS=THEIRS, for instance --map question=prompt")
        found[ours] = theirs
    return found


def parse_params(pairs: list[str]) -> dict[str, str | int | float]:
    """`chunk_size=256` pairs as a mapping; what reads as a number is one."""
    found: dict[str, str | int | float] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip() or not text.strip():
            raise UsageError(f"--param {pair}: write it as NAME=VALUE, for instance --param chunk_size=256")
        found[name.strip()] = _number_or_text(text.strip())
    return found


def _number_or_text(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        # JSON has neither nan nor infinity.
        return value if abs(value) < float("inf") else text
    return text


def sources(data: list[str]) -> list[str] | str:
    """One path as itself, several as a list."""
    return data[0] if len(data) == 1 else data


def load_metrics_files(files: list[str]) -> None:
    """Register the user's own metrics."""
    from ragstone.registry.discovery import import_metrics_file

    for file in files:
        import_metrics_file(file)
