"""ragstone metrics: the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli.options import Json, MetricsFile

if TYPE_CHECKING:
    from ragstone.engine.catalogue import MetricCard


def metrics(
    name: Annotated[
        str | None, typer.Argument(help="One metric, or a set such as dial; all by default.", show_default=False)
    ] = None,
    metrics_file: MetricsFile = [],  # noqa: B006
    json: Json = False,
) -> None:
    """Show what can be measured: meaning, range, direction, needs, source."""
    from ragstone.cli.options import load_metrics_files

    load_metrics_files(metrics_file)
    from ragstone.engine.catalogue import cards, set_names

    found = cards(name)
    if json:
        _print_json(found)
    elif name and len(found) == 1 and name not in set_names():
        _print_one(found[0])
    else:
        _print_all(found)


def _print_all(found: list[MetricCard]) -> None:
    from rich.table import Table
    from rich.text import Text

    from ragstone.cli.screen import console
    from ragstone.engine.catalogue import set_names

    screen = console()
    for family in dict.fromkeys(card.family for card in found):
        table = Table(
            box=None, pad_edge=False, title=Text(family), title_justify="left", title_style="bold", header_style="dim"
        )
        for head in ("metric", "range", "needs", "meaning"):
            table.add_column(head, no_wrap=head in ("metric", "range"))
        for card in found:
            if card.family == family:
                table.add_row(*map(Text, (card.usage, card.range, ", ".join(card.needs), card.meaning)))
        screen.print(table)
        screen.print()
    screen.print(Text(f"sets for -m: {', '.join(set_names())}, quick (the default), all"))
    screen.print("ragstone metrics NAME tells more about one.")


def _print_one(card: MetricCard) -> None:
    from rich.table import Table
    from rich.text import Text

    from ragstone.cli.screen import console

    screen = console()
    screen.print(Text.assemble((card.name, "bold"), f"  {card.family}\n"))
    screen.print(Text(card.meaning))
    if card.details:
        screen.print(Text(card.details))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    for label, text in card.lines():
        table.add_row(label, Text(text))
    screen.print()
    screen.print(table)


def _print_json(found: list[MetricCard]) -> None:
    import json
    from dataclasses import asdict

    listed: list[dict[str, Any]] = [asdict(card) for card in found]
    typer.echo(json.dumps(listed, indent=2, ensure_ascii=False))
