"""ragstone truth extract: the facts that good answers rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli import judging as models
from ragstone.cli.options import Format, Json, Limit, Map, Quiet
from ragstone.cli.truth.options import DEFAULT_ROOT, Author, Message, TruthRoot, author_or_user, open_store, print_json
from ragstone.cli.truth.sourced import NameOrData, read_named
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.truth.extraction import Extraction

NOTHING_FOUND = 4
_SHOWN = 10


def extract(
    given: NameOrData,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="NAME", help="The ground truth that gets the facts.", show_default=False),
    ] = None,
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
    format: Format = None,
    map: Map = [],  # noqa: B006
    limit: Limit = None,
    author: Author = None,
    note: Message = "",
    out: TruthRoot = DEFAULT_ROOT,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the citations that answers known to be good rest on, and keep those that stand as proposed facts.

    Without a judge the sentences are chosen on this machine, by words and embeddings.
    """
    from ragstone.cli.options import parse_map
    from ragstone.cli.screen import showing_progress
    from ragstone.cli.truth.models import read_work, show_quote
    from ragstone.truth.extraction import extract as extract_facts

    work = read_work(judge, base_url, quote, budget, concurrency, timeout, deadline, rpm, tpm, no_cache, prompts)
    if to is None and not quote:
        raise UsageError("--to NAME says which ground truth gets the facts; --quote needs none")
    source = read_named(given, out, format, parse_map(map), limit)
    with showing_progress(quiet or json or quote) as progress:
        found = extract_facts(source.cases, work, progress)
    if quote or to is None:
        show_quote("extract", found.calls, concurrency, json)
        return
    saved, new = _save(found, source.cases, source.name, to, author, note, out)
    if json:
        print_json(_as_json(found, saved, new))
    else:
        _show(found, saved, new)
    if not found.found:
        raise typer.Exit(NOTHING_FOUND)


def _save(
    found: Extraction, cases: list[Any], name: str, to: str, author: str | None, note: str, out: str
) -> tuple[str | None, int]:
    """The reference of the new version, None where nothing changed, and how many facts were not there before."""
    from ragstone.truth.extraction import add_facts, count_new
    from ragstone.truth.versions import Lineage

    store = open_store(out)
    parent = store.newest(to)
    earlier = [] if parent is None else store.read(to, parent).cases
    merged = add_facts(earlier, found, cases)
    new = count_new(earlier, found, cases)
    if merged == earlier or not found.found:
        return None, new
    lineage = Lineage([name], {"extractor": found.signature}, found.prompts, {**found.counts, "new": new})
    words = note or f"facts extracted from {name}"
    info = store.save(to, merged, author=author_or_user(author), note=words, parent=parent, lineage=lineage)
    return info.reference, new


def _as_json(found: Extraction, saved: str | None, new: int) -> dict[str, Any]:
    from dataclasses import asdict

    dropped = [
        {"case": row.case.id, "citation": item.citation, "verdict": item.check.verdict, "why": item.check.why}
        for row in found.found
        for item in row.checked
        if not item.check.holds
    ]
    return {
        "saved": saved,
        "counts": {**found.counts, "new": new},
        "share": found.held.share,
        "facts": {row.case.id: [asdict(fact) for fact in row.facts] for row in found.found},
        "dropped": dropped,
        "skipped": found.skipped,
        "failed": found.failed,
    }


def _show(found: Extraction, saved: str | None, new: int) -> None:
    from ragstone.cli.truth.models import describe_calls
    from ragstone.report.plain import counted
    from ragstone.truth.extraction import count_reasons

    held, counts = found.held, found.counts
    if held.share is None:
        typer.echo("no citation was named")
    else:
        typer.echo(
            f"{held.held:,} of {held.checked:,} citations hold ({held.share:.1%}): {held.stands:,} kept, "
            f"{held.repaired:,} repaired; dropped: {held.absent:,} absent, {held.invalid:,} invalid"
        )
    known = counts["facts"] - new
    there = f"; {known:,} more {'was' if known == 1 else 'were'} there already" if known else ""
    typer.echo(f"{counted(new, 'fact')} proposed for {counted(len(found.found), 'case')}, by {found.signature}{there}")
    typer.echo(describe_calls(found.calls))
    for what, reasons in (("skipped", found.skipped), ("failed", found.failed)):
        for reason, count in count_reasons(reasons):
            typer.echo(f"{what}: {count:,} {'case' if count == 1 else 'cases'}: {reason}")
    fallen = [(row.case.id, item) for row in found.found for item in row.checked if not item.check.holds]
    for case, item in fallen[:_SHOWN]:
        typer.echo(f"  dropped {case}  {item.citation!r}\n      {item.check.verdict}: {item.check.why}")
    if len(fallen) > _SHOWN:
        typer.echo(f"  … and {len(fallen) - _SHOWN:,} more: --json lists all")
    queue = f"saved as {saved}; what is proposed waits in the queue of `ragstone view`"
    typer.echo(queue if saved else "nothing new: no version was saved")
