"""ragstone truth collect: run a system over the questions to get the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli import judging as models
from ragstone.cli import systems
from ragstone.cli.options import DEFAULT_ROOT, Format, Json, Limit, Map, Quiet
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.data.types import Sample
    from ragstone.truth.collecting import Collected

ALL_FAILED = 4
_ENDINGS = (".jsonl", ".parquet", ".csv")


def collect(
    questions: Annotated[
        str,
        typer.Argument(
            metavar="QUESTIONS",
            help="A file with questions in any format, or NAME[@N] of a ground truth.",
            show_default=False,
        ),
    ],
    system: systems.SystemName,
    out: Annotated[
        str,
        typer.Option("-o", "--out", metavar="FILE", help="Where the answers go: .jsonl, .parquet or .csv."),
    ] = "answers.jsonl",
    root: Annotated[
        str,
        typer.Option("--root", envvar="RAGSTONE_ROOT", help="Folder or s3:// root that holds the ground truth."),
    ] = DEFAULT_ROOT,
    template: systems.Template = None,
    system_version: systems.Version = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where a collection stopped; failed questions are asked again.")
    ] = False,
    concurrency: systems.Concurrency = 8,
    timeout: systems.SystemTimeout = 120.0,
    budget: models.Budget = None,
    deadline: models.Deadline = None,
    rpm: models.RequestsPerMinute = None,
    base_url: models.BaseUrl = None,
    no_cache: systems.NoCache = False,
    quote: models.QuoteOnly = False,
    format: Format = None,
    map: Map = [],  # noqa: B006
    limit: Limit = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask your system all questions and write its answers and contexts as a table that `ragstone run` reads."""
    from ragstone.cli.options import parse_map
    from ragstone.cli.screen import remark, showing_progress
    from ragstone.engine.evaluation import unheard
    from ragstone.truth.collecting import collect as run_system
    from ragstone.truth.collecting import quote_collecting

    if not out.endswith(_ENDINGS):
        raise UsageError(f"'{out}': a name that ends in {', '.join(_ENDINGS)} tells what to write")
    samples = _read_questions(questions, root, format, parse_map(map), limit)
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
        systems.show_quote(quote_collecting(samples, system, **options), json)
        return
    note = unheard if quiet else remark
    with showing_progress(quiet or json) as progress:
        found = run_system(
            samples, system, journal=_journal(out), resume=resume, progress=progress, note=note, **options
        )
    _write(found, out)
    _show(found, out, json)
    if found.samples and not found.answered:
        raise typer.Exit(ALL_FAILED)


def _read_questions(
    questions: str, root: str, format: str | None, columns: dict[str, str], limit: int | None
) -> list[Sample]:
    """The questions of the ground truth of that name, else those of a file; a folder of documents often has the same name."""
    from ragstone.cli.truth.options import open_store
    from ragstone.formats import read_dataset
    from ragstone.storage.places import open_place
    from ragstone.truth.versions import parse_reference

    is_path = questions == "-" or any(sign in questions for sign in "/\\")
    try:
        is_stored = not is_path and open_store(root).newest(parse_reference(questions)[0]) is not None
    except UsageError:  # no name of a ground truth
        is_stored, is_path = False, True
    if not is_stored and (is_path or "." in questions or open_place(questions).exists()):
        return list(read_dataset(questions, format, columns, limit))
    version = open_store(root).read(*parse_reference(questions))
    return [case.as_sample() for case in version.cases[:limit]]


def _journal(out: str) -> str | None:
    """Beside the answers; what is written elsewhere than on this disk is remembered by the cache alone."""
    from ragstone.storage.places import open_place

    place = open_place(out)
    return f"{place.path}.partial" if place.is_local else None


def _write(found: Collected, out: str) -> None:
    from ragstone.data.dataset import samples_table
    from ragstone.formats import write_dataset

    write_dataset(samples_table(found.samples).to_batches(), out)


def _show(found: Collected, out: str, json: bool) -> None:
    import shlex

    from ragstone.report.plain import counted
    from ragstone.truth.collecting import ERROR

    if json:
        from ragstone.cli.truth.options import print_json

        print_json({
            "out": out,
            "system": found.system,
            "answered": found.answered,
            "failed": found.failed,
            "resumed": found.resumed,
            "cached": found.cached,
            "cost_usd": found.cost_usd,
        })  # fmt: skip
        return
    known = [f"{found.resumed:,} kept from before"] if found.resumed else []
    known += [f"{found.cached:,} from the cache"] if found.cached else []
    known += [f"{found.cost_usd:,.4f} usd"] if found.cost_usd else []
    told = f" ({', '.join(known)})" if known else ""
    typer.echo(f"{found.answered:,} of {counted(len(found.samples), 'question')} answered by {found.system}{told}")
    failures: dict[str, list[str]] = {}
    for sample in found.samples:
        if sample.answer is None:
            failures.setdefault(str(sample.metadata.get(ERROR)), []).append(sample.id)
    for reason, ids in sorted(failures.items(), key=lambda item: -len(item[1]))[:5]:
        typer.echo(f"  {len(ids):,} failed, as {ids[0]}: {reason}")
    if failures:
        typer.echo("  they are rows without an answer; --resume asks them again")
    typer.echo(f"\nwritten to {out}; next: ragstone run {shlex.quote(out)}")
