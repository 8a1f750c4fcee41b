"""ragstone report: a run or a comparison as one HTML file, as Markdown, or as a table for a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.cli.compare import Cluster, Correction, Metrics, make_settings
from ragstone.cli.options import DEFAULT_ROOT, MetricsFile, Quiet
from ragstone.cli.stored import find_run
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.compare.comparison import Comparison
    from ragstone.storage.runs import Run


def report(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN [NEW]",
            help="A run, or two to compare, the old one first: paths, or under --root ids or names; latest is the newest.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write; - is standard output. HTML goes into the run's folder by default, the others to standard output.",
            show_default=False,
        ),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Markdown, for a pull request say.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="A table for a paper (booktabs).")] = False,
    worst: Annotated[
        int, typer.Option("--worst", metavar="N", min=0, max=1000, help="How many samples to show in full.")
    ] = 20,
    slices: Annotated[
        list[str],
        typer.Option(
            "--slice",
            metavar="COLUMN",
            help="Cut into slices by a metadata column. Repeatable; of one run by all columns with few values by default.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    metrics: Metrics = [],  # noqa: B006
    cluster: Cluster = None,
    correction: Correction = "joint",
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Compare also what was measured in different ways (another judge, say).")
    ] = False,
    metrics_file: MetricsFile = [],  # noqa: B006
    root: Annotated[
        str,
        typer.Option("--root", metavar="ROOT", envvar="RAGSTONE_ROOT", help="Folder or s3:// root of the stored runs."),
    ] = DEFAULT_ROOT,
    quiet: Quiet = False,
) -> None:
    """Write what a run or a comparison shows into one file that opens anywhere, offline."""
    from ragstone.cli.options import load_metrics_files

    if markdown and latex:
        raise UsageError("--markdown and --latex are two reports; ask for one at a time")
    if len(runs) > 2:
        raise UsageError("a report is about one run or two; `ragstone compare` ranks more")
    load_metrics_files(metrics_file)
    found = [find_run(name, root) for name in runs]
    if len(found) == 1:
        if metrics or cluster or anyway:
            raise UsageError("--metrics, --cluster and --anyway are for the comparison of two runs")
        text = _of_run(found[0], markdown, latex, worst, slices)
        beside = "report.html"
    else:
        from ragstone.compare.comparison import compare_runs

        compared = compare_runs(found[0], found[1], metrics, slices, make_settings(cluster, correction), anyway)
        text = _of_comparison(compared, markdown, latex, worst)
        beside = f"comparison-with-{found[0].id}.html"
    _write(text, output, None if markdown or latex else found[-1], beside, quiet)


def _of_run(run: Run, markdown: bool, latex: bool, worst: int, slices: list[str]) -> str:
    if markdown:
        from ragstone.report.run_markdown import run_markdown

        return run_markdown(run, worst)
    if latex:
        from ragstone.report.latex import run_latex

        return run_latex(run)
    from ragstone.report.html.run_page import run_html

    return run_html(run, worst, slices or None)


def _of_comparison(found: Comparison, markdown: bool, latex: bool, worst: int) -> str:
    if markdown:
        from ragstone.report.markdown import comparison_markdown

        return comparison_markdown(found, worst)
    if latex:
        from ragstone.report.latex import comparison_latex

        return comparison_latex(found)
    from ragstone.report.html.comparison_page import comparison_html

    return comparison_html(found, worst)


def _write(text: str, output: str | None, run: Run | None, beside: str, quiet: bool) -> None:
    """Into the file that was named, or beside the run, or to standard output."""
    from ragstone.storage.places import open_place

    if output == "-" or (output is None and run is None):
        typer.echo(text, nl=False)
        return
    place = run.folder.place / beside if output is None and run else open_place(output or beside)
    place.write_bytes(text.encode("utf-8", "replace"))
    if not quiet:
        typer.echo(f"written to {place}")
