"""ragstone compare: is the new version better?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.cli.options import DEFAULT_ROOT, Full, Json, MetricsFile, Root
from ragstone.cli.stored import find_run
from ragstone.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from ragstone.compare.differences import Settings
    from ragstone.storage.runs import Run

Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="COLUMN",
        help="Samples with the same value belong together (document, conversation) and are resampled together.",
        show_default=False,
    ),
]
Correction = Annotated[
    str,
    typer.Option(
        "--correction",
        metavar="NAME",
        help="How p is corrected for many metrics: joint, holm, bh (share of false alarms) or none.",
    ),
]
Metrics = Annotated[
    list[str],
    typer.Option(
        "-m",
        "--metrics",
        metavar="NAMES",
        help="Only these metrics or families, separated by commas.",
        show_default=False,
    ),
]
CORRECTIONS = ("joint", "holm", "bh", "none")


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="A B...",
            help="Runs: paths, or under --out ids or names; latest is the newest. A is the old version, B the new; more make a leaderboard.",
            show_default=False,
        ),
    ],
    metrics: Metrics = [],  # noqa: B006
    slices: Annotated[
        list[str],
        typer.Option(
            "--slice",
            metavar="COLUMN",
            help="Also compare within each value of a metadata column. Repeatable.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    cluster: Cluster = None,
    show: Annotated[
        int, typer.Option("--show", metavar="N", min=0, help="How many of the samples that changed most.")
    ] = 3,
    correction: Correction = "joint",
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Compare also what was measured in different ways (another judge, say).")
    ] = False,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="PARAM", help="Order three or more runs by a parameter.", show_default=False),
    ] = None,
    metrics_file: MetricsFile = [],  # noqa: B006
    out: Root = DEFAULT_ROOT,
    full: Full = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a pull request say.")] = False,
    json: Json = False,
) -> None:
    """Say whether B is better than A, metric by metric, with intervals; rank three or more runs."""
    from ragstone.cli.options import load_metrics_files

    load_metrics_files(metrics_file)
    if len(runs) < 2:
        raise UsageError("compare needs two runs or more: ragstone compare OLD NEW")
    found = [find_run(name, out) for name in runs]
    settings = make_settings(cluster, correction)
    if len(found) == 2 and by is None:
        _show_two(found[0], found[1], metrics, slices, settings, anyway, show, full, markdown, json)
        return
    if slices:
        raise UsageError("--slice compares two runs; leave it out to rank more")
    _show_many(found, metrics, settings, anyway, by, markdown, json)


def make_settings(cluster: str | None, correction: str) -> Settings:
    """How a comparison is made, checked."""
    from ragstone.compare.differences import Settings

    for known in CORRECTIONS:
        if correction == known:
            return Settings(cluster=cluster, correction=known)  # type: ignore[arg-type]
    raise UnknownNameError("correction", correction, CORRECTIONS, f"There are: {', '.join(CORRECTIONS)}.")


def _show_two(
    before: Run,
    after: Run,
    metrics: list[str],
    slices: list[str],
    settings: Settings,
    anyway: bool,
    show: int,
    full: bool,
    markdown: bool,
    json: bool,
) -> None:
    from ragstone.cli.screen import console
    from ragstone.compare.comparison import compare_runs
    from ragstone.report.comparing import comparison_dict
    from ragstone.report.comparison import comparison_report
    from ragstone.report.markdown import comparison_markdown
    from ragstone.report.plain import to_json

    found = compare_runs(before, after, metrics, slices, settings, anyway)
    if json:
        typer.echo(to_json(comparison_dict(found)))
    elif markdown:
        typer.echo(comparison_markdown(found, show))
    else:
        console().print(comparison_report(found, show, full or bool(metrics)))


def _show_many(
    runs: list[Run], metrics: list[str], settings: Settings, anyway: bool, by: str | None, markdown: bool, json: bool
) -> None:
    from ragstone.cli.screen import console
    from ragstone.compare.leaderboard import rank_runs
    from ragstone.report.leaderboard import leaderboard_dict, leaderboard_report
    from ragstone.report.markdown import leaderboard_markdown
    from ragstone.report.plain import to_json

    found = rank_runs(runs, metrics, settings, anyway)
    if by is not None and by not in found.parameters:
        there = (
            f"They have: {', '.join(found.parameters)}."
            if found.parameters
            else "They have none; `ragstone run --param` stores them."
        )
        raise UnknownNameError("parameter of these runs", by, found.parameters, there)
    if json:
        typer.echo(to_json(leaderboard_dict(found)))
    elif markdown:
        typer.echo(leaderboard_markdown(found, by))
    else:
        console().print(leaderboard_report(found, by))
