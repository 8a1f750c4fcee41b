"""ragstone sweep: many settings of one system."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.evaluation import NOTHING_SCORED
from ragstone.cli.options import METRICS, argument, load_aspects, load_metrics_files, model_options, option, shared
from ragstone.cli.output import command_line, console, next_steps, noting, print_json, showing_progress
from ragstone.report.text import to_json
from ragstone.tools.model_options import ModelOptions

if TYPE_CHECKING:
    from ragstone.sweep.plan import SweepPlan
    from ragstone.sweep.results import SweepResults


def sweep(
    plan: str = argument("SWEEP.TOML", "File with the system, the questions and the settings."),
    metrics: list[str] = shared("metrics"),
    objective: str | None = option(None, "--objective", "Metric that decides.", METRICS, metavar="METRIC"),
    metrics_file: list[str] = shared("metrics_file"),
    aspects: list[str] = shared("aspects"),
    out: str = shared("out"),
    limit: int | None = shared("limit"),
    no_halving: bool = option(False, "--no-halving", "Ask all questions with every setting.", METRICS),
    models: ModelOptions = model_options(
        "judge", "extractor", "checker", "agreement", "embedder", "scorer", "claims", "verdicts", "no_exam", "prompts"
    ),
    backend: str = shared("backend"),
    workers: int | None = shared("workers"),
    resume: bool = shared("resume"),
    quote: bool = shared("quote"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Run many settings of your system, and stop those that cannot win.

    Answers, runs and the page are stored; `--resume` continues a killed sweep.
    """
    load_metrics_files(metrics_file)
    load_aspects(aspects)
    chosen = replace(_read(plan, models, metrics, objective, limit, no_halving), backend=backend, workers=workers)
    if quote:
        _show_quote(chosen, out, json)
        return
    results = sweep_and_show(chosen, out, resume, json, quiet)
    if not json and not quiet:
        runs = [one.run for one in results.standings if one.run]
        steps = [(command_line("view", out), "look at the answers in a browser")]
        if len(runs) > 1:
            steps.insert(0, (command_line("compare", runs[1], runs[0], out=out), "the two best settings in detail"))
        next_steps(*steps)
    if not results.has_values:
        raise click.exceptions.Exit(NOTHING_SCORED)


def _read(
    path: str, models: ModelOptions, metrics: list[str], objective: str | None, limit: int | None, no_halving: bool
) -> SweepPlan:
    from ragstone.registry import parse_metric
    from ragstone.sweep.plan import read_plan, with_options

    names = tuple(one.strip() for text in metrics for one in text.split(","))
    wanted = None if objective is None else str(parse_metric(objective))
    found = with_options(read_plan(path), models.keywords(), metrics=names, objective=wanted, limit=limit)
    if no_halving:
        found = replace(found, halving=None)
    found.check_objective()
    return found


def sweep_and_show(plan: SweepPlan, out: str, resume: bool, json: bool, quiet: bool) -> SweepResults:
    """Run a sweep, write its results and page, and print them."""
    from ragstone.report.html.sweep_page import sweep_html
    from ragstone.report.sweep import sweep_report
    from ragstone.sweep.results import summarise
    from ragstone.sweep.run_sweep import run_sweep

    with showing_progress(quiet or json) as progress:
        finished = run_sweep(plan, out, resume, progress, noting(quiet))
    results = summarise(finished)
    finished.folder.page.write_bytes(sweep_html(results).encode("utf-8", "replace"))
    finished.folder.results.write_bytes(to_json(results.as_dict()).encode("utf-8", "replace"))
    finished.folder.clean()
    if json:
        print_json({**results.as_dict(), "path": str(finished.folder.place)})
        return results
    screen = console()
    screen.print()
    screen.print(sweep_report(results))
    click.echo(f"\nstored in {finished.folder.place}\npage in {finished.folder.page}")
    return results


def _show_quote(plan: SweepPlan, out: str, json: bool) -> None:
    from dataclasses import asdict

    from ragstone.sweep.sweep_folder import quote_sweep

    estimate = quote_sweep(plan, out)
    if json:
        print_json(asdict(estimate))
        return
    from ragstone.report.sweep import quote_lines

    for line in quote_lines(estimate):
        console().print(line, markup=False)
    budget: Any = "AMOUNT"
    next_steps((command_line("sweep", "…", budget=budget), "the same command without --quote, with a limit"))
