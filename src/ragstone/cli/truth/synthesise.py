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
    from ragstone.truth.synthesis.writer import Order

_UNUSED_SHOWN = 5


def synthesise(
    documents: list[str] = argument("DOCS...", "Documents or folders, also s3://: txt, md, html, pdf, docx."),
    to: str | None = shared("to"),
    count: int = option(50, "-n --count", "Number of questions.", DATA, metavar="N", min=1),
    style: list[str] | None = option(
        None,
        "--style",
        "Style of the questions, repeatable; by default half are plain, the others mixed.",
        DATA,
        metavar="STYLE",
    ),
    persona: list[str] | None = option(
        None, "--persona", "Persona of the user, in words, repeatable. Needs a language model.", DATA, metavar="TEXT"
    ),
    language: str | None = option(
        None,
        "--language",
        "Language of questions and answers, such as de. Needs a language model.",
        DATA,
        metavar="CODE",
    ),
    seed: int = shared("seed"),
    models: ModelOptions = model_options("judge", "prompts"),
    quote: bool = shared("quote"),
    resume: bool = shared("resume"),
    concurrency: int = shared("concurrency"),
    author: str | None = shared("author"),
    note: str = shared("note"),
    out: str = shared("out"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Make questions of nine kinds from documents, with answers and facts.

    With a language model as --judge questions are written: one is kept if the model answers it from its source and not without.
    Without one they are extracted by rules. All cases are proposed for review.
    """
    from ragstone.formats.documents import make_passages
    from ragstone.truth.llm_tasks import Work, is_local
    from ragstone.truth.store import check_name
    from ragstone.truth.synthesis.pipeline import Resumable
    from ragstone.truth.synthesis.pipeline import synthesise as make

    work = Work(models.judge, models, concurrency, quote)
    if to is None and not quote:
        raise UsageError("name the ground truth for the cases with --to NAME, or use --quote")
    order = _order(count, seed, style, persona, language)
    if persona and is_local(models.judge):
        raise UsageError("--persona needs a language model: name one with --judge, such as openai/gpt-4o-mini")
    read = _read(documents, quiet)
    passages = [passage for document in read.documents for passage in make_passages(document)]
    quoted = make(passages, order, replace(work, quoting=True))
    if quote or to is None:
        show_quote("synthesise", quoted.calls, concurrency, json)
        return
    from ragstone.engine.quote import sum_calls

    say = noting(quiet or json)
    line = sum_calls("", [call for call in quoted.calls if not call.cached], concurrency)
    cost = "at an unknown price" if line.cost_usd is None else f"for about {line.cost_usd:.4f} usd"
    if quoted.calls:
        say(f"about {line.calls:,.0f} calls {cost}, if nothing is rejected; three times as much at most")
    else:
        say("without a language model, questions are extracted by rules; --judge MODEL writes freer ones")
    place = open_store(out).root
    journal = str(place / "truth" / check_name(to) / "synthesis.partial") if place.is_local else None
    with showing_progress(quiet or json) as progress:
        made = make(passages, order, work, progress, Resumable(journal, resume, say))
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


def _order(count: int, seed: int, styles: list[str] | None, personas: list[str] | None, language: str | None) -> Order:
    from ragstone.truth.synthesis.styles import STYLES
    from ragstone.truth.synthesis.writer import PERSONAS, Order

    if wrong := [style for style in styles or () if style not in STYLES]:
        raise UsageError(f"'{wrong[0]}' is not a style. Choose from: {', '.join(STYLES)}")
    chosen = tuple(style for style in STYLES if style in (styles or STYLES))
    return Order(count, seed, chosen, tuple(personas or PERSONAS), language)


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
    tools = {"writer": made.signature, "duplicates": made.compared_by, "seed": made.order.seed}
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
        f"{len(made.cases):,} of {counted(made.order.count, 'question')} kept, {made.tried:,} tried, by {made.signature}"
    )
    for label in ("kind", "style", "difficulty", "written_by"):
        if found := made.count(label).most_common():
            click.echo(f"  {label.replace('_', ' '):<11} {', '.join(f'{name} {count:,}' for name, count in found)}")
    click.echo(f"  {describe_calls(made.calls)}")
    for title, reasons in (("rejected", [item.reason for item in made.rejected]), ("failed", made.failed)):
        for reason, count in Counter(reasons).most_common():
            click.echo(f"  {title:<11} {count:,}: {reason}")
    _show_coverage(made)


def _show_coverage(made: Synthesis) -> None:
    titles = ("document", "questions", "topics", "passages", "topics without a question")
    rows = []
    for item in made.coverage:
        more = len(item.unused) - _UNUSED_SHOWN
        unused = ", ".join(item.unused[:_UNUSED_SHOWN]) + (f" and {more} more" if more > 0 else "")
        sections, passages = f"{item.sections_used} of {item.sections}", f"{item.passages_used} of {item.passages}"
        rows.append((item.source, f"{item.questions:,}", sections, passages, unused))
    counts = made.counts
    covered = ", ".join(
        f"{counts[f'{name} with a question']:,} of {counts[name]:,} {name}" for name in ("documents", "topics")
    )
    click.echo(f"\ncovered: {covered}")
    print_table(titles, rows, right=titles[1:4])
