"""ragstone audit: test a judge for bias."""

from __future__ import annotations

from typing import Any

import typer

from ragstone.cli.evaluation import NOTHING_SCORED, show_quotes
from ragstone.cli.find_run import find_run
from ragstone.cli.options import DATA, METRICS, MODELS, OUTPUT, argument, option, shared, with_models
from ragstone.cli.output import command_line, next_steps, print_json, write_file
from ragstone.errors import UnknownNameError
from ragstone.tools.model_options import ModelOptions

# Runs over probes have a root of their own, so that `latest` stays the user's run.
FOLDER = "audits"


@with_models("prompts")
def audit(
    judge: str = argument("JUDGE", "Judge model: openai/gpt-4o-mini, ollama/llama3.1, file.py:function."),
    on: str = option("latest", "--on", "Run whose answers the judge is tested on.", DATA, metavar="RUN"),
    against: str | None = shared("against"),
    jury: list[str] = option(
        [],
        "--jury",
        "Judge of another family, to measure self-preference: --on is of the judge's family, --against is not. Repeatable.",
        MODELS,
        metavar="MODEL",
    ),
    tasks: str = option(
        "pairs,verdicts,grades", "--tasks", "What to test: pairs, verdicts, grades.", METRICS, metavar="LIST"
    ),
    limit: int = shared("limit", 50),
    seed: int = shared("seed"),
    aspect: str = shared("aspect"),
    concurrency: int = shared("concurrency"),
    resume: bool = shared("resume"),
    models: ModelOptions = ModelOptions(),
    quote: bool = shared("quote"),
    html: str | None = option(None, "--html", "Also write the result as an HTML page.", OUTPUT, metavar="FILE"),
    out: str = shared("out"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Test a judge for bias.

    Pairs: position, length, self-preference, injection, mathematical and logical errors, language. Verdicts and grades:
    length, order of claims, position of the deciding chunk, authority, format.
    """
    chosen = _parse_tasks(tasks)
    options: dict[str, Any] = {**models.keywords(), "aspect": aspect, "concurrency": concurrency}
    run, other = find_run(on, out), find_run(against, out) if against else None
    if quote:
        _show_quote(judge, jury, (run, other, limit, seed), chosen, options, json)
        return
    from ragstone.agreement.audit import audit_judge
    from ragstone.cli.screen import console, noting, showing_progress
    from ragstone.report.judges import audit_dict, audit_report

    home = f"{out.rstrip('/')}/{FOLDER}"
    with showing_progress(quiet or json) as progress:
        result = audit_judge(
            judge,
            run,
            against=other,
            jury=jury,
            out=home,
            limit=limit,
            seed=seed,
            options={**options, "resume": resume},
            tasks=chosen,
            progress=progress,
            note=noting(quiet),
        )
    if html:
        from ragstone.report.html.judge_page import audit_html

        write_file(audit_html(result), html)
    if json:
        print_json(audit_dict(result))
    else:
        console().print()
        console().print(audit_report(result))
        next_steps((command_line("view", home), "the judge's replies"))
    if not result.tested:
        raise typer.Exit(NOTHING_SCORED)


def _parse_tasks(text: str) -> list[str]:
    known = ("pairs", "verdicts", "grades")
    tasks = [task.strip() for task in text.split(",") if task.strip()]
    for task in tasks or [""]:
        if task not in known:
            raise UnknownNameError("task", task, known, f"Choose from: {', '.join(known)}.")
    return tasks


def _show_quote(
    judge: str, jury: list[str], about: tuple[Any, ...], tasks: list[str], options: dict[str, Any], json: bool
) -> None:
    from ragstone.agreement.audit import natural
    from ragstone.agreement.audit_probes import draw_samples, make_rows
    from ragstone.agreement.duels import METRICS as DUELS
    from ragstone.agreement.effect_probes import EFFECTS, effect_rows
    from ragstone.agreement.effects import effect_metric

    asked = {**options, "judge": judge}
    quoted: list[tuple[str, Any, dict[str, Any]]] = []
    if "pairs" in tasks:
        rows, known = make_rows(*about)
        guided = {**asked, "grading": ["own-reference"]}
        quoted += [(judge, rows, asked), (f"{judge}, guided by its own answers", known, guided)]
        quoted += [(f"jury: {model}", natural(rows), {**options, "judge": model}) for model in jury]
    metrics = {title: list(DUELS) for title, _, _ in quoted}
    run, _, limit, seed = about
    for task in EFFECTS:
        if task in tasks and (rows := effect_rows(task, draw_samples(run, limit, seed))):
            quoted.append((f"{judge}: {task}", rows, asked))
            metrics[f"{judge}: {task}"] = [effect_metric(task, options["aspect"])]
    show_quotes(quoted, metrics, json)
