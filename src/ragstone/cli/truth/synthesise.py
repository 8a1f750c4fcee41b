"""ragstone truth synthesise: questions, answers and facts from documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli import judging as models
from ragstone.cli.options import Json, Quiet
from ragstone.cli.truth.options import DEFAULT_ROOT, Author, Message, TruthRoot, author_or_user, open_store, print_json
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.formats.documents import DocumentSet
    from ragstone.truth.synthesis import Synthesis

NOTHING_MADE = 4
_UNUSED_SHOWN = 5


def synthesise(
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCS...",
            help="Documents or folders of them, also at s3://: txt, md, html, pdf, docx.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="NAME", help="The ground truth that gets the cases.", show_default=False),
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many questions are wanted.")] = 50,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, another choice of passages and kinds.")] = 0,
    judge: models.Judge = None,
    base_url: models.BaseUrl = None,
    quote: models.QuoteOnly = False,
    budget: models.Budget = None,
    concurrency: models.Concurrency = 16,
    timeout: models.Timeout = 120.0,
    deadline: models.Deadline = None,
    rpm: models.RequestsPerMinute = None,
    tpm: models.TokensPerMinute = None,
    no_cache: models.NoCache = False,
    prompts: models.Prompts = None,
    author: Author = None,
    note: Message = "",
    out: TruthRoot = DEFAULT_ROOT,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make questions of seven kinds from documents, with answers and facts, and keep those that pass the round trip.

    Each must be answered from its source as it says, and not without it. All are proposed, for somebody to accept.
    """
    from dataclasses import replace

    from ragstone.cli.screen import remark, showing_progress
    from ragstone.cli.truth.models import read_work, show_quote
    from ragstone.truth.synthesis import synthesise as make

    work = read_work(judge, base_url, quote, budget, concurrency, timeout, deadline, rpm, tpm, no_cache, prompts)
    if to is None and not quote:
        raise UsageError("--to NAME says which ground truth gets the cases; --quote needs none")
    read = _read(documents, quiet)
    passages = [passage for document in read.documents for passage in _passages(document)]
    quoted = make(passages, count, seed, replace(work, quoting=True))
    if quote or to is None:
        show_quote("synthesise", quoted.calls, concurrency, json)
        return
    if not quiet and not json:
        remark(_foretell(quoted, concurrency))
    with showing_progress(quiet or json) as progress:
        made = make(passages, count, seed, work, progress)
    saved = _save(made, read, to, author, note, out) if made.cases else None
    if json:
        print_json(_as_json(made, read, saved))
    else:
        _show(made, saved)
    if not made.cases:
        raise typer.Exit(NOTHING_MADE)


def _read(paths: list[str], quiet: bool) -> DocumentSet:
    from ragstone.cli.screen import remark
    from ragstone.formats.documents import read_documents

    found = read_documents(paths)
    for problem in [] if quiet else found.problems:
        remark(f"skipped {problem.source}: {problem.reason}")
    for document in [] if quiet else found.documents:
        for text in document.notes:
            remark(f"{document.source}: {text}")
    if not found.documents:
        why = f": {found.problems[0].source}: {found.problems[0].reason}" if found.problems else ""
        raise UsageError(f"no document could be read{why}")
    return found


def _passages(document: Any) -> list[Any]:
    from ragstone.formats.documents import make_passages

    return make_passages(document)


def _foretell(quoted: Synthesis, concurrency: int) -> str:
    from ragstone.engine.quoting import sum_calls

    line = sum_calls("", [call for call in quoted.calls if not call.cached], concurrency)
    cost = "at an unknown price" if line.cost_usd is None else f"for about {line.cost_usd:.4f} usd"
    return f"about {line.calls:,.0f} calls {cost}, if nothing is rejected; three times as much at most"


def _save(made: Synthesis, read: DocumentSet, to: str, author: str | None, note: str, out: str) -> str:
    """The reference of the new version: what was there, then the cases that are new."""
    from ragstone.report.plain import counted
    from ragstone.truth.versions import Lineage

    store = open_store(out)
    parent = store.newest(to)
    earlier = [] if parent is None else store.read(to, parent).cases
    known = {case.id for case in earlier}
    cases = [*earlier, *(case for case in made.cases if case.id not in known)]
    if parent is not None and len(cases) == len(earlier):
        return f"{to}@{parent}"
    tools = {"writer": made.signature, "duplicates": made.compared_by, "seed": made.seed}
    lineage = Lineage([document.source for document in read.documents], tools, made.prompts, made.counts)
    made_of = f"{counted(len(cases) - len(earlier), 'question')} made from {counted(len(read.documents), 'document')}"
    words = note or made_of
    return store.save(to, cases, author=author_or_user(author), note=words, parent=parent, lineage=lineage).reference


def _as_json(made: Synthesis, read: DocumentSet, saved: str | None) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "saved": saved,
        "counts": made.counts,
        "coverage": [asdict(item) for item in made.coverage],
        "cases": [asdict(case) for case in made.cases],
        "rejected": [asdict(item) for item in made.rejected],
        "failed": made.failed,
        "skipped": {problem.source: problem.reason for problem in read.problems},
    }


def _show(made: Synthesis, saved: str | None) -> None:
    from collections import Counter

    from ragstone.cli.truth.models import describe_calls
    from ragstone.report.plain import counted

    typer.echo(
        f"{len(made.cases):,} of {counted(made.wanted, 'question')} kept, {made.tried:,} tried, by {made.signature}"
    )
    for label in ("kind", "difficulty"):
        found = Counter(str(case.metadata[label]) for case in made.cases).most_common()
        if found:
            typer.echo(f"  {label:<11} {', '.join(f'{name} {count:,}' for name, count in found)}")
    typer.echo(f"  {describe_calls(made.calls)}")
    for title, reasons in (("rejected", [item.reason for item in made.rejected]), ("failed", made.failed)):
        for reason, count in Counter(reasons).most_common():
            typer.echo(f"  {title:<11} {count:,}: {reason}")
    _show_coverage(made)
    if saved:
        typer.echo(f"\nsaved as {saved}, all proposed: `ragstone view` shows the queue")


def _show_coverage(made: Synthesis) -> None:
    from rich.table import Table
    from rich.text import Text

    from ragstone.cli.screen import console

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("document")
    for title in ("questions", "sections", "passages"):
        table.add_column(title, justify="right")
    table.add_column("sections without a question")
    for item in made.coverage:
        more = len(item.unused) - _UNUSED_SHOWN
        unused = ", ".join(item.unused[:_UNUSED_SHOWN]) + (f" and {more} more" if more > 0 else "")
        cells = (
            f"{item.questions:,}",
            f"{item.sections_used} of {item.sections}",
            f"{item.passages_used} of {item.passages}",
        )
        table.add_row(Text(item.source), *cells, Text(unused))
    screen = console()
    screen.print()
    screen.print(table)
