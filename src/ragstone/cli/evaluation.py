"""Steps that several commands share: evaluate and print, estimate the cost, write the results of another tool."""

from __future__ import annotations

import sys
from dataclasses import asdict
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import DEFAULT_ROOT, MAX_FAILED
from ragstone.cli.output import (
    command_line,
    console,
    next_steps,
    not_told_yet,
    noting,
    print_json,
    remark,
    run_word,
    showing_progress,
)
from ragstone.views.phrases import by_reason, counted, one_line, visible

if TYPE_CHECKING:
    from ragstone.analysis.diagnosis import Diagnosis
    from ragstone.engine.ask_system import SystemQuote
    from ragstone.storage.runs import Run

NOTHING_SCORED = 4
# The causes of more samples take too long after a run; `ragstone diagnose` looks at all.
MOST_DIAGNOSED = 2_000
# The whole output keeps to 25 lines; the cheapest commands come first.
_MOST_STEPS = 5
# Notes that explain how the data was read: once per store is enough.
_EXPLAINS = ("columns read by", "fields of chunks that are ignored", "judge-1.5b is installed, but")


def evaluate_data(data: Any, metrics: list[str], out: str, options: dict[str, Any], quiet: bool, json: bool) -> Run:
    """Evaluates with progress and notes on standard error."""
    from ragstone.engine.evaluate import evaluate

    leave_pandas_out()
    tell = noting(quiet)

    def note(text: str) -> None:
        if not text.startswith(_EXPLAINS) or json or not_told_yet([text], out):
            tell(text)

    with showing_progress(quiet or json) as progress:
        return evaluate(data, metrics or None, out, progress=progress, note=note, **options)


def show_run(
    finished: Run,
    out: str,
    json: bool,
    full: bool,
    quiet: bool = False,
    named: bool = False,
    max_failed: float = MAX_FAILED,
) -> Diagnosis | None:
    """Prints a summary of a run, or everything; people get a diagnosis, which is returned.

    `named`: the user chose the metrics.
    """
    from ragstone.analysis.diagnosis import diagnose

    if json:
        from ragstone.analysis.part_metrics import people_dict
        from ragstone.views.run import judge_failure

        rows = [{**asdict(row), "people": people_dict(finished.info, row)} for row in finished.summary()]
        failure, totals = judge_failure(finished, max_failed), finished.info["totals"]
        about = {"run": finished.path, "id": finished.id, "name": finished.name, "judge_failure": failure}
        more = {"failed_share": finished.failed_share, "truth": finished.info.get("truth")}
        found = diagnose(finished, MOST_DIAGNOSED, texts=False)
        more |= {"statuses": dict(found.statuses), "looked_at": found.looked_at}
        print_json({**about, **more, "summary": rows, "totals": totals})
        return None
    from rich.console import Group

    from ragstone.report.diagnosis import short_report
    from ragstone.report.run import call_line, rows_part, run_report, run_summary
    from ragstone.report.text import title
    from ragstone.views.run import RunView
    from ragstone.views.worst import worst_views

    screen = console()
    view, diagnosis = RunView.of(finished, max_failed), diagnose(finished, most=MOST_DIAGNOSED)
    if full:
        screen.print(run_report(finished, max_failed))
        if diagnosis.has_content:
            screen.print(short_report(diagnosis))
        if faulty := worst_views(finished, diagnosis, len(diagnosis.faulty)):
            screen.print(Group(title("rows that are not fine"), *rows_part(faulty)), crop=False)
    else:
        screen.print(run_summary(view, diagnosis, named))
        for line in [] if quiet else not_told_yet(view.explanations, out):
            remark(line)
    if calls := call_line(finished.info):
        click.echo(f"\n{calls}")
    return diagnosis


def show_next(
    finished: Run, diagnosis: Diagnosis | None, out: str, *more: tuple[str, str], quiet: bool = False
) -> None:
    """Prints where the run is stored, and the next commands: the worst row, `more`, and the cheapest that decide the verdict."""
    stored = visible(f"stored in {finished.path} as {finished.name}")
    if quiet:
        click.echo(f"\n{stored}")
        return
    from ragstone.views.deciding_steps import deciding_steps
    from ragstone.views.worst import SHOWN, worst_views

    word, steps = run_word(finished, out), [*more]
    if diagnosis is not None:
        for row in worst_views(finished, diagnosis, 1):
            why = f"why {row.label} {'seems wrong' if row.status == 'wrong' else 'needs a look'}"
            steps.insert(0, (command_line("explain", word, row.word, out=out), why))
        if (count := len(diagnosis.faulty)) > SHOWN:
            steps.insert(
                1, (command_line("show", word, rows="wrong,look", out=out), f"all {count:,} rows that are not fine")
            )
        deciding = deciding_steps(diagnosis, finished.info)[: max(0, _MOST_STEPS - 1 - len(steps))]
        steps += [(_deciding_command(step.words, out, word), step.purpose) for step in deciding]
    if _deciding_command(("view",), out) not in dict(steps):
        steps.append((command_line("view", out), "look at the rows in a browser"))
    next_steps(*steps, heading=f"{stored}; next:")


def _deciding_command(words: tuple[str, ...], out: str, run: str = "") -> str:
    if words == ("view",):
        return command_line(*words, *([] if out == DEFAULT_ROOT else [out]))
    words = ("agree", run, *words[2:]) if words[0] == "agree" else words
    return command_line(*words, out=out if words[0] in ("run", "agree") else None)


def fail_if_too_few_scored(finished: Run, max_failed: float = MAX_FAILED) -> None:
    """Exit code 4 if not a single score was computed, or if a larger share of the cells failed."""
    if not any(row.n_ok for row in finished.summary()):
        from ragstone.views.run import RunView

        view = RunView.of(finished)
        reasons = by_reason((one.metric, one.reason) for one in view.metrics) | view.not_computed()
        # "recall needs relevance", but "recall, mrr: needs relevance".
        shown = (f"{one_line(', '.join(names), 60)}{':' * (len(names) > 1)} {why}" for why, names in reasons.items())
        words = one_line("; ".join(shown), 300) or "no metric could be computed"
        click.echo(f"nothing was scored: {words}; exit code {NOTHING_SCORED}", err=True)
        raise click.exceptions.Exit(NOTHING_SCORED)
    if finished.failed_share > max_failed:
        allowed = f"--max-failed allows {max_failed:.0%}"
        click.echo(f"error: {finished.failed_share:.0%} of the cells failed; {allowed}", err=True)
        raise click.exceptions.Exit(NOTHING_SCORED)


def show_quotes(
    runs: list[tuple[str, Any, dict[str, Any]]], metrics: list[str] | dict[str, list[str]], json: bool
) -> None:
    """Prints the estimated cost of several runs, each with its title; metrics are for all, or by title."""
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
    if json:
        print_json(asdict(quote))
        return
    cost = "unknown" if quote.cost_usd is None else f"{quote.cost_usd:,.4f} usd"
    click.echo(
        f"{counted(round(quote.calls), 'call')} of {quote.system} for {about or counted(quote.questions, 'question')}"
    )
    if quote.calls < quote.questions:
        click.echo(f"  the other {quote.questions - quote.calls:,.0f} are in the cache or duplicates")
    click.echo(f"  tokens in {quote.input_tokens:,.0f}, out {quote.output_tokens:,.0f}; cost {cost}")
    end = " No call was made." if is_final else ""
    click.echo(f"  about {quote.seconds:,.0f} s (rough estimate).{end}")


def write_ragchecker_results(finished: Run, target: str, is_printed: bool, quiet: bool) -> None:
    """Writes a run as RAGChecker's file, and prints its means as RAGChecker does. Failed cells are always reported."""
    import json

    from ragstone.report.exports import printed_form, write_ragchecker
    from ragstone.storage.places import open_place
    from ragstone.views.run import judge_lines

    groups = write_ragchecker(finished, open_place(target))
    if is_printed:
        click.echo(json.dumps(printed_form(groups), indent=2))
    for line in judge_lines(finished.info):
        noting(quiet)(line)
    for row in finished.summary():
        if row.n_failed:
            cells = row.n_ok + row.n_skipped + row.n_failed
            remark(f"{row.metric}: {row.n_failed} of {counted(cells, 'cell')} failed, so they are not in its mean")
    noting(quiet)(f"RAGChecker's results in {target}, the run in {finished.path}")


def leave_pandas_out() -> None:
    """Lets pyarrow look for pandas now, in vain: loading it takes half a second, and no command needs it.

    Code that imports pandas later gets it, and pyarrow then uses it too.
    """
    if "pandas" in sys.modules or any(isinstance(finder, _LatePandas) for finder in sys.meta_path):
        return
    import pyarrow as pa

    finder = _LatePandas()
    sys.meta_path.insert(0, finder)
    # pyarrow looks for pandas when it makes its first array, and only then.
    pa.array([None])
    finder.is_hidden = False


class _LatePandas:
    """Hides pandas at first; later tells pyarrow when other code has imported it."""

    is_hidden = True

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module of pandas, with a loader that ends by telling pyarrow."""
        del path, target
        if name != "pandas":
            return None
        if self.is_hidden:
            raise ModuleNotFoundError("pandas is not needed yet", name=name)
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_tell(module: Any) -> None:
                load(module)
                from pyarrow import lib

                # Reading the attribute makes pyarrow look again.
                getattr(getattr(lib, "_pandas_api", None), "pd", None)

            spec.loader.exec_module = load_and_tell  # type: ignore[method-assign]
        return spec
