"""ragstone truth harvest: exchanges of a log as ground truth."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone.cli.options import Format, Json, Map, Quiet
from ragstone.cli.truth.logs import Deployments, First, Last, Logs, SignalFiles, WeightsFile, open_log, weights_or_usual
from ragstone.cli.truth.options import (
    DEFAULT_ROOT,
    Author,
    Message,
    TruthRoot,
    author_or_user,
    open_store,
    print_json,
)


def harvest(
    logs: Logs,
    name: Annotated[
        str,
        typer.Option("--to", metavar="NAME", help="The ground truth to make or to add to.", show_default=False),
    ],
    signals: SignalFiles = [],  # noqa: B006
    deployment: Deployments = [],  # noqa: B006
    first: First = None,
    last: Last = None,
    n: Annotated[int, typer.Option("-n", "--draw", min=1, help="How many exchanges to draw.")] = 200,
    seed: Annotated[int, typer.Option("--seed", help="The same seed draws the same exchanges.")] = 0,
    mask: Annotated[
        bool, typer.Option("--mask", help="Put placeholders for e-mail addresses, phone, card and account numbers.")
    ] = False,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept", help="Take good answers as references at once. Otherwise a person must accept them first."
        ),
    ] = False,
    weights: WeightsFile = None,
    format: Format = None,
    map: Map = [],  # noqa: B006
    author: Author = None,
    note: Message = "",
    out: TruthRoot = DEFAULT_ROOT,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw exchanges from a log by strata: good answers become references, bad ones a queue for review; weights are kept."""
    from dataclasses import asdict

    from ragstone.cli.screen import console
    from ragstone.report.harvest import harvest_report, left_out_report
    from ragstone.truth.harvest.making import make_harvest
    from ragstone.truth.harvest.saving import save_harvest
    from ragstone.truth.versions import check_name

    check_name(name)
    log, worth = open_log(logs, deployment, first, last, format, map), weights_or_usual(weights)
    made = make_harvest(log, signals, worth, n, seed, mask, accept)
    saved = save_harvest(made, log, worth, open_store(out), name, author_or_user(author), note)
    if json:
        print_json({"saved": [asdict(info) for info in saved], "counts": made.counts})
        return
    if quiet:
        return
    screen = console()
    screen.print(harvest_report(made))
    left_out = {**made.counts["left_out"], **made.counts["signals_left_out"]}
    if (table := left_out_report(left_out, made.first)) is not None:
        screen.print("", table, sep="\n")
    typer.echo("")
    if not saved:
        typer.echo(f"nothing new: {name} has had all of them before")
    for info in saved:
        typer.echo(f"{info.reference}: {info.rows:,} cases, saved under {out}")
    if saved and not accept and made.counts["cases"].get("good"):
        typer.echo(
            f"good answers are proposed as references: accept them with `ragstone view {out}`, or harvest with --accept"
        )
