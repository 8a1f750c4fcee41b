"""ragstone explain: one sample of a run, and how its scores came about."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone.cli.options import DEFAULT_ROOT, Json, MetricsFile, Root
from ragstone.cli.stored import RunName, find_run


def explain(
    run: RunName,
    sample: Annotated[
        str, typer.Argument(metavar="SAMPLE", help="The id of a sample, or its row number.", show_default=False)
    ],
    metric: Annotated[
        str | None,
        typer.Argument(metavar="[METRIC]", help="A metric of the run: how its score came about.", show_default=False),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Long texts and replies in full.")] = False,
    metrics_file: MetricsFile = [],  # noqa: B006
    out: Root = DEFAULT_ROOT,
    json: Json = False,
) -> None:
    """Show a sample with its claims, verdicts, chunks, cause and scores, and the judge's words."""
    from ragstone.cli.options import load_metrics_files
    from ragstone.cli.screen import console
    from ragstone.compare.explanation import explain_sample
    from ragstone.report.explain import explanation_dict, explanation_report
    from ragstone.report.plain import to_json

    load_metrics_files(metrics_file)
    found = explain_sample(find_run(run, out), sample, metric)
    if json:
        typer.echo(to_json(explanation_dict(found)))
    else:
        console().print(explanation_report(found, full))
