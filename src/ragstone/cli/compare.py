"""ragstone compare: is the new version better?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragstone.cli.options import RUNS, argument, load_metrics_files, option, shared
from ragstone.cli.output import command_line, console, find_run, next_steps, print_json
from ragstone.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from ragstone.analysis.differences import Settings
    from ragstone.storage.runs import Run

CORRECTIONS = ("joint", "holm", "bh", "none")


def compare(
    runs: list[str] = argument("A B...", f"{RUNS} A is the old version, B the new one; more make a leaderboard."),
    metrics: list[str] = shared("metrics"),
    slices: list[str] = shared("slice"),
    cluster: str | None = shared("cluster"),
    show: int = shared("show"),
    correction: str = shared("correction"),
    anyway: bool = shared("anyway"),
    by: str | None = option(None, "--by", "Parameter by which three or more runs are ordered.", metavar="PARAM"),
    metrics_file: list[str] = shared("metrics_file"),
    out: str = shared("out"),
    full: bool = shared("full"),
    markdown: bool = shared("markdown"),
    json: bool = shared("json"),
) -> None:
    """Test whether B is better than A; rank three or more runs."""
    load_metrics_files(metrics_file)
    if len(runs) < 2:
        raise UsageError("compare needs two runs or more: ragstone compare OLD NEW")
    stored = [find_run(name, out) for name in runs]
    settings = make_settings(cluster, correction)
    alike = False
    if len(stored) == 2 and by is None:
        alike = _show_two((stored[0], stored[1]), metrics, slices, settings, anyway, show, full, markdown, json)
    else:
        if slices:
            raise UsageError("--slice needs exactly two runs; leave it out to rank more")
        _show_many(stored, metrics, settings, anyway, by, markdown, json)
    if not json and not markdown:
        gate = command_line("gate", runs[1], against=runs[0], max_new_failures="0", out=out, metrics_file=metrics_file)
        view = (command_line("view", out), "look at the samples in a browser")
        next_steps(*([(gate, "check this in CI")] if alike else []), view)


def make_settings(cluster: str | None, correction: str) -> Settings:
    """The checked settings of a comparison."""
    from ragstone.analysis.differences import Settings

    if correction not in CORRECTIONS:
        raise UnknownNameError("correction", correction, CORRECTIONS, f"Choose from: {', '.join(CORRECTIONS)}.")
    return Settings(cluster=cluster, correction=correction)  # type: ignore[arg-type]


def _show_two(
    runs: tuple[Run, Run],
    metrics: list[str],
    slices: list[str],
    settings: Settings,
    anyway: bool,
    show: int,
    full: bool,
    markdown: bool,
    json: bool,
) -> bool:
    """Shows the comparison, and returns whether rows are compared."""
    from ragstone.analysis.comparison import compare_runs
    from ragstone.report.comparison import ComparisonReport
    from ragstone.report.markdown import comparison_markdown
    from ragstone.views.comparison import ComparisonView

    view = ComparisonView.diagnosed(compare_runs(*runs, metrics, slices, settings, anyway))
    if json:
        print_json(view.as_dict())
    elif markdown:
        click.echo(comparison_markdown(view, show))
    else:
        console().print(ComparisonReport(view, show, full or bool(metrics)))
    return view.moves is not None


def _show_many(
    runs: list[Run], metrics: list[str], settings: Settings, anyway: bool, by: str | None, markdown: bool, json: bool
) -> None:
    from ragstone.analysis.leaderboard import rank_runs
    from ragstone.report.leaderboard import leaderboard_dict, leaderboard_report
    from ragstone.report.markdown import leaderboard_markdown

    board = rank_runs(runs, metrics, settings, anyway)
    if by is not None and by not in board.parameters:
        names = ", ".join(board.parameters)
        hint = f"They have: {names}." if names else "They have none; `ragstone run --param` stores them."
        raise UnknownNameError("parameter of these runs", by, board.parameters, hint)
    if json:
        print_json(leaderboard_dict(board))
    elif markdown:
        click.echo(leaderboard_markdown(board, by))
    else:
        console().print(leaderboard_report(board, by))
