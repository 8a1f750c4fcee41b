"""ragstone truth signals: user signals in a log, and how reliable they are."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from ragstone.cli.options import DATA, OUTPUT, option, shared
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.cli.truth.logs import log_option, logs_argument, open_log, read_weights
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.truth.harvest.learn_weights import Labelled, Learned
    from ragstone.truth.harvest.pipeline import Surveyed
    from ragstone.truth.harvest.signal_weights import Weights


def signals(
    logs: list[str] = logs_argument(),
    signals: list[str] = log_option("signals"),
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
    weights: str | None = log_option("weights"),
    deployment: list[str] = log_option("deployment"),
    first: str | None = log_option("since"),
    last: str | None = log_option("until"),
    format: str | None = shared("format"),
    map: list[str] = shared("map"),
    json: bool = shared("json"),
) -> None:
    """Show user signals of a log (likes, copies, complaints) and their calibration."""
    from ragstone.truth.harvest.learn_weights import join_labels, learn, read_labels
    from ragstone.truth.harvest.pipeline import survey, write_samples
    from ragstone.truth.harvest.signal_weights import save_weights

    known = read_labels(labels) if labels else None
    usual = read_weights(weights)
    log = open_log(logs, deployment, first, last, format, map)
    found = survey(log, signals, usual)
    labelled = None if known is None else join_labels(known, found.index, found.judged)
    if labelled is not None and not len(labelled.good):
        raise UsageError(f"no label of {labels} belongs to an answer of the log with a signal; check the ids")
    learned = None if labelled is None else learn(labelled.features, labelled.good, usual)
    if json:
        print_json(_as_json(found, usual, labelled, learned))
    else:
        _show(found, usual, labelled, learned)
    if save:
        save_weights(learned.weights if learned else usual, save)
    written = write_samples(log, found, samples) if samples else 0
    if json:
        return
    if save:
        typer.echo(f"\nweights written to {save}")
    if samples:
        typer.echo(f"\n{written:,} samples written to {samples}")
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


def _show(found: Surveyed, weights: Weights, labelled: Labelled | None, learned: Learned | None) -> None:
    from ragstone.cli.screen import console
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


def _as_json(found: Surveyed, weights: Weights, labelled: Labelled | None, learned: Learned | None) -> dict[str, Any]:
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
