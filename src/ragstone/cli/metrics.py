"""ragstone metrics: the catalogue of metrics."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import argument, load_metrics_files, shared
from ragstone.cli.output import command_line, console, next_steps, print_json
from ragstone.views.phrases import visible

if TYPE_CHECKING:
    from ragstone.engine.catalogue import MetricCard


def metrics(
    name: str | None = argument("[NAME]", "A metric, or a set such as dial; all by default.", None),
    metrics_file: list[str] = shared("metrics_file"),
    json: bool = shared("json"),
) -> None:
    """List metrics, or explain one."""
    from dataclasses import asdict

    from ragstone.engine.catalogue import cards, explain_name, missing_tools

    load_metrics_files(metrics_file)
    meaning = explain_name(name) if name else None
    chosen = cards(name)
    if meaning and meaning.sentence:
        click.echo(f"{visible(meaning.sentence)}\n", err=json)
    if json:
        print_json([asdict(card) for card in chosen])
        return
    if len(chosen) == 1 and meaning:
        _print_one(chosen[0])
        # A model that is not on this machine must be named.
        words = ("run", "DATA", "-m", meaning.metrics[-1], *missing_tools(chosen[0]))
        step = (command_line(*words, metrics_file=metrics_file), "compute it")
    else:
        _print_all(chosen)
        example = [chosen[0].name if meaning else "NAME"] if chosen else []
        step = (command_line("metrics", *example, metrics_file=metrics_file), "metrics in detail")
    commands = meaning.commands if meaning else ()
    next_steps(*[(command_line(*shlex.split(command)[1:]), "run it") for command in commands] or [step])


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
    if chosen:
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
