"""ragstone truth estimate: what a run says about production."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.cli.options import Full, Json
from ragstone.cli.stored import RunName
from ragstone.cli.truth.options import DEFAULT_ROOT, TruthRoot, print_json

if TYPE_CHECKING:
    from ragstone.truth.estimating import Production


def estimate(
    run: RunName,
    metrics: Annotated[
        list[str],
        typer.Option(
            "-m", "--metrics", metavar="NAMES", help="Only these metrics or families, with commas.", show_default=False
        ),
    ] = [],  # noqa: B006
    out: TruthRoot = DEFAULT_ROOT,
    full: Full = False,
    json: Json = False,
) -> None:
    """Estimate quality in production from cases drawn from a log: each counts for the requests that it stands for."""
    from dataclasses import asdict

    from ragstone.cli.stored import find_run
    from ragstone.truth.estimating import estimate_production

    found = find_run(run, out)
    production = estimate_production(found, metrics)
    if json:
        print_json({"run": found.path, **asdict(production)})
    else:
        _show(found.name, production, full or bool(metrics))


def _show(name: str, production: Production, full: bool) -> None:
    from rich.table import Table

    from ragstone.cli.screen import console
    from ragstone.engine.headlines import pick_headlines, say_more

    names = {row.metric for row in production.estimates}
    shown = names if full else pick_headlines(names)
    typer.echo(f"{name}: {production.cases:,} cases that stand for {production.requests:,.0f} requests")
    if production.without_weight:
        typer.echo(f"{production.without_weight:,} samples have no weight and are left out")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("metric", "in production", "95 % interval", "in this run", "cases", "scored"):
        table.add_column(title, justify="left" if title == "metric" else "right")
    for row in production.estimates:
        if row.metric not in shown:
            continue
        interval = "–" if row.low is None or row.high is None else f"{row.low:.3f} – {row.high:.3f}"
        table.add_row(
            row.metric, f"{row.mean:.3f}", interval, f"{row.plain:.3f}", f"{row.cases:,}", f"{row.scored:.0%}"
        )
    screen = console()
    screen.print()
    screen.print(table)
    if len(names) > len(shown):
        typer.echo(f"\n{say_more(len(names) - len(shown))}")
