"""ragstone truth signals: what users did with the answers of a log, and how far that can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli.options import Format, Json, Map
from ragstone.cli.truth.logs import Deployments, First, Last, Logs, SignalFiles, WeightsFile, open_log, weights_or_usual
from ragstone.cli.truth.options import print_json
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.truth.harvest.labelling import Labelled
    from ragstone.truth.harvest.learning import Learned
    from ragstone.truth.harvest.making import Surveyed
    from ragstone.truth.harvest.weighing import Weights


def signals(
    logs: Logs,
    signals: SignalFiles = [],  # noqa: B006
    labels: Annotated[
        str | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help="Answers that people have labelled: response_id and label, good or bad. Shows how far the signals can be trusted, and learns weights.",
            show_default=False,
        ),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(
            "--save-weights", metavar="FILE.toml", help="Where to keep the weights, learned or not.", show_default=False
        ),
    ] = None,
    samples: Annotated[
        str | None,
        typer.Option(
            "--samples",
            metavar="FILE",
            help="Where to write the answers with their signals, for `ragstone run FILE -m like_rate`: .jsonl, .parquet or .csv.",
            show_default=False,
        ),
    ] = None,
    weights: WeightsFile = None,
    deployment: Deployments = [],  # noqa: B006
    first: First = None,
    last: Last = None,
    format: Format = None,
    map: Map = [],  # noqa: B006
    json: Json = False,
) -> None:
    """Show what users did with a log's answers: likes, copies, complaints; which answers they make good or bad; calibration."""
    from ragstone.truth.harvest.labelling import join_labels, read_labels
    from ragstone.truth.harvest.learning import learn
    from ragstone.truth.harvest.making import survey, write_samples
    from ragstone.truth.harvest.weighing import save_weights

    known = read_labels(labels) if labels else None
    usual = weights_or_usual(weights)
    log = open_log(logs, deployment, first, last, format, map)
    found = survey(log, signals, usual)
    labelled = None if known is None else join_labels(known, found.index, found.judged)
    if labelled is not None and not len(labelled.good):
        raise UsageError(f"no label of {labels} is about an answer of the log that has a signal; check the ids")
    learned = None if labelled is None else learn(labelled.features, labelled.good, usual)
    if json:
        print_json(_as_json(found, usual, labelled, learned))
    else:
        _show(found, usual, labelled, learned)
    if samples:
        written = write_samples(log, found, samples)
        if not json:
            typer.echo(
                f"\n{written:,} samples written to {samples}; rate them with ragstone run {samples} -m like_rate"
            )
    if save:
        save_weights(learned.weights if learned else usual, save)
        if not json:
            typer.echo(f"\nweights kept in {save}; use them with --weights {save}")


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
    from dataclasses import asdict

    from ragstone.truth.harvest.labelling import agreement_with_ratings
    from ragstone.truth.harvest.learning import calibration, calibration_error
    from ragstone.truth.harvest.making import count

    said: dict[str, Any] = {
        "weights": {"prior": weights.prior, **weights.weights},
        "liked_where_rated": {name: asdict(one) for name, one in agreement_with_ratings(found.judged).items()},
        **count(found),
    }
    if labelled is not None and learned is not None:
        bins = calibration(weights.probabilities(labelled.features), labelled.good)
        said["calibration"] = {"error": calibration_error(bins), "bins": [asdict(one) for one in bins]}
        said["learned"] = {**asdict(learned), "won": learned.won}
    return said
