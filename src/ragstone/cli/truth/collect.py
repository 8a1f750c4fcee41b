"""ragstone truth collect: run a system over the questions to get the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragstone.cli.evaluation import NOTHING_SCORED, show_system_quote
from ragstone.cli.options import Reading, argument, model_options, option, reading_options, shared, system_options
from ragstone.cli.output import command_line, next_steps, noting, print_json, showing_progress
from ragstone.cli.truth.options import open_store
from ragstone.errors import UsageError
from ragstone.tools.model_options import ModelOptions
from ragstone.views.phrases import counted

if TYPE_CHECKING:
    from ragstone.data.types import Sample
    from ragstone.truth.collect import Collected

ENDINGS = (".jsonl", ".parquet", ".csv")


def collect(
    questions: str = argument("QUESTIONS", "File with questions, or NAME[@N] of a ground truth."),
    system: str = shared("system", ...),
    out: str = option("answers.jsonl", "-o --output --out", "File to write: .jsonl, .parquet or .csv.", metavar="FILE"),
    root: str = shared("root"),
    template: str | None = shared("template"),
    system_version: str | None = shared("system_version"),
    repeats: int = shared("repeats"),
    resume: bool = shared("resume"),
    concurrency: int = shared("concurrency", 8),
    backend: str = shared("backend"),
    workers: int | None = shared("workers"),
    models: ModelOptions = model_options(),
    quote: bool = shared("quote"),
    reading: Reading = reading_options(),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Ask your system all questions and write its answers for `ragstone run`."""
    from ragstone.data.dataset import samples_table
    from ragstone.formats import write_dataset
    from ragstone.storage.places import open_place
    from ragstone.truth.collect import collect as run_system
    from ragstone.truth.collect import quote_collecting

    if not out.endswith(ENDINGS):
        raise UsageError(f"'{out}' must end in {', '.join(ENDINGS)}")
    samples, truth = _read_questions(questions, root, reading)
    options = system_options(models, template, system_version, concurrency)
    options |= {"backend": backend, "workers": workers}
    if quote:
        show_system_quote(quote_collecting(samples, system, repeats, **options), json)
        return
    with showing_progress(quiet or json) as progress:
        # The journal next to a local file; answers written elsewhere are kept by the cache only.
        place = open_place(out)
        journal, note = (f"{place.path}.partial" if place.is_local else None), noting(quiet)
        result = run_system(
            samples, system, journal=journal, resume=resume, repeats=repeats, progress=progress, note=note, **options
        )
    write_dataset(samples_table(result.samples).to_batches(), out)
    _show(result, out, json)
    if not json and not quiet:
        next_steps((command_line("run", out, truth=truth, out=root), "evaluate the answers"))
    if result.samples and not result.answered:
        raise click.exceptions.Exit(NOTHING_SCORED)


def _read_questions(questions: str, root: str, reading: Reading) -> tuple[list[Sample], str | None]:
    """The questions, and the name of their ground truth. A ground truth wins over a file or folder of the same name."""
    from ragstone.formats import read_dataset
    from ragstone.storage.places import open_place
    from ragstone.truth.store import parse_reference

    is_path = questions == "-" or any(sign in questions for sign in "/\\")
    try:
        is_stored = not is_path and open_store(root).newest(parse_reference(questions)[0]) is not None
    except UsageError:  # not a name of a ground truth
        is_stored, is_path = False, True
    if not is_stored and (is_path or "." in questions or open_place(questions).exists()):
        return list(read_dataset(questions, *reading)), None
    version = open_store(root).read(*parse_reference(questions))
    return [case.as_sample() for case in version.cases[: reading.limit]], questions


def _show(result: Collected, out: str, json: bool) -> None:
    from ragstone.truth.collect import ERROR

    if json:
        print_json({
            "out": out,
            "system": result.system,
            "answered": result.answered,
            "failed": result.failed,
            "resumed": result.resumed,
            "cached": result.cached,
            "cost_usd": result.cost_usd,
        })  # fmt: skip
        return
    details = [f"{result.resumed:,} kept from before"] if result.resumed else []
    details += [f"{result.cached:,} from the cache"] if result.cached else []
    details += [f"{result.cost_usd:,.4f} usd"] if result.cost_usd else []
    about = f" ({', '.join(details)})" if details else ""
    click.echo(f"{result.answered:,} of {counted(len(result.samples), 'question')} answered by {result.system}{about}")
    failures: dict[str, list[str]] = {}
    for sample in result.samples:
        if sample.answer is None:
            failures.setdefault(str(sample.metadata.get(ERROR)), []).append(sample.id)
    for reason, ids in sorted(failures.items(), key=lambda item: -len(item[1]))[:5]:
        click.echo(f"  {len(ids):,} failed, as {ids[0]}: {reason}")
    if failures:
        click.echo("  their rows have no answer; --resume asks them again")
    click.echo(f"\nwritten to {out}")
