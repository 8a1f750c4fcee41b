"""ragstone judge-check and audit: examine a judge, and test it for bias."""

from __future__ import annotations

from typing import Any

import click

from ragstone.cli.evaluation import NOTHING_SCORED, show_quotes
from ragstone.cli.options import DATA, METRICS, argument, model_options, option, shared
from ragstone.cli.output import (
    command_line,
    console,
    find_run,
    next_steps,
    noting,
    print_json,
    showing_progress,
    write_file,
)
from ragstone.errors import UnknownNameError, UsageError
from ragstone.tools.model_options import MODELS, ModelOptions

# Runs over probes have a root of their own, so that `latest` stays the user's run.
FOLDER = "audits"
_SETS = ("claims", "answers", "rag", "long", "languages", "tables")


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
    models: ModelOptions = model_options("prompts"),
    quote: bool = shared("quote"),
    html: str | None = shared("html"),
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
        raise click.exceptions.Exit(NOTHING_SCORED)


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
    from ragstone.agreement.audit_probes import EFFECTS, draw_samples, effect_metric, effect_rows, make_rows
    from ragstone.agreement.duels import METRICS as DUELS

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


def judge_check(
    judge: str | None = argument(
        "[JUDGE]", "Judge model: openai/gpt-4o-mini, ollama/llama3.1, llama/NAME, file.py:function, local.", None
    ),
    sets: str | None = option(
        None,
        "--sets",
        f"Compare judges on labelled sets ({', '.join(_SETS)}; all without a value) or labelled files.",
        METRICS,
        metavar="[NAMES]",
        bare="all",
    ),
    judges: list[str] = shared("judge", []),
    checkers: list[str] = shared("checker", []),
    limit: int | None = shared("limit"),
    concurrency: int = shared("concurrency"),
    models: ModelOptions = model_options("prompts"),
    calibrate: bool = shared("calibrate"),
    quote: bool = shared("quote"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Examine a judge with 40 labelled items.

    Claims, answers, pairs and JSON in five languages: how often it is right, what it costs and how to ask it. With --sets,
    compare several judges and checkers on labelled sets: --sets --judge local --checker factcg.
    """
    if sets is not None:
        if calibrate:
            raise UsageError("--calibrate uses the exam: leave out --sets")
        named = ([*([judge] if judge else []), *judges], checkers)
        _compare_on_sets(named, sets, limit, (models.keywords(), concurrency), quote, json, quiet)
        return
    if judge is None:
        raise UsageError(
            "name a judge: ragstone judge-check openai/gpt-4o-mini; or compare several: --sets --judge local"
        )
    from ragstone.agreement.judge_check import check_dict, check_judge, quote_check
    from ragstone.report.judges import calibration_dict, calibration_report, check_report
    from ragstone.report.quote import line_report
    from ragstone.tools.judge_exam import AT_CHANCE

    options: dict[str, Any] = models.keywords()
    if quote:
        line = quote_check(judge, options, concurrency)
        print_json(vars(line)) if json else console().print(line_report(line))
        return
    check = check_judge(judge, options, concurrency, noting(quiet or json), calibrate)
    if json:
        found = [calibration_dict(check.calibrated)] if check.calibrated else []
        print_json({**check_dict(check), **({"calibration": found} if calibrate else {})})
        return
    console().print()
    console().print(check_report(check))
    if check.calibrated:
        console().print(calibration_report([check.calibrated]))
    if check.verdict == AT_CHANCE:
        other = command_line("judge-check", "OTHER_MODEL", base_url=models.base_url)
        next_steps((other, "examine a larger model"), (command_line("view"), "or label answers yourself: keys 1, 2, 3"))
        return
    way = {"verdicts": check.best.way} if check.best.way in ("json", "tokens") else {}
    role = "checker" if check.best.way == "own form" else "judge"
    next_steps((command_line("run", "DATA", **{role: judge}, base_url=models.base_url, **way), "use it"))


def _compare_on_sets(
    named: tuple[list[str], list[str]],
    sets: str,
    limit: int | None,
    how: tuple[dict[str, Any], int],
    quote: bool,
    json: bool,
    quiet: bool,
) -> None:
    from ragstone.agreement.labelled_sets import compare_judges, parse_sets, quote_sets, sets_dict
    from ragstone.report.judges import sets_report
    from ragstone.report.quote import line_report

    judges, checkers = named if any(named) else (["local"], [])
    if quote:
        line = quote_sets(judges, checkers, parse_sets(sets), limit, *how)
        print_json(vars(line)) if json else console().print(line_report(line))
        return
    found = compare_judges(judges, checkers, parse_sets(sets), limit, *how, noting(quiet or json))
    if json:
        print_json(sets_dict(found))
    else:
        console().print()
        console().print(sets_report(found))
    if not any(one.judged for one in found):
        raise click.exceptions.Exit(NOTHING_SCORED)
