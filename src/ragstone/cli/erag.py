"""ragstone erag: what each retrieved chunk is worth to your generator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli import judging as models
from ragstone.cli import systems
from ragstone.cli.options import DEFAULT_ROOT, Format, Json, Limit, Map, Quiet, Root
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.stress.erag import Erag


def erag(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...",
            help="Samples with questions, retrieved contexts and what the metric needs, mostly references.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    system: Annotated[
        str | None,
        typer.Option(
            "--system",
            metavar="SPEC",
            help="The generator: file.py:function(question, contexts), cmd:./generate, a model such as openai/gpt-4o-mini, "
            "or a chat endpoint's address.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Show a stored result again.", show_default=False)
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            "-m", "--metrics", "--metric", metavar="NAME", help="What labels a chunk: the one metric of its answer."
        ),
    ] = "contains",
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="Only the first k chunks of each question.", show_default=False)
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="From which label on a chunk is relevant, where grades do not count.")
    ] = 0.5,
    blame: Annotated[
        bool, typer.Option("--blame", help="Ask without each chunk too: which ones help, which ones hurt.")
    ] = False,
    out: Root = DEFAULT_ROOT,
    name: Annotated[str, typer.Option("--name", help="A name for the run.", show_default=False)] = "",
    template: systems.Template = None,
    system_version: systems.Version = None,
    concurrency: systems.Concurrency = 8,
    timeout: systems.SystemTimeout = 120.0,
    budget: models.Budget = None,
    deadline: models.Deadline = None,
    rpm: models.RequestsPerMinute = None,
    base_url: models.BaseUrl = None,
    no_cache: systems.NoCache = False,
    quote: models.QuoteOnly = False,
    judge: models.Judge = None,
    embedder: models.Embedder = None,
    format: Format = None,
    map: Map = [],  # noqa: B006
    limit: Limit = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Label every retrieved chunk by what your generator makes of it alone, and judge the retrieval by these labels."""
    from ragstone.cli.options import parse_map, sources
    from ragstone.formats import read_dataset
    from ragstone.report.plain import counted
    from ragstone.stress.erag import check_downstream, quote_erag
    from ragstone.stress.pieces import list_samples

    if run:
        _show(_stored(run, out), json)
        return
    if not data or system is None:
        raise UsageError("name the data and the generator: ragstone erag answers.jsonl --system generate.py:answer")
    check_downstream(metric)
    listed = list_samples(list(read_dataset(sources(data), format, parse_map(map), limit)), k)
    options: dict[str, Any] = {
        "template": template,
        "version": system_version,
        "base_url": base_url,
        "concurrency": concurrency,
        "timeout_s": timeout,
        "deadline_s": deadline,
        "requests_per_minute": rpm,
        "budget": budget,
        "cache": not no_cache,
    }
    chunks = sum(len(sample.contexts or ()) for sample in listed.samples)
    asked = f"{counted(len(listed.samples), 'question')} with {counted(chunks, 'chunk')}"
    calls = f"{asked}: each alone, all together{', all but each' if blame else ''}"
    found = quote_erag(listed, system, blame, options)  # type: ignore[arg-type]
    if quote or not (json or quiet):
        systems.show_quote(found, json, calls, final=quote)
    if quote:
        return
    judging = {key: value for key, value in (("judge", judge), ("embedder", embedder), ("base_url", base_url)) if value}
    settings = {"metric": metric, "threshold": threshold, "blame": blame, "name": name}
    _show(_run(listed, system, out, settings, options, judging, json, quiet), json)


def _run(
    listed: Any,
    system: str,
    out: str,
    settings: dict[str, Any],
    options: dict[str, Any],
    judging: dict[str, Any],
    json: bool,
    quiet: bool,
) -> Erag:
    from ragstone.cli.screen import remark, showing_progress
    from ragstone.engine.evaluation import unheard
    from ragstone.stress.blame import keep_erag
    from ragstone.stress.erag import run_erag

    with showing_progress(quiet or json) as progress:
        found = run_erag(
            listed,
            system,
            out,
            **settings,
            system_options=options,  # type: ignore[arg-type]
            judging=judging,  # type: ignore[arg-type]
            progress=progress,
            note=unheard if quiet else remark,
        )
    keep_erag(found)
    return found


def _stored(name: str, root: str) -> Erag:
    from ragstone.cli.stored import find_run
    from ragstone.stress.blame import read_erag

    run = find_run(name, root)
    found = read_erag(run)
    if found is None:
        raise UsageError(f"run {run.name} is none of eRAG's: `ragstone erag DATA --system SPEC` makes one")
    return found


def _show(found: Erag, json: bool) -> None:
    from ragstone.stress.blame import as_dict

    if json:
        import json as json_module

        typer.echo(json_module.dumps(as_dict(found), indent=2, ensure_ascii=False))
        return
    from ragstone.cli.screen import console
    from ragstone.report.erag import erag_report
    from ragstone.report.terminal import run_report

    screen = console()
    screen.print()
    screen.print(run_report(found.run, full=True))
    screen.print(erag_report(found))
    typer.echo(f"\nstored in {found.run.path}\nthe answers from single chunks in {found.pieces.path}")
