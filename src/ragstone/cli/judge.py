"""ragstone judge: which of two or more systems does a judge prefer?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ragstone.cli import judging as models
from ragstone.cli.options import DEFAULT_ROOT, Json, Limit, Quiet, Root
from ragstone.cli.stored import find_run
from ragstone.errors import UsageError

# Runs over pairs are kept apart, so that `latest` stays the user's own.
FOLDER = "pairs"

Judges = Annotated[
    list[str],
    typer.Option(
        "--judge",
        metavar="MODEL",
        help="Who judges: openai/gpt-4o-mini, ollama/llama3.1, file.py:function. Repeat it for a jury; the majority counts.",
        show_default=False,
    ),
]
WithReference = Annotated[bool, typer.Option("--with-reference", help="Show the judge the reference answer.")]


def judge(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="A B...",
            help="Runs, one a system: paths, or under --out ids or names; latest is the newest.",
            show_default=False,
        ),
    ],
    judges: Judges = [],  # noqa: B006
    aspect: Annotated[
        str, typer.Option("--aspect", metavar="NAME", help="In which respect one answer is better than another.")
    ] = "quality",
    aspects: models.Aspects = [],  # noqa: B006
    order: Annotated[
        str, typer.Option("--order", help="Ask in both orders, or in one at random for half the calls.")
    ] = "both",
    with_reference: WithReference = False,
    own_reference: Annotated[
        bool, typer.Option("--own-reference", help="Let the judge answer first, and hold both answers against that.")
    ] = False,
    every_pair: Annotated[
        bool,
        typer.Option(
            "--every-pair", help="Let all systems meet on every question; more than 3 meet in turns otherwise."
        ),
    ] = False,
    limit: Limit = None,
    seed: Annotated[int, typer.Option("--seed", help="Decides which systems meet on which question.")] = 0,
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
    """Hold the answers of two or more systems against each other: who wins, by how much, and does the judge waver."""
    from ragstone.agreement.asking import METRICS
    from ragstone.agreement.pairing import pair_runs
    from ragstone.cli.run import show_quotes

    if len(runs) < 2:
        raise UsageError("judge needs two runs or more: ragstone judge OLD NEW --judge openai/gpt-4o-mini")
    if not judges:
        raise UsageError("name who judges with --judge, for instance --judge openai/gpt-4o-mini")
    models.load_aspects(aspects)
    pairing = pair_runs([find_run(name, out) for name in runs], with_reference, every_pair, limit, seed)
    options: dict[str, Any] = {
        "aspect": aspect,
        "order": order,
        "grading": ["own-reference"] if own_reference else [],
        "concurrency": concurrency,
        **models.read_calls(base_url, budget, timeout, deadline, rpm, tpm, no_cache, prompts),
    }
    if quote:
        show_quotes([(model, pairing.rows, {**options, "judge": model}) for model in judges], list(METRICS), json)
        return
    _show(pairing, judges, f"{out.rstrip('/')}/{FOLDER}", {**options, "resume": resume}, json, quiet)


def _show(pairing: Any, judges: list[str], out: str, options: dict[str, Any], json: bool, quiet: bool) -> None:
    from ragstone.agreement.duels import judge_pairs
    from ragstone.cli.screen import console, remark, showing_progress
    from ragstone.engine.evaluation import unheard
    from ragstone.report.duels import duels_dict, duels_report
    from ragstone.report.plain import to_json

    with showing_progress(quiet or json) as progress:
        found = judge_pairs(pairing, judges, out, options, progress=progress, note=unheard if quiet else remark)
    if json:
        typer.echo(to_json(duels_dict(found)))
    else:
        console().print()
        console().print(duels_report(found))
        for run in found.runs:
            typer.echo(f"\nstored in {run.path}")
    if all(note.undecided == note.duels for note in found.judges):
        raise typer.Exit(4)
