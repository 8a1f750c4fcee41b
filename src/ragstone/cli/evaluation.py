"""Steps that several commands share: evaluate and print, estimate the cost, write the results of another tool."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from ragstone.cli.output import command_line, print_json

if TYPE_CHECKING:
    from ragstone.compare.diagnosis import Diagnosis
    from ragstone.engine.ask_system import SystemQuote
    from ragstone.storage.runs import Run

NOTHING_SCORED = 4
# The causes of more samples take too long after a run; `ragstone diagnose` looks at all.
MOST_DIAGNOSED = 2_000


def evaluate_data(data: Any, metrics: list[str], out: str, options: dict[str, Any], quiet: bool, json: bool) -> Run:
    """Evaluates with progress and notes on standard error."""
    from ragstone.cli.late_pandas import leave_pandas_out
    from ragstone.cli.screen import noting, showing_progress
    from ragstone.engine.evaluate import evaluate

    leave_pandas_out()
    with showing_progress(quiet or json) as progress:
        return evaluate(data, metrics or None, out, progress=progress, note=noting(quiet), **options)


def show_run(finished: Run, json: bool, full: bool) -> Diagnosis | None:
    """Prints the scores and, for people, a short diagnosis, which is returned."""
    if json:
        from ragstone.compare.signs import people_dict
        from ragstone.report.judge_failure import judge_failure

        rows = [{**asdict(row), "people": people_dict(finished.info, row)} for row in finished.summary()]
        failure, totals = judge_failure(finished), finished.info["totals"]
        print_json(
            {"run": finished.path, "id": finished.id, "judge_failure": failure, "summary": rows, "totals": totals}
        )
        return None
    from ragstone.cli.screen import console
    from ragstone.compare.diagnosis import diagnose
    from ragstone.report.diagnosis import short_report
    from ragstone.report.run import call_line, run_report

    screen = console()
    screen.print()
    screen.print(run_report(finished, full=full))
    diagnosis = diagnose(finished, most=MOST_DIAGNOSED)
    if diagnosis.has_content:
        screen.print(short_report(diagnosis))
        typer.echo(f"    more: {command_line('diagnose', finished.path)}")
    if calls := call_line(finished.info):
        typer.echo(f"\n{calls}", nl=False)
    typer.echo(f"\nstored in {finished.path}")
    return diagnosis


def fail_if_nothing_scored(finished: Run, or_most_failed: bool = False) -> None:
    """Exit code 4 if not a single score was computed or, if asked for, if more cells failed than were scored."""
    rows = list(finished.summary())
    scored = sum(row.n_ok for row in rows)
    if not scored or (or_most_failed and sum(row.n_failed for row in rows) > scored):
        raise typer.Exit(NOTHING_SCORED)


def show_quotes(
    runs: list[tuple[str, Any, dict[str, Any]]], metrics: list[str] | dict[str, list[str]], json: bool
) -> None:
    """Prints the estimated cost of several runs, each with its title; metrics are for all, or by title."""
    from ragstone.cli.screen import console
    from ragstone.engine.quote import quote
    from ragstone.report.quote import quote_report

    by_title = metrics if isinstance(metrics, dict) else {title: metrics for title, _, _ in runs}
    quotes = [(title, quote(data, by_title[title], **options)) for title, data, options in runs]
    if json:
        print_json([{"title": title, **asdict(one)} for title, one in quotes])
        return
    for title, one in quotes:
        console().print(f"\n{title}", style="bold", markup=False, highlight=False)
        console().print(quote_report(one))


def show_system_quote(quote: SystemQuote, json: bool, about: str = "", is_final: bool = True) -> None:
    """Prints the estimated cost of asking a system."""
    from ragstone.report.text import counted

    if json:
        print_json(asdict(quote))
        return
    cost = "unknown" if quote.cost_usd is None else f"{quote.cost_usd:,.4f} usd"
    typer.echo(
        f"{counted(round(quote.calls), 'call')} of {quote.system} for {about or counted(quote.questions, 'question')}"
    )
    if quote.calls < quote.questions:
        typer.echo(f"  the other {quote.questions - quote.calls:,.0f} are in the cache or duplicates")
    typer.echo(f"  tokens in {quote.input_tokens:,.0f}, out {quote.output_tokens:,.0f}; cost {cost}")
    end = " No call was made." if is_final else ""
    typer.echo(f"  about {quote.seconds:,.0f} s (rough estimate).{end}")


def write_ragchecker_results(finished: Run, target: str, is_printed: bool, quiet: bool) -> None:
    """Writes a run as RAGChecker's file, and prints its means as RAGChecker does. Failed cells are always reported."""
    import json

    from ragstone.cli.screen import noting, remark
    from ragstone.report.exports import printed_form, write_ragchecker
    from ragstone.report.run import judge_lines
    from ragstone.report.text import counted
    from ragstone.storage.places import open_place

    groups = write_ragchecker(finished, open_place(target))
    if is_printed:
        typer.echo(json.dumps(printed_form(groups), indent=2))
    for line in judge_lines(finished.info):
        noting(quiet)(line)
    for row in finished.summary():
        if row.n_failed:
            cells = row.n_ok + row.n_skipped + row.n_failed
            remark(f"{row.metric}: {row.n_failed} of {counted(cells, 'cell')} failed, so they are not in its mean")
    noting(quiet)(f"RAGChecker's results in {target}, the run in {finished.path}")
