"""ragstone truth harvest and signals: ground truth from a log, and how reliable its user signals are."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import DATA, DEFAULT_ROOT, OUTPUT, argument, option, parse_map, shared
from ragstone.cli.output import command_line, console, next_steps, noting, print_json
from ragstone.cli.truth.options import author_or_user, open_store
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from datetime import date

    from ragstone.truth.harvest.learn_weights import Labelled, Learned
    from ragstone.truth.harvest.log_index import Log
    from ragstone.truth.harvest.pipeline import Surveyed
    from ragstone.truth.harvest.signals import Weights

_LOGS = argument("LOGS...", "Folder of DIAL's parsed logs, JSON lines with questions and answers, or spans.")


def harvest(
    logs: list[str] = _LOGS,
    name: str = shared("to", ...),
    signals: list[str] = shared("signals"),
    deployment: list[str] = shared("deployment"),
    first: str | None = shared("since"),
    last: str | None = shared("until"),
    n: int = option(200, "-n --draw", "Number of exchanges to draw.", DATA, metavar="N", min=1),
    seed: int = shared("seed"),
    mask: bool = shared("mask"),
    accept: bool = option(False, "--accept", "Accept good answers as references without review."),
    weights: str | None = shared("weights"),
    format: str | None = shared("format"),
    map: list[str] = shared("map"),
    author: str | None = shared("author"),
    note: str = shared("note"),
    out: str = shared("out"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Draw exchanges from a log: good answers become references, bad ones a review queue."""
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
    click.echo("")
    if not saved:
        click.echo(f"nothing new: {name} already contains all of them")
    for info in saved:
        click.echo(f"{info.reference}: {info.rows:,} cases, saved under {out}")
    if saved and not accept and made.counts["cases"].get("good"):
        click.echo("good answers are proposed as references; --accept accepts them without review")
    if saved:
        collect = command_line("truth", "collect", name, system="SPEC", root=None if out == DEFAULT_ROOT else out)
        next_steps((command_line("view", out), "review the cases"), (collect, "ask your system these questions"))


def open_log(
    logs: list[str], deployments: list[str], first: str | None, last: str | None, format: str | None, map: list[str]
) -> Log:
    """The log of the options."""
    from ragstone.formats.log_parts import Selection
    from ragstone.truth.harvest.log_index import Log

    selection = Selection(tuple(deployments), _day("--since", first), _day("--until", last))
    return Log(tuple(logs), selection, format, parse_map(map))


def read_weights(path: str | None) -> Weights:
    """The weights of a file, or the default weights."""
    from ragstone.truth.harvest.signals import Weights, load_weights

    return load_weights(path) if path else Weights()


def _day(option: str, text: str | None) -> date | None:
    from datetime import date

    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text}: write the day as 2024-05-01") from None


def signals(
    logs: list[str] = _LOGS,
    signals: list[str] = shared("signals"),
    labels: str | None = option(
        None,
        "--labels",
        "Human labels (response_id, label good or bad) to calibrate and learn weights.",
        DATA,
        metavar="FILE",
    ),
    save: str | None = option(None, "--save-weights", "File for the weights.", OUTPUT, metavar="FILE.toml"),
    samples: str | None = option(
        None, "--samples", "File for the answers with their signals: .jsonl, .parquet or .csv.", OUTPUT, metavar="FILE"
    ),
    weights: str | None = shared("weights"),
    deployment: list[str] = shared("deployment"),
    first: str | None = shared("since"),
    last: str | None = shared("until"),
    format: str | None = shared("format"),
    map: list[str] = shared("map"),
    json: bool = shared("json"),
) -> None:
    """Show user signals of a log (likes, copies, complaints) and their calibration."""
    from ragstone.truth.harvest.learn_weights import join_labels, learn, read_labels
    from ragstone.truth.harvest.pipeline import survey, write_samples
    from ragstone.truth.harvest.signals import save_weights

    known = read_labels(labels) if labels else None
    usual = read_weights(weights)
    log = open_log(logs, deployment, first, last, format, map)
    found = survey(log, signals, usual)
    labelled = None if known is None else join_labels(known, found.index, found.judged)
    if labelled is not None and not len(labelled.good):
        raise UsageError(f"no label of {labels} belongs to an answer of the log with a signal; check the ids")
    learned = None if labelled is None else learn(labelled.features, labelled.good, usual)
    if json:
        print_json(_signals_as_json(found, usual, labelled, learned))
    else:
        _show_signals(found, usual, labelled, learned)
    if save:
        save_weights(learned.weights if learned else usual, save)
    written = write_samples(log, found, samples) if samples else 0
    if json:
        return
    if save:
        click.echo(f"\nweights written to {save}")
    if samples:
        click.echo(f"\n{written:,} samples written to {samples}")
        next_steps((command_line("run", samples, "-m", "like_rate"), "score them"))
    else:
        again = {
            "signals": signals,
            "deployment": deployment,
            "since": first,
            "until": last,
            "format": format,
            "map": map,
        }
        step = command_line("truth", "harvest", *logs, to="NAME", weights=save or weights, **again)  # type: ignore[arg-type]
        next_steps((step, "create ground truth from the log"))


def _show_signals(found: Surveyed, weights: Weights, labelled: Labelled | None, learned: Learned | None) -> None:
    from ragstone.report.harvest import calibration_report, learning_report, left_out_report, signals_report

    screen = console()
    screen.print(signals_report(found, weights))
    counts = found.tally.left_out + found.signals.left_out
    if found.judged.unmatched:
        counts["signals of answers that the log does not have"] = found.judged.unmatched
    if (table := left_out_report(counts, {**found.tally.first, **found.signals.first})) is not None:
        screen.print("", table, sep="\n")
    if labelled is None or learned is None:
        screen.print("\n[dim]calibration needs labels: --labels FILE with response_id and label, good or bad[/dim]")
        return
    screen.print("", calibration_report(weights.probabilities(labelled.features), labelled.good), sep="\n")
    if labelled.unknown or labelled.silent:
        screen.print(
            f"labels without use: {labelled.unknown:,} of unknown answers, {labelled.silent:,} without a signal"
        )
    screen.print("", learning_report(learned, weights), sep="\n")


def _signals_as_json(
    found: Surveyed, weights: Weights, labelled: Labelled | None, learned: Learned | None
) -> dict[str, Any]:
    from ragstone.truth.harvest.learn_weights import agreement_with_ratings, calibration, calibration_error
    from ragstone.truth.harvest.pipeline import count

    values: dict[str, Any] = {
        "weights": {"prior": weights.prior, **weights.weights},
        "liked_where_rated": {name: asdict(one) for name, one in agreement_with_ratings(found.judged).items()},
        **count(found),
    }
    if labelled is not None and learned is not None:
        bins = calibration(weights.probabilities(labelled.features), labelled.good)
        values["calibration"] = {"error": calibration_error(bins), "bins": [asdict(one) for one in bins]}
        values["learned"] = {**asdict(learned), "won": learned.won}
    return values
