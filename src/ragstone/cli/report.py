"""ragstone report: a run or a comparison as one HTML file, as Markdown, or as a LaTeX table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ragstone.cli.compare import make_settings
from ragstone.cli.options import OUTPUT, RUNS, argument, load_metrics_files, option, shared
from ragstone.cli.output import command_line, console, find_run, next_steps, remark
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.analysis.comparison import Comparison
    from ragstone.storage.places import Place
    from ragstone.storage.runs import Run


def report(
    runs: list[str] = argument(
        "RUN [NEW]", f"One run, or two to compare, the old one first. {RUNS} Or the folder of a watch."
    ),
    output: str | None = option(
        None,
        "-o --output",
        "File to write; - is standard output. By default HTML goes into the run's folder.",
        OUTPUT,
        metavar="FILE",
    ),
    baseline: str | None = shared("baseline"),
    markdown: bool = shared("markdown"),
    latex: bool = option(False, "--latex", "A LaTeX table (booktabs)."),
    worst: int = option(20, "--worst", "Number of samples to show in full.", metavar="N", min=0, max=1000),
    all_samples: bool = option(
        False, "--all-samples", "Show all samples in full, at most 1,000, and print everything. HTML only."
    ),
    slices: list[str] = shared("slice"),
    metrics: list[str] = shared("metrics"),
    cluster: str | None = shared("cluster"),
    correction: str = shared("correction"),
    anyway: bool = shared("anyway"),
    metrics_file: list[str] = shared("metrics_file"),
    root: str = shared("root"),
    quiet: bool = shared("quiet"),
) -> None:
    """Write a run or a comparison as one file that opens offline."""
    markdown |= not latex and (output or "").lower().endswith((".md", ".markdown"))
    latex |= not markdown and (output or "").lower().endswith(".tex")
    _check_request(len(runs), baseline, markdown, latex, all_samples)
    if output and os.path.isdir(output):
        raise UsageError(f"'{output}' is a folder: -o is the file of the report here; --root names the store")
    load_metrics_files(metrics_file)
    if len(runs) == 1 and _report_watch(runs[0], output, metrics, markdown or latex, quiet):
        return
    stored = [find_run(name, root) for name in runs]
    if baseline:
        stored = [*_find_old(stored[0], baseline, root), *stored]
    if len(stored) == 1:
        if not baseline and (metrics or cluster or anyway):
            raise UsageError("--metrics, --cluster and --anyway need two runs")
        text = _run_text(stored[0], markdown, latex, worst, slices, all_samples)
        file_name = "report.html"
    else:
        from ragstone.analysis.comparison import compare_runs

        settings = make_settings(cluster, correction)
        comparison = compare_runs(stored[0], stored[1], metrics, slices, settings, anyway)
        text = _comparison_text(comparison, markdown, latex, worst, all_samples)
        file_name = f"comparison-with-{stored[0].id}.html"
    if output == "-" or (output is None and (markdown or latex)):
        click.echo(text, nl=False)
        return
    _write(text, output, stored[-1].folder.place, file_name, quiet)
    if not quiet:
        next_steps((command_line("view", root), "look at the samples in a browser"))


def _check_request(runs: int, baseline: str | None, markdown: bool, latex: bool, all_samples: bool) -> None:
    if markdown and latex:
        raise UsageError("--markdown and --latex exclude each other")
    if all_samples and (markdown or latex):
        raise UsageError("--all-samples is for HTML reports")
    if runs > 2:
        raise UsageError("a report is about one run or two; `ragstone compare` ranks more")
    if baseline and runs == 2:
        raise UsageError("give either two runs or --baseline BRANCH")


def _find_old(run: Run, branch: str, root: str) -> list[Run]:
    """The baseline of a run, as for `ragstone gate`; a note says which one it is, or why there is none."""
    from ragstone.analysis.alignment import find_baseline
    from ragstone.storage.places import open_place

    baseline = find_baseline(run.folder, run.info, branch, open_place(root), ["*"])
    remark(baseline.note)
    return [baseline.run] if baseline.run else []


def _report_watch(name: str, output: str | None, metrics: list[str], other_form: bool, quiet: bool) -> bool:
    """The series of a watch: a table in the terminal, and one HTML file. False if the name is not a watch."""
    from ragstone.watch.store import WatchStore

    store = WatchStore(name)
    if not store.exists():
        return False
    if other_form:
        raise UsageError(
            "the series of a watch is an HTML file and a table in the terminal; leave out --markdown and --latex"
        )
    from ragstone.report.html.series_chart import watch_html
    from ragstone.report.watch import watch_report
    from ragstone.views.series import SeriesView
    from ragstone.watch.series import estimate_series

    view = SeriesView.of(estimate_series(store, metrics))
    page = watch_html(view, store.place.name)
    if output == "-":
        click.echo(page, nl=False)
        return True
    if not quiet:
        console().print(watch_report(view))
    _write(page, output, store.place, "watch.html", quiet)
    if not quiet:
        next_steps((command_line("view", name), "look at the series and the worst samples in a browser"))
    return True


def _run_text(run: Run, markdown: bool, latex: bool, worst: int, slices: list[str], all_samples: bool) -> str:
    if markdown:
        from ragstone.report.markdown import run_markdown

        return run_markdown(run, worst)
    if latex:
        from ragstone.report.exports import run_latex

        return run_latex(run)
    from ragstone.report.html.run_page import run_html

    return run_html(run, worst, slices or None, all_samples=all_samples)


def _comparison_text(comparison: Comparison, markdown: bool, latex: bool, worst: int, all_samples: bool) -> str:
    if markdown:
        from ragstone.report.markdown import comparison_markdown
        from ragstone.views.comparison import ComparisonView

        return comparison_markdown(ComparisonView.diagnosed(comparison), worst)
    if latex:
        from ragstone.report.exports import comparison_latex

        return comparison_latex(comparison)
    from ragstone.report.html.comparison_page import comparison_html

    return comparison_html(comparison, worst, all_samples=all_samples)


def _write(text: str, output: str | None, folder: Place, file_name: str, quiet: bool) -> None:
    """Writes to the named file, or into the folder of the run or watch."""
    from ragstone.storage.places import open_place

    path = folder.as_shared() / file_name if output is None else open_place(output)
    path.write_bytes(text.encode("utf-8", "replace"))
    if not quiet:
        click.echo(f"written to {path}")
