"""ragstone validate: is the data fit, and what could be computed from it."""

from __future__ import annotations

import typer

from ragstone.cli.options import Data, Format, Json, Limit, Map


def validate(data: Data, format: Format = None, map: Map = [], limit: Limit = None, json: Json = False) -> None:  # noqa: B006
    """Check the data without evaluating it: every problem with its place, the fields found, the metrics possible."""
    import json as json_module
    from dataclasses import asdict

    from ragstone.cli.options import parse_map, sources
    from ragstone.engine.checking import check

    found = check(sources(data), format, parse_map(map), limit)
    if json:
        typer.echo(json_module.dumps(asdict(found), indent=2, ensure_ascii=False))
        return
    profile = found.profile
    typer.echo(f"fit: {profile.rows:,} samples, format {profile.format}, fingerprint {profile.fingerprint}")
    for name, count in profile.present.items():
        typer.echo(f"  {name:<20} {count:>10,}")
    typer.echo(f"can be computed: {', '.join(found.possible) or 'nothing'}")
    for reason, names in found.impossible.items():
        typer.echo(f"cannot: {', '.join(names)}: {reason}")
    for text in found.notes:
        typer.echo(f"note: {text}")
