"""ragstone truth rescore: score stored runs against another version of ground truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ragstone.cli.find_run import find_run
from ragstone.cli.options import RUNS, argument, load_metrics_files, shared
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.cli.truth.options import read_version

if TYPE_CHECKING:
    from ragstone.storage.runs import Run


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
    from ragstone.cli.screen import noting
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
            typer.echo("\n" if len(described) > 1 else "", nl=False)
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
    from ragstone.cli.screen import print_table
    from ragstone.engine.metric_choice import pick_headlines, say_more

    there = {row["metric"] for row in rows if row["ok"] or row["out_of_date"]}
    shown = there if full else pick_headlines(there)
    titles = ("metric", "before", "after", "ok", "out of date")
    cells = []
    for row in rows:
        if row["metric"] in shown:
            means = ["–" if row[side] is None else f"{row[side]:.3f}" for side in ("before", "after")]
            outdated = f"{row['out_of_date']:,}" if row["out_of_date"] else ""
            cells.append((row["metric"], *means, f"{row['ok']:,}", outdated))
    print_table(titles, cells, right=titles[1:])
    if len(there) > len(shown):
        typer.echo(f"\n{say_more(len(there) - len(shown))}")
    typer.echo(f"\n{run.name} → {again.name}, stored in {again.path}")
    if any(row["out_of_date"] for row in rows):
        typer.echo(
            "Cells out of date depend on model replies about the earlier version: run again with a judge to compute them. "
            "Both means leave them out."
        )
