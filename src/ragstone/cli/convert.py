"""ragstone convert: one format to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from ragstone.cli.options import data_argument, option, parse_map, shared, sources
from ragstone.cli.output import command_line, next_steps

if TYPE_CHECKING:
    from pyarrow import RecordBatch


def convert(
    data: list[str] = data_argument(),
    target: str = option(..., "-o --output --out", "File to write; a folder for beir, dial and hf.", metavar="FILE"),
    to: str = shared("to_format"),
    format: str | None = shared("format"),
    map: list[str] = shared("map"),
    split_contexts: str | None = shared("split_contexts"),
    encoding: str | None = shared("encoding"),
    limit: int | None = shared("limit"),
    quiet: bool = shared("quiet"),
) -> None:
    """Write samples in another format."""
    from ragstone.cli.screen import remark
    from ragstone.formats import find_format, open_reader, write_dataset

    reader = open_reader(sources(data), format, parse_map(map), limit, split_contexts, encoding)
    kept = getattr(find_format(to), "writes", None)
    lost: dict[str, None] = {}

    def watched() -> Iterator[RecordBatch]:
        for batch in reader.batches():
            full = (name for name in batch.schema.names if batch[name].null_count < batch.num_rows)
            lost.update(dict.fromkeys(name for name in full if kept is not None and name not in {"id", *kept}))
            yield batch

    rows = write_dataset(watched(), target, to, reader.report.info)
    if not quiet:
        for text in reader.report.notes:
            remark(text)
        if lost:
            remark(f"left out, because the format {to} has no place for it: {', '.join(lost)}")
        typer.echo(f"{rows:,} samples: {reader.format.name} → {to}, written to {target}")
        next_steps((command_line("run", target), "evaluate it"))
