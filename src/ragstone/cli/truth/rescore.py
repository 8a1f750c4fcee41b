"""ragstone truth rescore: stored runs against another version of ground truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli.options import Full, Json, MetricsFile, Quiet
from ragstone.cli.truth.options import DEFAULT_ROOT, TruthRoot, print_json, read_version

if TYPE_CHECKING:
    from ragstone.storage.runs import Run


def rescore(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Runs: their folders or URLs, or under --out their ids or names; latest is the newest.",
            show_default=False,
        ),
    ],
    truth: Annotated[
        str,
        typer.Option(
            "--truth",
            metavar="NAME[@N]",
            help="The ground truth, its newest version or that of the number.",
            show_default=False,
        ),
    ],
    metrics_file: MetricsFile = [],  # noqa: B006
    out: TruthRoot = DEFAULT_ROOT,
    full: Full = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score stored runs against another version of ground truth, as new runs; no model is asked."""
    from ragstone.cli.options import load_metrics_files
    from ragstone.cli.screen import remark
    from ragstone.cli.stored import find_run
    from ragstone.engine.rescoring import StoredReader
    from ragstone.engine.rescoring import rescore as score_again
    from ragstone.truth.joining import TruthReader

    load_metrics_files(metrics_file)
    version = read_version(truth, out)
    found = [find_run(name, out) for name in runs]
    told = []
    for run in found:
        reader = TruthReader(StoredReader(run), version)
        again = score_again(run, reader)
        for text in [] if quiet else reader.report.notes:
            remark(f"{run.name}: {text}")
        told.append(_describe(run, again))
        if not json:
            typer.echo("\n" if len(told) > 1 else "", nl=False)
            _show(run, again, told[-1]["metrics"], full)
    if json:
        print_json(told)


def _describe(run: Run, again: Run) -> dict[str, Any]:
    from ragstone.truth.rescoring import count_outdated, mean_before

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
    from rich.table import Table

    from ragstone.cli.screen import console
    from ragstone.engine.headlines import pick_headlines, say_more

    there = {row["metric"] for row in rows if row["ok"] or row["out_of_date"]}
    shown = there if full else pick_headlines(there)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("metric", "before", "after", "ok", "out of date"):
        table.add_column(title, justify="left" if title == "metric" else "right")
    for row in rows:
        if row["metric"] in shown:
            means = ["–" if row[side] is None else f"{row[side]:.3f}" for side in ("before", "after")]
            table.add_row(
                row["metric"], *means, f"{row['ok']:,}", f"{row['out_of_date']:,}" if row["out_of_date"] else ""
            )
    screen = console()
    screen.print(table)
    if len(there) > len(shown):
        typer.echo(f"\n{say_more(len(there) - len(shown))}")
    typer.echo(f"\n{run.name} → {again.name}, stored in {again.path}")
    if any(row["out_of_date"] for row in rows):
        typer.echo(
            "Cells out of date rest on what a model said about the earlier truth: rerun with a judge to have them. "
            "Both means are without them."
        )
