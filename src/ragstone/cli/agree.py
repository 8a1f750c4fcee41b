"""ragstone agree: does a metric agree with people, and which one?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.cli.compare import Metrics
from ragstone.cli.options import DEFAULT_ROOT, Full, Json, Map, MetricsFile, Root
from ragstone.cli.stored import find_run
from ragstone.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from ragstone.agreement.agreeing import Settings
    from ragstone.agreement.joining import Joined

Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...",
        help="Runs, one a system: paths, or under --out ids or names; latest is the newest.",
        show_default=False,
    ),
]
Human = Annotated[
    list[str],
    typer.Option(
        "--human",
        metavar="FILE",
        help="What people said: CSV, JSONL or Parquet with sample_id, label, for several runs system (a run's name or id), if known annotator. Repeatable.",
        show_default=False,
    ),
]
Value = Annotated[
    list[str],
    typer.Option(
        "--value",
        metavar="WORD=NUMBER",
        help="What a label in words is worth, beside yes/no, good/bad, true/false, right/wrong, pass/fail. Repeatable.",
        show_default=False,
    ),
]


def agree(
    runs: Runs,
    human: Human = [],  # noqa: B006
    metrics: Metrics = [],  # noqa: B006
    ppi: Annotated[
        bool,
        typer.Option("--ppi", help="Estimate what people would say of all rows from the labels and one metric (-m)."),
    ] = False,
    slices: Annotated[
        list[str],
        typer.Option(
            "--slice",
            metavar="COLUMN",
            help="With --ppi: also within each value of a metadata column. Repeatable.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    label_next: Annotated[
        int | None,
        typer.Option(
            "--label-next",
            metavar="N",
            min=1,
            help="Pick N inputs for people to label next, so that --ppi with this metric (-m) gets surest; needs --todo.",
            show_default=False,
        ),
    ] = None,
    todo: Annotated[
        str | None,
        typer.Option(
            "--todo",
            metavar="FILE.csv",
            help="Where --label-next writes its rows; fill in label and pass it to --human.",
            show_default=False,
        ),
    ] = None,
    coefficient: Annotated[
        str | None,
        typer.Option(
            "--coefficient",
            metavar="NAME",
            help="Sort by spearman, pearson, kendall or somers; by somers where labels are yes and no, else by spearman.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        str,
        typer.Option(
            "--level",
            metavar="NAME",
            help="Sort by the correlation over all rows (dataset), within inputs (sample), between systems (system) or given the system (partial).",
        ),
    ] = "dataset",
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            help="From which score on a metric says yes; the middle of its range by default.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[
        int, typer.Option("--show", metavar="N", min=0, help="How many of the worst disagreements of the best metric.")
    ] = 3,
    map: Map = [],  # noqa: B006
    value: Value = [],  # noqa: B006
    metrics_file: MetricsFile = [],  # noqa: B006
    out: Root = DEFAULT_ROOT,
    full: Full = False,
    json: Json = False,
) -> None:
    """Hold metrics against what people said: which one to trust on your data."""
    from ragstone.cli.options import load_metrics_files

    load_metrics_files(metrics_file)
    if not human and label_next is None:
        raise UsageError("what did people say? Name the file with their labels: --human labels.csv")
    joined = join_labels(runs, human, metrics, map, value, out)
    if label_next is not None:
        _pick_next(joined, _only_metric(joined, "--label-next"), label_next, todo)
    elif ppi:
        _show_estimates(joined, _only_metric(joined, "--ppi"), slices, json)
    else:
        _show_agreement(joined, _make_settings(joined, coefficient, level, threshold), show, full, json)


def join_labels(
    runs: list[str], human: list[str], metrics: list[str], map: list[str], value: list[str], out: str
) -> Joined:
    """The labels of a file beside the scores of runs."""
    from ragstone.agreement.human import merge_labels, parse_words, read_human
    from ragstone.agreement.joining import join
    from ragstone.cli.options import parse_map

    labels = [read_human(file, parse_words(value), parse_map(map)) for file in human]
    return join([find_run(name, out) for name in runs], merge_labels(labels), metrics)


def _make_settings(joined: Joined, coefficient: str | None, level: str, threshold: float | None) -> Settings:
    from ragstone.agreement.agreeing import Settings, natural_coefficient
    from ragstone.stats.correlation import COEFFICIENTS
    from ragstone.stats.levels import LEVELS

    coefficient = coefficient or natural_coefficient(joined)
    for word, name, known in (("coefficient", coefficient, COEFFICIENTS), ("level", level, LEVELS)):
        if name not in known:
            raise UnknownNameError(word, name, known, f"There are: {', '.join(known)}.")
    return Settings(coefficient, level, threshold)  # type: ignore[arg-type]


def _show_agreement(joined: Joined, settings: Settings, show: int, full: bool, json: bool) -> None:
    from dataclasses import replace

    from ragstone.agreement.agreeing import FEW_METRICS, measure_agreement
    from ragstone.cli.screen import console
    from ragstone.report.agreeing import agreement_dict
    from ragstone.report.agreement import agreement_report
    from ragstone.report.plain import to_json

    every = json or len(joined.metrics) <= FEW_METRICS
    found = measure_agreement(joined, replace(settings, full=every), show)
    if json:
        typer.echo(to_json(agreement_dict(found)))
    else:
        console().print(agreement_report(found, full))


def _only_metric(joined: Joined, option: str) -> str:
    if len(joined.metrics) != 1:
        raise UsageError(f"{option} goes with one metric: name it with -m. `ragstone agree` says which one to trust.")
    return str(joined.metrics[0]["metric"])


def _show_estimates(joined: Joined, metric: str, slices: list[str], json: bool) -> None:
    from ragstone.agreement.estimating import estimate_means
    from ragstone.cli.screen import console
    from ragstone.report.estimates import estimates_dict, estimates_report
    from ragstone.report.plain import to_json

    found = estimate_means(joined, metric, tuple(slices))
    if json:
        typer.echo(to_json(estimates_dict(found)))
    else:
        console().print(estimates_report(found))


def _pick_next(joined: Joined, metric: str, size: int, todo: str | None) -> None:
    from ragstone.agreement.labelling import choose_next, write_next

    if todo is None:
        raise UsageError("--label-next writes a file for people to fill in: name it with --todo todo.csv")
    rows = choose_next(joined, metric, size)
    write_next(rows, todo)
    typer.echo(
        f"{len(rows)} rows to label in {todo}. Fill in the column label from the top (leave round and chance as they "
        f"are), then add the file to your labels: --human {todo}"
    )
