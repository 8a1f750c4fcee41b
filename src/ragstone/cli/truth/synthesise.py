"""ragstone truth synthesise: questions, answers and facts from documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.evaluation import NOTHING_SCORED
from ragstone.cli.options import DATA, argument, model_options, option, shared
from ragstone.cli.output import command_line, next_steps, noting, print_json, print_table, showing_progress
from ragstone.cli.truth.options import author_or_user, describe_calls, open_store, show_quote
from ragstone.errors import UsageError
from ragstone.tools.model_options import ModelOptions
from ragstone.views.phrases import counted

if TYPE_CHECKING:
    from ragstone.formats.documents import DocumentSet
    from ragstone.truth.synthesis.pipeline import Synthesis

_UNUSED_SHOWN = 5


def synthesise(
    documents: list[str] = argument("DOCS...", "Documents or folders, also s3://: txt, md, html, pdf, docx."),
    to: str | None = shared("to"),
    count: int = option(50, "-n --count", "Number of questions.", DATA, metavar="N", min=1),
    seed: int = shared("seed"),
    models: ModelOptions = model_options("judge", "prompts"),
    quote: bool = shared("quote"),
    concurrency: int = shared("concurrency"),
    author: str | None = shared("author"),
    note: str = shared("note"),
    out: str = shared("out"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Write questions of seven kinds from documents, with answers and facts.

    A question is kept if a model answers it from its source and cannot answer it without. All cases are proposed for review.
    """
    from ragstone.formats.documents import make_passages
    from ragstone.truth.llm_tasks import Work
    from ragstone.truth.synthesis.pipeline import synthesise as make

    work = Work(models.judge, models, concurrency, quote)
    if to is None and not quote:
        raise UsageError("name the ground truth for the cases with --to NAME, or use --quote")
    read = _read(documents, quiet)
    passages = [passage for document in read.documents for passage in make_passages(document)]
    quoted = make(passages, count, seed, replace(work, quoting=True))
    if quote or to is None:
        show_quote("synthesise", quoted.calls, concurrency, json)
        return
    from ragstone.engine.quote import sum_calls

    line = sum_calls("", [call for call in quoted.calls if not call.cached], concurrency)
    cost = "at an unknown price" if line.cost_usd is None else f"for about {line.cost_usd:.4f} usd"
    noting(quiet or json)(f"about {line.calls:,.0f} calls {cost}, if nothing is rejected; three times as much at most")
    with showing_progress(quiet or json) as progress:
        made = make(passages, count, seed, work, progress)
    saved = _save(made, read, to, author, note, out) if made.cases else None
    if json:
        print_json(_as_json(made, read, saved))
    else:
        _show(made)
    if saved and not json:
        click.echo(f"\nsaved as {saved}, all proposed")
        next_steps((command_line("view", out), "review the cases"))
    if not made.cases:
        raise click.exceptions.Exit(NOTHING_SCORED)


def _read(paths: list[str], quiet: bool) -> DocumentSet:
    from ragstone.formats.documents import read_documents

    found = read_documents(paths)
    note = noting(quiet)
    for problem in found.problems:
        note(f"skipped {problem.source}: {problem.reason}")
    for document in found.documents:
        for text in document.notes:
            note(f"{document.source}: {text}")
    if not found.documents:
        why = f": {found.problems[0].source}: {found.problems[0].reason}" if found.problems else ""
        raise UsageError(f"no document could be read{why}")
    return found


def _save(made: Synthesis, read: DocumentSet, to: str, author: str | None, note: str, out: str) -> str:
    """The reference of the new version: the earlier cases, then the new ones."""
    from ragstone.truth.store import Lineage

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
    return {
        "saved": saved,
        "counts": made.counts,
        "coverage": [asdict(item) for item in made.coverage],
        "cases": [asdict(case) for case in made.cases],
        "rejected": [asdict(item) for item in made.rejected],
        "failed": made.failed,
        "skipped": {problem.source: problem.reason for problem in read.problems},
    }


def _show(made: Synthesis) -> None:
    click.echo(
        f"{len(made.cases):,} of {counted(made.wanted, 'question')} kept, {made.tried:,} tried, by {made.signature}"
    )
    for label in ("kind", "difficulty"):
        found = Counter(str(case.metadata[label]) for case in made.cases).most_common()
        if found:
            click.echo(f"  {label:<11} {', '.join(f'{name} {count:,}' for name, count in found)}")
    click.echo(f"  {describe_calls(made.calls)}")
    for title, reasons in (("rejected", [item.reason for item in made.rejected]), ("failed", made.failed)):
        for reason, count in Counter(reasons).most_common():
            click.echo(f"  {title:<11} {count:,}: {reason}")
    _show_coverage(made)


def _show_coverage(made: Synthesis) -> None:
    titles = ("document", "questions", "sections", "passages", "sections without a question")
    rows = []
    for item in made.coverage:
        more = len(item.unused) - _UNUSED_SHOWN
        unused = ", ".join(item.unused[:_UNUSED_SHOWN]) + (f" and {more} more" if more > 0 else "")
        sections, passages = f"{item.sections_used} of {item.sections}", f"{item.passages_used} of {item.passages}"
        rows.append((item.source, f"{item.questions:,}", sections, passages, unused))
    click.echo("")
    print_table(titles, rows, right=titles[1:4])
