"""ragstone judge: which of two or more systems does a judge prefer?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.evaluation import NOTHING_SCORED, show_quotes
from ragstone.cli.options import EXECUTION, METRICS, RUNS, argument, load_aspects, model_options, option, shared
from ragstone.cli.output import command_line, console, find_run, next_steps, noting, print_json, showing_progress
from ragstone.errors import UsageError
from ragstone.tools.model_options import ModelOptions

if TYPE_CHECKING:
    from ragstone.agreement.duels import Pairing

# Runs over pairs have a root of their own, so that `latest` stays the user's run.
FOLDER = "pairs"


def judge(
    runs: list[str] = argument("A B...", f"{RUNS} One per system."),
    judges: list[str] = shared("judge", []),
    aspect: str = shared("aspect"),
    aspects: list[str] = shared("aspects"),
    order: str = option("both", "--order", "Order of the two answers: both, or random for half the calls.", METRICS),
    with_reference: bool = option(False, "--with-reference", "Show the judge the reference answer.", METRICS),
    own_reference: bool = option(
        False, "--own-reference", "Let the judge answer first and compare with that.", METRICS
    ),
    every_pair: bool = option(
        False,
        "--every-pair",
        "Compare all pairs on every question; by default a part if there are more than 3 systems.",
        EXECUTION,
    ),
    limit: int | None = shared("limit"),
    seed: int = shared("seed"),
    concurrency: int = shared("concurrency"),
    resume: bool = shared("resume"),
    backend: str = shared("backend"),
    workers: int | None = shared("workers"),
    models: ModelOptions = model_options("verdicts", "grading", "prompts", "batch", "batch_folder"),
    quote: bool = shared("quote"),
    out: str = shared("out"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Compare answers pairwise with a judge.

    Repeat --judge for a jury; the majority counts.
    """
    from ragstone.agreement.duels import METRICS as PAIR_METRICS
    from ragstone.agreement.duels import pair_runs

    if len(runs) < 2:
        raise UsageError("judge needs two runs or more: ragstone judge OLD NEW --judge openai/gpt-4o-mini")
    if not judges:
        raise UsageError("name the judge, for example --judge openai/gpt-4o-mini")
    load_aspects(aspects)
    pairing = pair_runs([find_run(name, out) for name in runs], with_reference, every_pair, limit, seed)
    options: dict[str, Any] = {
        **models.keywords(),
        "aspect": aspect,
        "order": order,
        "grading": list(dict.fromkeys([*models.grading, *(["own-reference"] if own_reference else [])])),
        "concurrency": concurrency,
    }
    if quote:
        quoted = [(model, pairing.rows, {**options, "judge": model}) for model in judges]
        show_quotes(quoted, list(PAIR_METRICS), json)
        return
    options |= {"resume": resume, "backend": backend, "workers": workers}
    _judge(pairing, judges, f"{out.rstrip('/')}/{FOLDER}", options, json, quiet)
    if not json and not quiet:
        audit = command_line("audit", judges[0], on=runs[0], against=runs[1], out=out, base_url=models.base_url)
        next_steps((audit, "test the judge for bias"))


def _judge(pairing: Pairing, judges: list[str], out: str, options: dict[str, Any], json: bool, quiet: bool) -> None:
    from ragstone.agreement.duels import judge_pairs
    from ragstone.report.judges import duels_dict, duels_report

    with showing_progress(quiet or json) as progress:
        result = judge_pairs(pairing, judges, out, options, progress=progress, note=noting(quiet))
    if json:
        print_json(duels_dict(result))
    else:
        console().print()
        console().print(duels_report(result))
        for run in result.runs:
            click.echo(f"\nstored in {run.path}")
    if all(note.undecided == note.duels for note in result.judges):
        raise click.exceptions.Exit(NOTHING_SCORED)
