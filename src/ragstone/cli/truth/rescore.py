"""ragstone truth rescore and estimate: score runs against another version; estimate quality in production."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import RUN, RUNS, argument, load_metrics_files, shared
from ragstone.cli.output import command_line, find_run, next_steps, noting, print_json, print_table
from ragstone.cli.truth.options import open_store, read_version
from ragstone.errors import StorageError, UnknownNameError, UsageError
from ragstone.number_format import number, with_interval

if TYPE_CHECKING:
    from ragstone.storage.runs import Run
    from ragstone.truth.weighted_means import Production


def rescore(
    runs: list[str] = argument("RUN...", RUNS),
    truth: str = shared("truth", ...),
    metrics_file: list[str] = shared("metrics_file"),
    out: str = shared("out"),
    full: bool = shared("full"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Score stored runs against another version of ground truth, without model calls."""
    from ragstone.engine.rescore import StoredReader
    from ragstone.engine.rescore import rescore as score_again
    from ragstone.truth.join import TruthReader

    load_metrics_files(metrics_file)
    version = read_version(truth, out)
    stored = [find_run(name, out) for name in runs]
    described = []
    for run in stored:
        reader = TruthReader(StoredReader(run), version)
        again = score_again(run, reader)
        for text in reader.report.notes:
            noting(quiet)(f"{run.name}: {text}")
        described.append(_describe(run, again))
        if not json:
            click.echo("\n" if len(described) > 1 else "", nl=False)
            _show(run, again, described[-1]["metrics"], full)
    if json:
        print_json(described)
    else:
        step = command_line("compare", stored[-1].id, described[-1]["id"], out=out, metrics_file=metrics_file)
        next_steps((step, "compare before and after"))


def _describe(run: Run, again: Run) -> dict[str, Any]:
    from ragstone.truth.join import count_outdated, mean_before

    outdated = count_outdated(again)
    before = {row.metric: row.mean for row in run.summary()} | mean_before(run, again, outdated)
    rows = [
        {
            "metric": row.metric,
            "before": before.get(row.metric),
            "after": row.mean,
            "ok": row.n_ok,
            "out_of_date": outdated.get(row.metric, 0),
        }
        for row in again.summary()
    ]
    return {"run": again.path, "id": again.id, "rescored": run.id, "truth": again.info["truth"], "metrics": rows}


def _show(run: Run, again: Run, rows: list[dict[str, Any]], full: bool) -> None:
    from ragstone.engine.metric_choice import pick_headlines, say_more

    there = {row["metric"] for row in rows if row["ok"] or row["out_of_date"]}
    shown = there if full else pick_headlines(there)
    titles = ("metric", "before", "after", "ok", "out of date")
    cells = []
    for row in rows:
        if row["metric"] in shown:
            means = [number(row[side]) for side in ("before", "after")]
            outdated = f"{row['out_of_date']:,}" if row["out_of_date"] else ""
            cells.append((row["metric"], *means, f"{row['ok']:,}", outdated))
    print_table(titles, cells, right=titles[1:])
    if len(there) > len(shown):
        click.echo(f"\n{say_more(len(there) - len(shown))}")
    click.echo(f"\n{run.name} → {again.name}, stored in {again.path}")
    if any(row["out_of_date"] for row in rows):
        click.echo(
            "Cells out of date depend on model replies about the earlier version: run again with a judge to compute them. "
            "Both means leave them out."
        )


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
    _show_estimates(stored.name, production, full or bool(metrics))
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


def _show_estimates(name: str, production: Production, full: bool) -> None:
    from ragstone.engine.metric_choice import pick_headlines, say_more

    names = {row.metric for row in production.estimates}
    shown = names if full else pick_headlines(names)
    click.echo(f"{name}: {production.cases:,} cases that represent {production.requests:,.0f} requests")
    if production.without_weight:
        click.echo(f"{production.without_weight:,} samples have no weight and are left out")
    titles = ("metric", "in production", "95 % interval", "in this run", "cases", "scored")
    rows = []
    for row in production.estimates:
        if row.metric in shown:
            numbers = (
                *with_interval(row.mean, row.low, row.high),
                number(row.plain),
                f"{row.cases:,}",
                f"{row.scored:.0%}",
            )
            rows.append((row.metric, *numbers))
    click.echo("")
    print_table(titles, rows, right=titles[1:])
    if len(names) > len(shown):
        click.echo(f"\n{say_more(len(names) - len(shown))}")
