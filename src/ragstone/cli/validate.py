"""ragstone validate: check the data and list the possible metrics."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from ragstone.cli.options import data_argument, parse_map, shared, sources
from ragstone.cli.output import command_line, next_steps, print_json


def validate(
    data: list[str] = data_argument(),
    format: str | None = shared("format"),
    map: list[str] = shared("map"),
    split_contexts: str | None = shared("split_contexts"),
    encoding: str | None = shared("encoding"),
    limit: int | None = shared("limit"),
    json: bool = shared("json"),
) -> None:
    """Check data and list the metrics that it allows."""
    from dataclasses import asdict

    from ragstone.engine.catalogue import check
    from ragstone.report.text import counted

    validation = check(sources(data), format, parse_map(map), limit, split_contexts, encoding)
    if json:
        print_json(asdict(validation))
        return
    profile = validation.profile
    typer.echo(f"fit: {counted(profile.rows, 'sample')}, format {profile.format}, fingerprint {profile.fingerprint}")
    for name, count in profile.present.items():
        typer.echo(f"  {name:<20} {count:>10,}")
    typer.echo(f"can be computed: {counted(len(validation.possible), 'metric')}")
    _list(validation.possible)
    for reason, names in validation.impossible.items():
        typer.echo(f"cannot: {counted(len(names), 'metric')}: {reason}")
        _list(names)
    if validation.more:
        typer.echo("one more column:")
    for column in validation.more[:3]:
        _list([column.text])
    for text in validation.notes:
        typer.echo(f"note: {text}")
    next_steps(
        (
            command_line(
                "run", *data, format=format, map=map, split_contexts=split_contexts, encoding=encoding, limit=limit
            ),
            "evaluate it",
        )
    )


def _list(names: Sequence[str]) -> None:
    """Prints names, wrapped to the width of the screen."""
    from textwrap import fill

    from ragstone.cli.screen import console

    if names:
        width = console().width
        typer.echo(
            fill(
                ", ".join(names),
                width,
                initial_indent="  ",
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
