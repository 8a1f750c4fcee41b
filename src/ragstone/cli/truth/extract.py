"""ragstone truth extract: extract the facts behind good answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.evaluation import NOTHING_SCORED
from ragstone.cli.options import DATA, Reading, argument, model_options, option, reading_options, shared
from ragstone.cli.output import command_line, next_steps, print_json, remark, showing_progress
from ragstone.cli.truth.options import NAME_OR_DATA, author_or_user, describe_calls, open_store, read_named, show_quote
from ragstone.errors import UsageError
from ragstone.tools.model_options import ModelOptions
from ragstone.views.phrases import counted

if TYPE_CHECKING:
    from ragstone.truth.extract import Extraction

_SHOWN = 10


def extract(
    reference: str = argument("NAME[@N]|DATA", NAME_OR_DATA),
    to: str | None = shared("to"),
    nuggets: bool = option(
        False, "--nuggets", "Make nuggets in place of citations: vital and okay facts for answers.", DATA
    ),
    models: ModelOptions = model_options("judge", "prompts"),
    quote: bool = shared("quote"),
    concurrency: int = shared("concurrency"),
    backend: str = shared("backend"),
    workers: int | None = shared("workers"),
    reading: Reading = reading_options(),
    author: str | None = shared("author"),
    note: str = shared("note"),
    out: str = shared("out"),
    json: bool = shared("json"),
    quiet: bool = shared("quiet"),
) -> None:
    """Extract the citations that support good answers, as proposed facts.

    Without --judge, sentences are chosen locally by words and embeddings. With --nuggets, what a good answer contains.
    """
    from ragstone.truth.extract import extract as extract_facts
    from ragstone.truth.extract import make_nuggets
    from ragstone.truth.llm_tasks import Work
    from ragstone.truth.model import SYSTEM_ANSWER

    if to is None and not quote:
        raise UsageError("name the ground truth for the facts with --to NAME, or use --quote")
    source = read_named(reference, out, reading)
    with showing_progress(quiet or json or quote) as progress:
        find = make_nuggets if nuggets else extract_facts
        result = find(source.cases, Work(models.judge, models, concurrency, quote, backend, workers), progress)
    if quote or to is None:
        show_quote("extract", result.calls, concurrency, json)
        return
    saved, new = _save(result, source.cases, source.name, to, author, note, out)
    if taken := sum(case.provenance == SYSTEM_ANSWER for case in source.cases):
        remark(
            f"{counted(taken, 'answer')} taken as right, even if a run calls them wrong: check them; refusals are left out"
        )
    if json:
        print_json(_nuggets_as_json(result, saved, new) if nuggets else _as_json(result, saved, new))
    else:
        (_show_nuggets if nuggets else _show)(result, saved, new)
        if saved:
            next_steps((command_line("view", out), "accept or reject the proposed facts"))
    if not result.found:
        raise click.exceptions.Exit(NOTHING_SCORED)


def _save(
    found: Extraction, cases: list[Any], name: str, to: str, author: str | None, note: str, out: str
) -> tuple[str | None, int]:
    """The reference of the new version (None if nothing changed) and the number of new facts."""
    from ragstone.truth.extract import add_facts
    from ragstone.truth.store import Lineage

    store = open_store(out)
    parent = store.newest(to)
    earlier = [] if parent is None else store.read(to, parent).cases
    merged = add_facts(earlier, found, cases)
    new = found.count_new(earlier, cases)
    if merged == earlier or not found.found:
        return None, new
    lineage = Lineage([name], {"extractor": found.signature}, found.prompts, {**found.counts, "new": new})
    words = note or f"facts extracted from {name}"
    info = store.save(to, merged, author=author_or_user(author), note=words, parent=parent, lineage=lineage)
    return info.reference, new


def _as_json(found: Extraction, saved: str | None, new: int) -> dict[str, Any]:
    left_out = [(row.case.id, item) for row in found.found for item in row.checked if not item.kept]
    return {
        **_nuggets_as_json(found, saved, new),
        "share": found.held.share,
        "supporting_share": None if found.supporting is None else found.supporting / found.held.held,
        "dropped": [
            {"case": case, "citation": item.citation, "verdict": item.check.verdict, "why": item.check.why}
            for case, item in left_out
            if not item.check.holds
        ],
        "unsupported": [
            {"case": case, "citation": item.citation, "sure": item.support.sure}
            for case, item in left_out
            if item.check.holds
        ],
    }


def _nuggets_as_json(found: Extraction, saved: str | None, new: int) -> dict[str, Any]:
    return {
        "saved": saved,
        "counts": {**found.counts, "new": new},
        "facts": {row.case.id: [asdict(fact) for fact in row.facts] for row in found.found},
        "skipped": found.skipped,
        "failed": found.failed,
    }


def _show_nuggets(found: Extraction, saved: str | None, new: int) -> None:
    counts = found.counts
    click.echo(f"{counts['facts']:,} nuggets: {counts['vital']:,} vital, {counts['okay']:,} okay")
    _show_proposed(found, new, "nugget")
    if saved and any(fact.importance is None for row in found.found for fact in row.case.facts):
        click.echo(
            "some cases have other facts too: they count as vital nuggets, and metrics of facts count the nuggets"
        )
    click.echo(f"saved as {saved}" if saved else "nothing new: no version was saved")


def _show_proposed(found: Extraction, new: int, what: str) -> None:
    known = found.counts["facts"] - new
    there = f"; {known:,} more {'was' if known == 1 else 'were'} already known" if known else ""
    click.echo(f"{counted(new, what)} proposed for {counted(len(found.found), 'case')}, by {found.signature}{there}")
    click.echo(describe_calls(found.calls))
    for outcome, reasons in (("skipped", found.skipped), ("failed", found.failed)):
        for reason, count in Counter(reasons.values()).most_common():
            click.echo(f"{outcome}: {count:,} {'case' if count == 1 else 'cases'}: {reason}")


def _show(found: Extraction, saved: str | None, new: int) -> None:
    held = found.held
    if held.share is None:
        click.echo("no citation was named")
    else:
        click.echo(
            f"{held.held:,} of {held.checked:,} citations are in the documents ({held.share:.1%}): {held.stands:,} kept, "
            f"{held.repaired:,} repaired; dropped: {held.absent:,} absent, {held.invalid:,} invalid"
        )
        if found.supporting is not None:
            share = found.supporting / held.held
            click.echo(
                f"{found.supporting:,} of these {held.held:,} support the answer ({share:.1%}); only they are proposed"
            )
        elif held.held:
            click.echo("whether they support the answer was not measured: the judge model named them as support")
    _show_proposed(found, new, "fact")
    fallen = [(row.case.id, item) for row in found.found for item in row.checked if not item.kept]
    for case, item in fallen[:_SHOWN]:
        unsupported = f"unsupported: it supports the answer with probability {item.support.sure}"
        unsupported += ", but shares no word with its topic" if item.support.off_topic else ""
        why = unsupported if item.check.holds else f"{item.check.verdict}: {item.check.why}"
        click.echo(f"  dropped {case}  {item.citation!r}\n      {why}")
    if len(fallen) > _SHOWN:
        click.echo(f"  … and {len(fallen) - _SHOWN:,} more: --json lists all")
    click.echo(f"saved as {saved}" if saved else "nothing new: no version was saved")
