"""ragstone truth estimate: estimate quality in production from a run."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from ragstone.cli.find_run import find_run
from ragstone.cli.options import RUN, argument, shared
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.cli.truth.options import open_store
from ragstone.errors import StorageError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from ragstone.storage.runs import Run
    from ragstone.truth.weighted_means import Production


def estimate(
    run: str = argument("RUN", RUN),
    metrics: list[str] = shared("metrics"),
    out: str = shared("out"),
    full: bool = shared("full"),
    json: bool = shared("json"),
) -> None:
    """Estimate quality in production: cases drawn from a log are weighted by requests."""
    from ragstone.truth.weighted_means import estimate_production

    stored = _find(run, out)
    production = estimate_production(stored, metrics)
    if json:
        print_json({"run": stored.path, **asdict(production)})
        return
    _show(stored.name, production, full or bool(metrics))
    next_steps((command_line("diagnose", run, out=out), "see what limits quality"))


def _find(name: str, out: str) -> Run:
    """The run of that name; the message about a ground truth says how to make a run from it."""
    try:
        return find_run(name, out)
    except (UnknownNameError, StorageError):
        if name not in open_store(out).names():
            raise
        run = command_line("run", "FILE", truth=name, name="RUN", out=out)
        raise UsageError(f"{name} is a ground truth; estimate needs a run on its cases: {run}") from None


def _show(name: str, production: Production, full: bool) -> None:
    from ragstone.cli.screen import print_table
    from ragstone.engine.metric_choice import pick_headlines, say_more

    names = {row.metric for row in production.estimates}
    shown = names if full else pick_headlines(names)
    typer.echo(f"{name}: {production.cases:,} cases that represent {production.requests:,.0f} requests")
    if production.without_weight:
        typer.echo(f"{production.without_weight:,} samples have no weight and are left out")
    titles = ("metric", "in production", "95 % interval", "in this run", "cases", "scored")
    rows = []
    for row in production.estimates:
        if row.metric in shown:
            interval = "–" if row.low is None or row.high is None else f"{row.low:.3f} – {row.high:.3f}"
            numbers = (f"{row.mean:.3f}", interval, f"{row.plain:.3f}", f"{row.cases:,}", f"{row.scored:.0%}")
            rows.append((row.metric, *numbers))
    typer.echo("")
    print_table(titles, rows, right=titles[1:])
    if len(names) > len(shown):
        typer.echo(f"\n{say_more(len(names) - len(shown))}")
