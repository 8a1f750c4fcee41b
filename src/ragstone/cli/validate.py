"""ragstone validate: is the data fit, and what could be computed from it."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from ragstone.cli.options import Data, Format, Json, Limit, Map


def validate(data: Data, format: Format = None, map: Map = [], limit: Limit = None, json: Json = False) -> None:  # noqa: B006
    """Check the data without evaluating it: every problem with its place, the fields found, the metrics possible."""
    import json as json_module
    from dataclasses import asdict

    from ragstone.cli.options import parse_map, sources
    from ragstone.engine.checking import check
    from ragstone.report.plain import counted

    found = check(sources(data), format, parse_map(map), limit)
    if json:
        typer.echo(json_module.dumps(asdict(found), indent=2, ensure_ascii=False))
        return
    profile = found.profile
    typer.echo(f"fit: {counted(profile.rows, 'sample')}, format {profile.format}, fingerprint {profile.fingerprint}")
    for name, count in profile.present.items():
        typer.echo(f"  {name:<20} {count:>10,}")
    typer.echo(f"can be computed: {counted(len(found.possible), 'metric')}")
    _list(found.possible)
    for reason, names in found.impossible.items():
        typer.echo(f"cannot: {counted(len(names), 'metric')}: {reason}")
        _list(names)
    for text in found.notes:
        typer.echo(f"note: {text}")


def _list(names: Sequence[str]) -> None:
    """Names on as many lines as it takes."""
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
