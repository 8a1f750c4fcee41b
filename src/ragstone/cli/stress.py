"""ragstone stress: RGB's four abilities, and attacks by documents, on RGB's files or on your own samples."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.evaluation import show_system_quote
from ragstone.cli.options import (
    DATA,
    EXECUTION,
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
    from ragstone.stress.results import StressTest
    from ragstone.stress.run import Prepared

PAGE = "stress.html"


def stress(
    data: list[str] = data_argument([], "RGB's file, or your own samples with references and contexts."),
    system: list[str] = shared("system", []),
    run: list[str] = shared("run"),
    bed: list[str] = option(
        [],
        "--bed",
        "noise, rejection, integration, counterfactual (all four by default); injection, poison, conflict, overload. "
        "Repeatable.",
        DATA,
        metavar="NAME",
    ),
    passages: int = option(5, "--passages", "Passages per question.", DATA, metavar="N", min=1),
    rates: str = option("0:1:0.2", "--rates", "Noise rates: 0,0.5,1 or first:last:step.", DATA, metavar="LIST"),
    hostile: str = option(
        "1,3", "--hostile", "Numbers of hostile chunks per question, in the beds of attacks.", DATA, metavar="LIST"
    ),
    repeats: int = shared("repeats"),
    seed: int = shared("seed"),
    keep_contaminated: bool = option(
        False, "--keep-contaminated", "Keep noise passages that contain the answer; rows are marked.", EXECUTION
    ),
    metrics: list[str] = shared("metrics"),
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
    """Test a generator with noisy, missing, false and hostile passages."""
    if run:
        from ragstone.stress.results import read_stress

        _show([read_stress(find_run(one, out)) for one in run], json, out)
        return
    if not data or not system:
        raise UsageError("name the data and the generator: ragstone stress answers.jsonl --system generate.py:answer")
    from ragstone.formats import read_dataset
    from ragstone.stress.beds import ABILITIES, Setting
    from ragstone.stress.run import open_embed, prepare

    beds: Any = tuple(dict.fromkeys(name.strip() for text in bed for name in text.split(","))) or ABILITIES
    numbers = _read_numbers(hostile)
    setting = Setting(passages, _read_rates(rates), repeats, seed, beds, keep_contaminated, numbers)
    samples = list(read_dataset(sources(data), *reading))
    texts = sum(len(sample.contexts or ()) for sample in samples)
    prepared = prepare(samples, setting, open_embed(models.embedder, texts, models.base_url))
    options = system_options(models, template, system_version, concurrency)
    options |= {"backend": backend, "workers": workers}
    if quote:
        _show_quotes(prepared, system, options, json)
        return
    judging = ModelOptions(judge=models.judge, base_url=models.base_url)
    chosen = [one for text in metrics for one in text.split(",")]
    settings = {"metrics": chosen, "name": name, "system_options": options, "judging": judging, "resume": resume}
    run_and_show(prepared, system, out, settings, json, quiet)


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


def _read_numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--hostile {text}: write whole numbers from 1, as 1,3") from None


def _show_quotes(prepared: Prepared, systems: list[str], options: Any, json: bool) -> None:
    from ragstone.stress.run import quote_stress

    questions, beds = counted(prepared.questions, "question"), counted(len(prepared.beds), "bed")
    about = f"{questions} in {beds}, {counted(len(prepared.rows), 'row')} in all"
    for spec in systems:
        show_system_quote(quote_stress(prepared, spec, options), json, about)


def run_and_show(
    prepared: Prepared, systems: list[str], out: str, settings: dict[str, Any], json: bool, quiet: bool
) -> None:
    """Tests each generator on the same beds, and shows the results."""
    from ragstone.stress.results import keep_reports, read_stress
    from ragstone.stress.run import run_stress

    tests = []
    for spec in systems:
        with showing_progress(quiet or json) as progress:
            finished = run_stress(prepared, spec, out, **settings, progress=progress, note=noting(quiet))
        keep_reports(finished, prepared)
        tests.append(read_stress(finished))
    _show(tests, json, out)


def _show(tests: list[StressTest], json: bool, out: str) -> None:
    from ragstone.report.html.stress_page import stress_html
    from ragstone.stress.results import as_dict, contrast_tests

    contrasts = contrast_tests(tests)
    if json:
        compared = [[{**asdict(item), "verdict": item.verdict} for item in contrast] for contrast in contrasts]
        print_json({"tests": [as_dict(test) for test in tests], "contrasts": compared})
        return
    from ragstone.report.stress import stress_report

    screen = console()
    screen.print()
    screen.print(stress_report(tests, contrasts))
    page = tests[-1].run.folder.place.as_shared() / PAGE
    page.write_bytes(stress_html(tests, contrasts).encode("utf-8", "replace"))
    for test in tests:
        click.echo(f"\nstored in {test.run.path}", nl=False)
    click.echo(f"\ncurves in {page}")
    shown_again = command_line("stress", run=[test.run.id for test in tests], out=out)
    next_steps((shown_again, "show it again"), (command_line("view", out), "look at the answers in a browser"))
