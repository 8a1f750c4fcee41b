"""ragstone stress: RGB's four abilities on RGB's files or on your own samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli import judging as models
from ragstone.cli import systems
from ragstone.cli.options import DEFAULT_ROOT, Format, Json, Limit, Map, Quiet, Root
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.stress.beds import Setting
    from ragstone.stress.results import StressTest
    from ragstone.stress.running import Prepared

PAGE = "stress.html"


def stress(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...",
            help="RGB's file, or your own samples with references and contexts; with --run nothing.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    system: Annotated[
        list[str],
        typer.Option(
            "--system",
            metavar="SPEC",
            help="The generator: file.py:function(question, contexts), cmd:./generate, a model such as openai/gpt-4o-mini, "
            "or a chat endpoint's address. Two are compared on the same beds.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    run: Annotated[
        list[str],
        typer.Option("--run", metavar="RUN", help="Show a stored stress test again. Repeatable.", show_default=False),
    ] = [],  # noqa: B006
    bed: Annotated[
        list[str],
        typer.Option(
            "--bed",
            metavar="NAME",
            help="noise, rejection, integration, counterfactual; all by default. Repeatable.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    passages: Annotated[int, typer.Option("--passages", min=1, help="How many passages a question is shown with.")] = 5,
    rates: Annotated[
        str, typer.Option("--rates", metavar="LIST", help="Noise rates: 0,0.5,1 or first:last:step.")
    ] = "0:1:0.2",
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="How often each is asked, in another order.")] = 1,
    seed: Annotated[int, typer.Option("--seed", help="Decides the order of passages and the false answers.")] = 0,
    keep_contaminated: Annotated[
        bool,
        typer.Option("--keep-contaminated", help="Use passages as noise though they hold the answer; rows are marked."),
    ] = False,
    metrics: Annotated[
        list[str],
        typer.Option("-m", "--metrics", metavar="NAMES", help="More metrics to draw curves of.", show_default=False),
    ] = [],  # noqa: B006
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
    """Put your generator under stress: noise, nothing but noise, scattered facts, false passages."""
    if run:
        _show(_stored(run, out), json)
        return
    if not data or not system:
        raise UsageError("name the data and the generator: ragstone stress answers.jsonl --system generate.py:answer")
    setting = _read_setting(bed, passages, rates, repeats, seed, keep_contaminated)
    prepared = _prepare(data, format, map, limit, setting, embedder, base_url)
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
    if quote:
        from ragstone.report.plain import counted
        from ragstone.stress.running import quote_stress

        for spec in system:
            asked, beds = counted(prepared.questions, "question"), counted(len(prepared.beds), "bed")
            about = f"{asked} in {beds}, {counted(len(prepared.rows), 'row')} in all"
            systems.show_quote(quote_stress(prepared, spec, options), json, about)  # type: ignore[arg-type]
        return
    judging = {key: value for key, value in (("judge", judge), ("base_url", base_url)) if value}
    tests = [_run(prepared, spec, out, name, metrics, options, judging, json, quiet) for spec in system]
    _show(tests, json)


def _read_setting(
    beds: list[str], passages: int, rates: str, repeats: int, seed: int, keep_contaminated: bool
) -> Setting:
    from ragstone.stress.beds import BEDS, Setting

    chosen: Any = tuple(name.strip() for text in beds for name in text.split(",")) or BEDS
    return Setting(passages, _read_rates(rates), repeats, seed, chosen, keep_contaminated)


def _read_rates(text: str) -> tuple[float, ...]:
    """`0,0.5,1`, or `0:1:0.2` for steps."""
    try:
        if ":" not in text:
            return tuple(float(part) for part in text.split(","))
        first, last, step = (float(part) for part in text.split(":"))
        count = int((last - first) / step + 1e-9)
        return tuple(round(first + number * step, 6) for number in range(count + 1))
    except (ValueError, ZeroDivisionError):
        raise UsageError(
            f"--rates {text}: write numbers from 0 to 1 as 0,0.5,1 or as first:last:step, 0:1:0.2"
        ) from None


def _prepare(
    data: list[str],
    format: str | None,
    map: list[str],
    limit: int | None,
    setting: Setting,
    embedder: str | None,
    base_url: str | None,
) -> Prepared:
    from ragstone.cli.options import parse_map, sources
    from ragstone.formats import read_dataset
    from ragstone.stress.running import open_embed, prepare

    samples = list(read_dataset(sources(data), format, parse_map(map), limit))
    texts = sum(len(sample.contexts or ()) for sample in samples)
    return prepare(samples, setting, open_embed(embedder, texts, base_url))


def _run(
    prepared: Prepared,
    spec: str,
    out: str,
    name: str,
    metrics: list[str],
    options: dict[str, Any],
    judging: dict[str, Any],
    json: bool,
    quiet: bool,
) -> StressTest:
    from ragstone.cli.screen import remark, showing_progress
    from ragstone.engine.evaluation import unheard
    from ragstone.stress.results import keep_reports, read_stress
    from ragstone.stress.running import run_stress

    with showing_progress(quiet or json) as progress:
        finished = run_stress(
            prepared,
            spec,
            out,
            metrics=[one for text in metrics for one in text.split(",")],
            name=name,
            system_options=options,  # type: ignore[arg-type]
            judging=judging,  # type: ignore[arg-type]
            progress=progress,
            note=unheard if quiet else remark,
        )
    keep_reports(finished, prepared)
    return read_stress(finished)


def _stored(names: list[str], root: str) -> list[StressTest]:
    from ragstone.cli.stored import find_run
    from ragstone.stress.results import read_stress

    return [read_stress(find_run(name, root)) for name in names]


def _show(tests: list[StressTest], json: bool) -> None:
    from ragstone.report.html.stress_page import stress_html
    from ragstone.stress.results import as_dict, contrast_tests

    contrasts = contrast_tests(tests)
    if json:
        import json as json_module
        from dataclasses import asdict

        told = {"tests": [as_dict(test) for test in tests]}
        compared = [[{**asdict(item), "verdict": item.verdict} for item in found] for found in contrasts]
        typer.echo(json_module.dumps({**told, "contrasts": compared}, indent=2, ensure_ascii=False))
        return
    from ragstone.cli.screen import console
    from ragstone.report.stress import stress_report

    screen = console()
    screen.print()
    screen.print(stress_report(tests, contrasts))
    page = tests[-1].run.folder.place / PAGE
    page.write_bytes(stress_html(tests, contrasts).encode("utf-8", "replace"))
    for test in tests:
        typer.echo(f"\nstored in {test.run.path}", nl=False)
    typer.echo(f"\ncurves in {page}")
