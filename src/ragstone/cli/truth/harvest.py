"""ragstone truth harvest: create ground truth from a log."""

from __future__ import annotations

from dataclasses import asdict

import typer

from ragstone.cli.options import DATA, DEFAULT_ROOT, option, shared
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.cli.truth.logs import log_option, logs_argument, open_log, read_weights
from ragstone.cli.truth.options import author_or_user, open_store


def harvest(
    logs: list[str] = logs_argument(),
    name: str = shared("to", ...),
    signals: list[str] = log_option("signals"),
    deployment: list[str] = log_option("deployment"),
    first: str | None = log_option("since"),
    last: str | None = log_option("until"),
    n: int = option(200, "-n --draw", "Number of exchanges to draw.", DATA, metavar="N", min=1),
    seed: int = shared("seed"),
    mask: bool = option(False, "--mask", "Replace e-mail addresses, phone, card and account numbers.", DATA),
    accept: bool = option(False, "--accept", "Accept good answers as references without review."),
    weights: str | None = log_option("weights"),
    format: str | None = shared("format"),
    map: list[str] = shared("map"),
    author: str | None = shared("author"),
    note: str = shared("note"),
    out: str = shared("out"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Draw exchanges from a log: good answers become references, bad ones a review queue."""
    from ragstone.cli.screen import console, noting
    from ragstone.report.harvest import harvest_report, left_out_report
    from ragstone.truth.harvest.pipeline import make_harvest, save_harvest
    from ragstone.truth.store import check_name

    check_name(name)
    log, values = open_log(logs, deployment, first, last, format, map), read_weights(weights)
    made = make_harvest(log, signals, values, n, seed, mask, accept)
    for remark in made.notes:
        noting(quiet)(remark)
    saved = save_harvest(made, log, values, open_store(out), name, author_or_user(author), note)
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
        typer.echo(f"nothing new: {name} already contains all of them")
    for info in saved:
        typer.echo(f"{info.reference}: {info.rows:,} cases, saved under {out}")
    if saved and not accept and made.counts["cases"].get("good"):
        typer.echo("good answers are proposed as references; --accept accepts them without review")
    if saved:
        collect = command_line("truth", "collect", name, system="SPEC", root=None if out == DEFAULT_ROOT else out)
        next_steps((command_line("view", out), "review the cases"), (collect, "ask your system these questions"))
