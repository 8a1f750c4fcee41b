"""ragstone truth list: what ground truth there is."""

from __future__ import annotations

import typer

from ragstone.cli.options import Json
from ragstone.cli.truth.options import DEFAULT_ROOT, TruthRoot, as_day, open_store, print_json


def list_(out: TruthRoot = DEFAULT_ROOT, json: Json = False) -> None:
    """Show every ground truth with its newest version."""
    from dataclasses import asdict

    store = open_store(out)
    newest = [store.info(name) for name in store.names()]
    if json:
        print_json([asdict(info) for info in newest])
        return
    if not newest:
        typer.echo(f"there is no ground truth under {out}. Make one with: ragstone truth import FILE NAME")
        return
    from rich.table import Table
    from rich.text import Text

    from ragstone.cli.screen import console

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify in (
        ("name", "left"),
        ("version", "right"),
        ("cases", "right"),
        ("saved", "left"),
        ("by", "left"),
        ("note", "left"),
    ):
        table.add_column(title, justify=justify)  # type: ignore[arg-type]
    for info in newest:
        cells = (info.name, str(info.number), f"{info.rows:,}", as_day(info), info.author, info.note)
        table.add_row(*map(Text, cells))
    console().print(table)
