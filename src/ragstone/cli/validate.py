"""ragstone validate and convert: check data, and write it in another format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import Reading, data_argument, option, reading_options, shared, sources
from ragstone.cli.output import command_line, console, next_steps, print_json, remark
from ragstone.views.phrases import counted

if TYPE_CHECKING:
    from pyarrow import RecordBatch

    from ragstone.engine.catalogue import Checked


def validate(
    data: list[str] = data_argument(),
    reading: Reading = reading_options("split_contexts", "encoding"),
    full: bool = shared("full"),
    json: bool = shared("json"),
) -> None:
    """Check data, and name the column that would help most.

    `--full` lists the metrics that the data allows.
    """
    from dataclasses import asdict

    from ragstone.engine.catalogue import check

    validation = check(sources(data), *reading)
    if json:
        print_json(asdict(validation))
        return
    _show_profile(validation, full)
    if full:
        _list_metrics(validation)
    for text in validation.notes:
        click.echo(f"note: {text}")
    next_steps(
        (command_line("run", *data, *validation.profile.arguments[len(data) :], *validation.options), "evaluate it")
    )


def _show_profile(validation: Checked, full: bool) -> None:
    """Prints the columns with their counts, the number of metrics, and the best next column."""
    profile = validation.profile
    prints = f", fingerprint {profile.fingerprint}" if full else ""
    click.echo(f"{counted(profile.rows, 'sample')} in the format {profile.format}, without errors{prints}")
    for name, count in profile.present.items():
        click.echo(f"  {name:<20} {count:>10,}" + ("" if count == profile.rows else f" of {profile.rows:,}"))
    if not full:
        click.echo(f"{counted(len(validation.possible), 'metric')} can be computed (--full lists them)")
        for column in validation.more[:1]:
            _list([f"best next column: {column.text.removeprefix('a column ')}"], indent="")


def _list_metrics(validation: Checked) -> None:
    """Prints the metrics that can and cannot be computed, and the columns that would add some."""
    certain = [name for name in validation.possible if name not in validation.judged]
    click.echo(f"can be computed: {counted(len(certain), 'metric')}")
    _list(certain)
    if validation.judged:
        number = counted(len(validation.judged), "metric")
        click.echo(f"can be computed as far as a model finds what they need: {number}")
        _list(validation.judged)
    for reason, names in validation.impossible.items():
        click.echo(f"cannot: {counted(len(names), 'metric')}: {reason}")
        _list(names)
    if validation.more:
        click.echo("one more column:")
    for column in validation.more[:3]:
        _list([column.text])


def _list(names: Sequence[str], indent: str = "  ") -> None:
    """Prints names, wrapped to the width of the screen."""
    from textwrap import fill

    if names:
        width = console().width
        click.echo(
            fill(
                ", ".join(names),
                width,
                initial_indent=indent,
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        )


def convert(
    data: list[str] = data_argument(),
    target: str = option(..., "-o --output --out", "File to write; a folder for beir, dial and hf.", metavar="FILE"),
    to: str = shared("to_format"),
    reading: Reading = reading_options("split_contexts", "encoding"),
    quiet: bool = shared("quiet"),
) -> None:
    """Write samples in another format."""
    from ragstone.formats import find_format, open_reader, write_dataset

    reader = open_reader(sources(data), *reading)
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
        click.echo(f"{rows:,} samples: {reader.format.name} → {to}, written to {target}")
        next_steps((command_line("run", target), "evaluate it"))
