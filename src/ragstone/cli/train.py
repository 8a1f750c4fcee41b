"""ragstone train: a judge of one's own, from the labels of people."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone.cli.agree import Human, Runs, Value, join_labels
from ragstone.cli.compare import Metrics
from ragstone.cli.options import DEFAULT_ROOT, Json, Map, MetricsFile, Root
from ragstone.errors import UsageError


def train(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What to call the judge; it is used as --judge trained/NAME.")
    ],
    runs: Runs,
    human: Human = [],  # noqa: B006
    metrics: Metrics = [],  # noqa: B006
    map: Map = [],  # noqa: B006
    value: Value = [],  # noqa: B006
    metrics_file: MetricsFile = [],  # noqa: B006
    out: Root = DEFAULT_ROOT,
    json: Json = False,
) -> None:
    """Train a judge on your own labels: a light model over the local ones, in minutes on a CPU, saved as plain numbers."""
    from ragstone.agreement.training import train_judge
    from ragstone.cli.options import load_metrics_files
    from ragstone.cli.screen import console
    from ragstone.models.trained import check_name, save_trained
    from ragstone.report.agreeing import agreement_dict
    from ragstone.report.plain import to_json
    from ragstone.report.training import training_report

    load_metrics_files(metrics_file)
    plain = check_name(name)
    if not human:
        raise UsageError("what did people say? Name the file with their labels: --human labels.csv")
    found = train_judge(join_labels(runs, human, metrics, map, value, out), plain)
    path = save_trained(found.judge)
    if json:
        card = {"judge": f"trained/{plain}", "path": path, "signature": found.judge.signature}
        typer.echo(to_json({**card, "uses": list(found.judge.card.uses), **agreement_dict(found.agreement)}))
    else:
        console().print(training_report(found, path))
