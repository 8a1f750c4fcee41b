"""ragstone convert: one format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone.cli.options import Data, Format, Limit, Map, Quiet


def convert(
    data: Data,
    target: Annotated[
        str,
        typer.Option(
            "-o",
            "--out",
            metavar="TARGET",
            help="The file to write: .jsonl, .parquet or .csv for our own names.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="The format to write: ragstone, ragchecker or dial.")
    ] = "ragstone",
    format: Format = None,
    map: Map = [],  # noqa: B006
    limit: Limit = None,
    quiet: Quiet = False,
) -> None:
    """Write samples in another format."""
    from ragstone.cli.options import parse_map, sources
    from ragstone.cli.screen import remark
    from ragstone.formats import open_reader, write_dataset

    reader = open_reader(sources(data), format, parse_map(map), limit)
    rows = write_dataset(reader.batches(), target, to, reader.report.info)
    if not quiet:
        for text in reader.report.notes:
            remark(text)
        typer.echo(f"{rows:,} samples: {reader.format.name} → {to}, written to {target}")
