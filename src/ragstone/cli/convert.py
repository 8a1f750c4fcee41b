"""ragstone convert: one format to another."""

from __future__ import annotations

import typer

from ragstone.cli.options import data_argument, option, parse_map, shared, sources
from ragstone.cli.output import command_line, next_steps


def convert(
    data: list[str] = data_argument(),
    target: str = option(..., "-o --output --out", "File to write: .jsonl, .parquet or .csv.", metavar="FILE"),
    to: str = shared("to_format"),
    format: str | None = shared("format"),
    map: list[str] = shared("map"),
    limit: int | None = shared("limit"),
    quiet: bool = shared("quiet"),
) -> None:
    """Write samples in another format."""
    from ragstone.cli.screen import remark
    from ragstone.formats import open_reader, write_dataset

    reader = open_reader(sources(data), format, parse_map(map), limit)
    rows = write_dataset(reader.batches(), target, to, reader.report.info)
    if not quiet:
        for text in reader.report.notes:
            remark(text)
        typer.echo(f"{rows:,} samples: {reader.format.name} → {to}, written to {target}")
        next_steps((command_line("run", target), "evaluate it"))
