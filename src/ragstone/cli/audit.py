"""ragstone audit: can this judge be trusted?"""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer

from ragstone.cli import judging as models
from ragstone.cli.options import DEFAULT_ROOT, Json, Quiet, Root
from ragstone.cli.stored import find_run

# Runs over probes are kept apart, so that `latest` stays the user's own.
FOLDER = "audits"


def audit(
    judge: Annotated[
        str,
        typer.Argument(
            metavar="JUDGE", help="The model that judges: openai/gpt-4o-mini, ollama/llama3.1, file.py:function."
        ),
    ],
    on: Annotated[
        str,
        typer.Option(
            "--on",
            metavar="RUN",
            help="A run whose answers it is tried on: its path, or under --out its id or name.",
            show_default=False,
        ),
    ] = "latest",
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="RUN", help="Another system's answers to the same.", show_default=False),
    ] = None,
    jury: Annotated[
        list[str],
        typer.Option(
            "--jury",
            metavar="MODEL",
            help="Judges of other families, to see whether it prefers its own: --on is of its family, --against is not. Repeatable.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, help="How many samples of the run.")] = 50,
    seed: Annotated[int, typer.Option("--seed", help="Decides which ones.")] = 0,
    aspect: Annotated[
        str, typer.Option("--aspect", metavar="NAME", help="In which respect one answer is better than another.")
    ] = "quality",
    concurrency: Annotated[
        int, typer.Option("-j", "--concurrency", min=1, help="How many model calls may wait at a time.")
    ] = 16,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where it was interrupted.")] = False,
    base_url: models.BaseUrl = None,
    quote: models.QuoteOnly = False,
    budget: models.Budget = None,
    timeout: models.Timeout = 120.0,
    deadline: models.Deadline = None,
    rpm: models.RequestsPerMinute = None,
    tpm: models.TokensPerMinute = None,
    no_cache: models.NoCache = False,
    prompts: models.Prompts = None,
    out: Root = DEFAULT_ROOT,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try a judge for bias: position, verbosity, self-preference, injection, errors in mathematics and reasoning, language."""
    options: dict[str, Any] = {
        "aspect": aspect,
        "concurrency": concurrency,
        **models.read_calls(base_url, budget, timeout, deadline, rpm, tpm, no_cache, prompts),
    }
    run, other = find_run(on, out), find_run(against, out) if against else None
    if quote:
        _show_quote(judge, jury, (run, other, limit, seed), options, json)
        return
    from ragstone.agreement.audit.auditing import audit_judge
    from ragstone.cli.screen import console, remark, showing_progress
    from ragstone.engine.evaluation import unheard
    from ragstone.report.audit import audit_dict, audit_report
    from ragstone.report.plain import to_json

    home = f"{out.rstrip('/')}/{FOLDER}"
    with showing_progress(quiet or json) as progress:
        found = audit_judge(
            judge,
            run,
            against=other,
            jury=jury,
            out=home,
            limit=limit,
            seed=seed,
            options={**options, "resume": resume},
            progress=progress,
            note=unheard if quiet else remark,
        )
    if json:
        typer.echo(to_json(audit_dict(found)))
    else:
        console().print()
        console().print(audit_report(found))
        typer.echo(f"\nwhat it said: ragstone view {shlex.quote(home)}")
    if not found.tested:
        raise typer.Exit(4)


def _show_quote(judge: str, jury: list[str], about: tuple[Any, ...], options: dict[str, Any], json: bool) -> None:
    from ragstone.agreement.asking import METRICS
    from ragstone.agreement.audit.auditing import make_rows, natural
    from ragstone.cli.run import show_quotes

    rows, known = make_rows(*about)
    guided = {**options, "judge": judge, "grading": ["own-reference"]}
    asked = [(judge, rows, {**options, "judge": judge}), (f"{judge}, guided by its own answers", known, guided)]
    asked += [(f"jury: {model}", natural(rows), {**options, "judge": model}) for model in jury]
    show_quotes(asked, list(METRICS), json)
