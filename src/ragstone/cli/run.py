"""ragstone run: evaluate a file of answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli import judging as models
from ragstone.cli import notifying
from ragstone.cli.options import DEFAULT_ROOT, Data, Format, Full, Json, Limit, Map, MetricsFile, Quiet, Root
from ragstone.errors import UnknownNameError

if TYPE_CHECKING:
    from rich.console import Console

    from ragstone.storage.runs import Run

TOO_FEW_CELLS = 4
# Causes of more samples take longer than a person wants to wait after a run; `ragstone diagnose` looks at all.
MOST_DIAGNOSED = 2_000
WRITTEN_AS = ("dial", "ragchecker")


def run(
    data: Data,
    metrics: Annotated[
        list[str],
        typer.Option(
            "-m",
            "--metrics",
            metavar="NAMES",
            help="Metrics or sets, separated by commas: recall@5,token_f1 or dial. All that the data allows and that take little time by default; all for the slow ones too.",
            show_default=False,
        ),
    ] = [],  # noqa: B006  (typer reads the default, nobody changes it)
    out: Root = DEFAULT_ROOT,
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth",
            metavar="NAME[@N]",
            help="Score against this ground truth under --out, in place of what the data has: the newest version, or that of the number.",
            show_default=False,
        ),
    ] = None,
    format: Format = None,
    map: Map = [],  # noqa: B006
    limit: Limit = None,
    name: Annotated[str, typer.Option("--name", help="A name for the run.", show_default=False)] = "",
    param: Annotated[
        list[str],
        typer.Option(
            "--param",
            metavar="NAME=VALUE",
            help="How the system was set up, as in --param chunk_size=256: a column when runs are compared. Repeatable.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    matcher: Annotated[
        str,
        typer.Option(
            "--matcher", help="How facts are found in chunks: citation, fuzzy, exact, or semantic by a local model."
        ),
    ] = "citation",
    metrics_file: MetricsFile = [],  # noqa: B006
    concurrency: Annotated[
        int, typer.Option("-j", "--concurrency", min=1, help="How many model calls may wait at a time.")
    ] = 16,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an interrupted run of the same data and metrics.")
    ] = False,
    backend: Annotated[
        str,
        typer.Option(
            "--backend", help="Who works on it: local, or ray for the cluster of RAY_ADDRESS or one started here."
        ),
    ] = "local",
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="By how many; all cores by default.", show_default=False)
    ] = None,
    write_as: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="FORMAT",
            help="Write another tool's results too: dial; ragchecker, which is printed as well.",
            show_default=False,
        ),
    ] = None,
    judge: models.Judge = None,
    extractor: models.Extractor = None,
    checker: models.CheckerModel = None,
    agreement: models.Agreement = 0.9,
    embedder: models.Embedder = None,
    scorer: models.Scorer = None,
    reward_model: models.RewardModel = None,
    toxicity_model: models.ToxicityModel = None,
    base_url: models.BaseUrl = None,
    quote: models.QuoteOnly = False,
    budget: models.Budget = None,
    timeout: models.Timeout = 120.0,
    deadline: models.Deadline = None,
    rpm: models.RequestsPerMinute = None,
    tpm: models.TokensPerMinute = None,
    no_cache: models.NoCache = False,
    claims: models.Claims = "sentences",
    claims_per_call: models.ClaimsPerCall = 25,
    chunks_per_call: models.ChunksPerCall = 10,
    repeats: models.Repeats = 1,
    scale: models.Scale = "points",
    grading: models.Grading = "",
    aspects: models.Aspects = [],  # noqa: B006
    prompts: models.Prompts = None,
    webhook: notifying.WebhookUrl = None,
    webhook_format: notifying.WebhookFormat = "json",
    otel: notifying.Otel = False,
    mlflow: notifying.Mlflow = False,
    full: Full = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate what a RAG system retrieved and answered, and store the run."""
    from ragstone.cli.options import load_metrics_files, parse_map, parse_params, sources

    load_metrics_files(metrics_file)
    models.load_aspects(aspects)
    options: dict[str, Any] = {
        "format": format,
        "columns": parse_map(map),
        "limit": limit,
        "matcher": matcher,
        "concurrency": concurrency,
        "judge": judge,
        "extractor": extractor,
        "checker": checker,
        "agreement": agreement,
        "embedder": embedder,
        "scorer": scorer,
        "reward_model": reward_model,
        "toxicity_model": toxicity_model,
        **models.read_calls(base_url, budget, timeout, deadline, rpm, tpm, no_cache, prompts),
        "claims": claims,
        "claims_per_call": claims_per_call,
        "chunks_per_call": chunks_per_call,
        "repeats": repeats,
        "scale": scale,
        "grading": models.read_names(grading),
    }
    given = sources(data) if truth is None else _read_with_truth(sources(data), truth, out, options)
    if quote:
        show_quote(given, metrics, options, json)
        return
    options |= {"name": name, "resume": resume, "params": parse_params(param), "backend": backend, "workers": workers}
    if write_as not in (None, *WRITTEN_AS):
        raise UnknownNameError("format of results", str(write_as), WRITTEN_AS, f"There are: {', '.join(WRITTEN_AS)}.")
    listeners = notifying.read_listeners(webhook, webhook_format, otel, mlflow)
    if write_as == "ragchecker":
        metrics = metrics or ["ragchecker"]
    finished = show_run(given, metrics, out, options, json, quiet, write_as != "ragchecker", full)
    if write_as == "ragchecker":
        from ragstone.cli.ragchecker import write_results

        write_results(finished, f"{finished.path}/ragchecker/checking_outputs.json", not json, quiet)
    if write_as == "dial":
        from ragstone.report.dial import write_dial_table

        table = write_dial_table(finished, finished.folder.place / "dial")
        if not json and not quiet:
            typer.echo(f"DIAL's table in {table}")
    notifying.tell_listeners(finished, listeners, quiet)
    if not any(row.n_ok for row in finished.summary()):
        raise typer.Exit(TOO_FEW_CELLS)


def _read_with_truth(data: Any, truth: str, root: str, options: dict[str, Any]) -> Any:
    from ragstone.truth.joining import read_with_truth

    return read_with_truth(data, truth, root, options["format"], options["columns"], options["limit"])


def show_run(
    data: Any,
    metrics: list[str],
    out: str,
    options: dict[str, Any],
    json: bool,
    quiet: bool,
    table: bool = True,
    full: bool = False,
) -> Run:
    """Evaluate with progress and print the result, unless something else is printed in its place.

    Who names metrics sees all of them; who does not sees the headlines first.
    """
    from ragstone.cli.screen import console, remark, showing_progress
    from ragstone.engine.evaluation import evaluate, unheard
    from ragstone.report.terminal import run_report

    with showing_progress(quiet or json) as progress:
        finished = evaluate(data, metrics or None, out, progress=progress, note=unheard if quiet else remark, **options)
    if json:
        _print_json(finished)
    elif table:
        screen = console()
        screen.print()
        screen.print(run_report(finished, full=full or bool(metrics)))
        _show_diagnosis(screen, finished)
        typer.echo(f"\nstored in {finished.path}")
    return finished


def _show_diagnosis(screen: Console, finished: Run) -> None:
    """What limits quality, in a few lines, if the run shows anything about it."""
    import shlex

    from ragstone.compare.diagnosis import diagnose
    from ragstone.report.diagnosis import has_something_to_say, short_report

    found = diagnose(finished, most=MOST_DIAGNOSED)
    if has_something_to_say(found):
        screen.print(short_report(found))
        typer.echo(f"    more: ragstone diagnose {shlex.quote(finished.path)}")


def show_quote(data: Any, metrics: list[str], options: dict[str, Any], json: bool) -> None:
    """Print what a run would cost."""
    from dataclasses import asdict

    from ragstone.cli.screen import console
    from ragstone.engine.quoting import quote
    from ragstone.report.quote import quote_report

    found = quote(data, metrics or None, **options)
    if json:
        import json as json_module

        typer.echo(json_module.dumps(asdict(found), indent=2, ensure_ascii=False))
    else:
        console().print(quote_report(found))


def show_quotes(asked: list[tuple[str, Any, dict[str, Any]]], metrics: list[str], json: bool) -> None:
    """Print what several runs would cost, each with its title; a list for programs."""
    from dataclasses import asdict

    from ragstone.cli.screen import console
    from ragstone.engine.quoting import quote
    from ragstone.report.plain import to_json
    from ragstone.report.quote import quote_report

    found = [(title, quote(data, metrics, **options)) for title, data, options in asked]
    if json:
        typer.echo(to_json([{"title": title, **asdict(one)} for title, one in found]))
        return
    for title, one in found:
        console().print(f"\n{title}", style="bold", markup=False, highlight=False)
        console().print(quote_report(one))


def _print_json(finished: Any) -> None:
    import json
    from dataclasses import asdict

    rows = [asdict(row) for row in finished.summary()]
    typer.echo(json.dumps({"run": finished.path, "id": finished.id, "summary": rows}, indent=2, ensure_ascii=False))
