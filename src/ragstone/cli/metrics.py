"""ragstone metrics: the catalogue of metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.cli.options import argument, load_metrics_files, shared
from ragstone.cli.output import command_line, console, next_steps, print_json

if TYPE_CHECKING:
    from ragstone.engine.catalogue import MetricCard


def metrics(
    name: str | None = argument("[NAME]", "A metric, or a set such as dial; all by default.", None),
    metrics_file: list[str] = shared("metrics_file"),
    json: bool = shared("json"),
) -> None:
    """List metrics, or explain one."""
    from dataclasses import asdict

    from ragstone.engine.catalogue import cards, missing_tools, set_names
    from ragstone.engine.metric_choice import find_metric

    load_metrics_files(metrics_file)
    chosen = cards(name)
    if json:
        print_json([asdict(card) for card in chosen])
    elif name and len(chosen) == 1 and name not in set_names():
        _print_one(chosen[0])
        # A plain name may mean a metric of another tool; a model that is not on this machine must be named.
        named = name if find_metric(name) else chosen[0].name
        steps = command_line("run", "DATA", "-m", named, *missing_tools(chosen[0]), metrics_file=metrics_file)
        next_steps((steps, "compute it"))
    else:
        _print_all(chosen)
        next_steps((command_line("metrics", "NAME", metrics_file=metrics_file), "one metric in detail"))


def _print_all(chosen: list[MetricCard]) -> None:
    from rich.table import Table
    from rich.text import Text

    from ragstone.engine.catalogue import set_names

    screen = console()
    for family in dict.fromkeys(card.family for card in chosen):
        table = Table(
            box=None, pad_edge=False, title=Text(family), title_justify="left", title_style="bold", header_style="dim"
        )
        for head in ("metric", "range", "needs", "meaning"):
            # Some metrics have many options: their line is folded, so that there is room for the meaning.
            table.add_column(head, no_wrap=head == "range", overflow="fold", max_width=36 if head == "metric" else None)
        for card in chosen:
            if card.family == family:
                table.add_row(*map(Text, (card.usage, card.range, ", ".join(card.needs), card.meaning)))
        screen.print(table)
        screen.print()
    screen.print(Text(f"sets for -m: {', '.join(set_names())}, quick (the default), all"))


def _print_one(card: MetricCard) -> None:
    from rich.table import Table
    from rich.text import Text

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
