"""ragstone simulate: simulated users talk to your system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragstone.cli.evaluation import NOTHING_SCORED
from ragstone.cli.options import DATA, argument, model_options, option, shared, system_options
from ragstone.cli.output import command_line, next_steps, noting, print_json, showing_progress
from ragstone.cli.truth.collect import ENDINGS
from ragstone.cli.truth.options import describe_calls, show_quote
from ragstone.errors import UsageError
from ragstone.tools.model_options import MODELS, ModelOptions
from ragstone.views.phrases import counted, visible

if TYPE_CHECKING:
    from ragstone.truth.simulation import Simulation


def simulate(
    users: str = argument("USERS", "TOML or JSON lines with personas, questions and goals."),
    system: str = shared("system", ...),
    user: str | None = option(None, "--user", "Model that plays the users; rules by default.", MODELS, metavar="MODEL"),
    turns: int = option(6, "--turns", "Most turns of a conversation.", DATA, metavar="N", min=1),
    per_user: int = option(
        1, "--per-user", "Conversations per user, each with the next seed.", DATA, metavar="N", min=1
    ),
    seed: int = shared("seed"),
    out: str = option(
        "conversations.jsonl", "-o --output --out", "File to write: .jsonl, .parquet or .csv.", metavar="FILE"
    ),
    template: str | None = shared("template"),
    system_version: str | None = shared("system_version"),
    resume: bool = shared("resume"),
    concurrency: int = shared("concurrency", 8),
    models: ModelOptions = model_options("prompts"),
    quote: bool = shared("quote"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Let simulated users talk to your system, and write the conversations for `ragstone run`.

    A conversation ends at its goal, at the limit, or if nothing is left to ask.
    """
    from ragstone.data.dataset import samples_table
    from ragstone.formats import write_dataset
    from ragstone.storage.places import open_place
    from ragstone.truth.simulated_users import read_users
    from ragstone.truth.simulation import Script
    from ragstone.truth.simulation import simulate as hold

    if not out.endswith(ENDINGS):
        raise UsageError(f"'{out}' must end in {', '.join(ENDINGS)}")
    prompts = None if models.prompts is None else str(models.prompts)
    script = Script(read_users(users), turns, per_user, seed, user, prompts)
    options = system_options(models, template, system_version, concurrency)
    if quote:
        show_quote("simulate", hold(script, system, quoting=True, **options).calls, concurrency, json)
        return
    place = open_place(out)
    journal = f"{place.path}.partial" if place.is_local else None
    with showing_progress(quiet or json) as progress:
        done = hold(script, system, journal=journal, resume=resume, progress=progress, note=noting(quiet), **options)
    write_dataset(samples_table(done.samples).to_batches(), out)
    _show(done, out, json)
    if not json and not quiet:
        next_steps((command_line("run", out), "evaluate the conversations"))
    if not any(row.answer is not None for row in done.samples):
        raise click.exceptions.Exit(NOTHING_SCORED)


def _show(done: Simulation, out: str, json: bool) -> None:
    counts = done.counts
    failures = {talk.id: talk.error for talk in done.talks if talk.error}
    if json:
        about = {"out": out, "system": done.system, "played_by": done.played_by, **counts, "resumed": done.resumed}
        print_json({**about, "failures": failures})
        return
    talks, turns = counted(counts["conversations"], "conversation"), counted(counts["turns"], "turn")
    click.echo(f"{talks} with {done.system}, {turns} in all; users played by {done.played_by}; written to {out}")
    if counts["with_goal"]:
        click.echo(f"  goal reached in {counts['goal_reached']:,} of {counts['with_goal']:,}")
    for ending, count in counts["endings"].items():
        click.echo(f"  {count:,} ended: {ending}")
    click.echo(f"  {describe_calls(done.calls)}; {done.resumed:,} answers of an earlier call")
    for name, error in list(failures.items())[:3]:
        click.echo(visible(f"  {name}: {error}"))
