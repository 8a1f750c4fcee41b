"""ragstone erag: the value of each retrieved chunk for your generator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.evaluation import show_system_quote
from ragstone.cli.options import (
    DATA,
    METRICS,
    Reading,
    data_argument,
    model_options,
    option,
    reading_options,
    shared,
    sources,
    system_options,
)
from ragstone.cli.output import command_line, console, find_run, next_steps, noting, print_json, showing_progress
from ragstone.errors import UsageError
from ragstone.tools.model_options import ModelOptions
from ragstone.views.phrases import counted

if TYPE_CHECKING:
    from ragstone.stress.erag import Erag


def erag(
    data: list[str] = data_argument([], "Samples with questions, contexts and what the metric needs."),
    system: str | None = shared("system"),
    run: str | None = shared("run", None),
    metric: str = option(
        "contains", "-m --metric --metrics", "Metric of the answer that labels a chunk.", METRICS, metavar="NAME"
    ),
    k: int | None = option(None, "--k", "Only the first k chunks of each question.", DATA, metavar="N", min=1),
    threshold: float = shared("threshold", 0.5),
    blame: bool = option(False, "--blame", "Also ask without each chunk: which chunks help or hurt.", METRICS),
    out: str = shared("out"),
    name: str = shared("name"),
    template: str | None = shared("template"),
    system_version: str | None = shared("system_version"),
    concurrency: int = shared("concurrency", 8),
    backend: str = shared("backend"),
    workers: int | None = shared("workers"),
    models: ModelOptions = model_options("judge", "embedder"),
    resume: bool = shared("resume"),
    quote: bool = shared("quote"),
    reading: Reading = reading_options(),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Score each retrieved chunk by the answer it gives alone."""
    from ragstone.formats import read_dataset
    from ragstone.stress.erag import check_downstream, list_samples, quote_erag

    if run:
        _show(_read_stored(run, out), json, out)
        return
    if not data or system is None:
        raise UsageError("name the data and the generator: ragstone erag answers.jsonl --system generate.py:answer")
    check_downstream(metric)
    listed = list_samples(list(read_dataset(sources(data), *reading)), k)
    options: Any = system_options(models, template, system_version, concurrency)
    options |= {"backend": backend, "workers": workers}
    if quote or not (json or quiet):
        chunks = sum(len(sample.contexts or ()) for sample in listed.samples)
        size = f"{counted(len(listed.samples), 'question')} with {counted(chunks, 'chunk')}"
        calls = f"{size}: each alone, all together{', all but each' if blame else ''}"
        show_system_quote(quote_erag(listed, system, blame, options), json, calls, is_final=quote)
    if quote:
        return
    settings = {
        "metric": metric,
        "threshold": threshold,
        "blame": blame,
        "name": name,
        "resume": resume,
        "system_options": options,
        "judging": ModelOptions(judge=models.judge, embedder=models.embedder, base_url=models.base_url),
    }
    _show(_run(listed, system, out, settings, json, quiet), json, out)


def _run(listed: Any, system: str, out: str, settings: dict[str, Any], json: bool, quiet: bool) -> Erag:
    from ragstone.stress.erag import keep_erag, run_erag

    with showing_progress(quiet or json) as progress:
        result = run_erag(listed, system, out, **settings, progress=progress, note=noting(quiet))
    keep_erag(result)
    return result


def _read_stored(name: str, root: str) -> Erag:
    from ragstone.stress.erag import read_erag

    run = find_run(name, root)
    result = read_erag(run)
    if result is None:
        raise UsageError(f"run {run.name} is not an eRAG run: `ragstone erag DATA --system SPEC` creates one")
    return result


def _show(result: Erag, json: bool, out: str) -> None:
    from ragstone.stress.erag import as_dict

    if json:
        print_json(as_dict(result))
        return
    from ragstone.report.run import run_report
    from ragstone.report.stress import erag_report

    screen = console()
    screen.print()
    screen.print(run_report(result.run))
    screen.print(erag_report(result))
    click.echo(f"\nstored in {result.run.path}\nthe answers from single chunks in {result.pieces.path}")
    next_steps((command_line("erag", run=result.run.id, out=out), "show it again"))
