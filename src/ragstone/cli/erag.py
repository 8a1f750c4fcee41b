"""ragstone erag: the value of each retrieved chunk for your generator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ragstone.cli.evaluation import show_system_quote
from ragstone.cli.find_run import find_run
from ragstone.cli.options import (
    DATA,
    METRICS,
    data_argument,
    option,
    parse_map,
    shared,
    sources,
    system_options,
    with_models,
)
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.errors import UsageError
from ragstone.tools.model_options import ModelOptions

if TYPE_CHECKING:
    from ragstone.stress.erag import Erag


@with_models("judge", "embedder")
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
    models: ModelOptions = ModelOptions(),
    resume: bool = shared("resume"),
    quote: bool = shared("quote"),
    format: str | None = shared("format"),
    map: list[str] = shared("map"),
    limit: int | None = shared("limit"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Score each retrieved chunk by the answer it gives alone."""
    from ragstone.formats import read_dataset
    from ragstone.report.text import counted
    from ragstone.stress.erag import check_downstream, list_samples, quote_erag

    if run:
        _show(_read_stored(run, out), json, out)
        return
    if not data or system is None:
        raise UsageError("name the data and the generator: ragstone erag answers.jsonl --system generate.py:answer")
    check_downstream(metric)
    listed = list_samples(list(read_dataset(sources(data), format, parse_map(map), limit)), k)
    options: Any = system_options(models, template, system_version, concurrency)
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
    from ragstone.cli.screen import noting, showing_progress
    from ragstone.stress.chunk_blame import keep_erag
    from ragstone.stress.erag import run_erag

    with showing_progress(quiet or json) as progress:
        result = run_erag(listed, system, out, **settings, progress=progress, note=noting(quiet))
    keep_erag(result)
    return result


def _read_stored(name: str, root: str) -> Erag:
    from ragstone.stress.chunk_blame import read_erag

    run = find_run(name, root)
    result = read_erag(run)
    if result is None:
        raise UsageError(f"run {run.name} is not an eRAG run: `ragstone erag DATA --system SPEC` creates one")
    return result


def _show(result: Erag, json: bool, out: str) -> None:
    from ragstone.stress.chunk_blame import as_dict

    if json:
        print_json(as_dict(result))
        return
    from ragstone.cli.screen import console
    from ragstone.report.run import run_report
    from ragstone.report.stress import erag_report

    screen = console()
    screen.print()
    screen.print(run_report(result.run, full=True))
    screen.print(erag_report(result))
    typer.echo(f"\nstored in {result.run.path}\nthe answers from single chunks in {result.pieces.path}")
    next_steps((command_line("erag", run=result.run.id, out=out), "show it again"))
