"""ragstone truth check: do the citations of a ground truth stand in their documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli.options import Format, Json, Limit, Map
from ragstone.cli.truth.options import DEFAULT_ROOT, Author, TruthRoot, author_or_user, open_store, print_json
from ragstone.cli.truth.sourced import NameOrData, Sourced, read_named
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.truth.checking import Held, TruthCheck

_SHOWN = 20


def check(
    given: NameOrData,
    drop: Annotated[
        bool, typer.Option("--drop", help="Save a version without the citations that do not stand.")
    ] = False,
    flag: Annotated[
        bool,
        typer.Option(
            "--flag", help="Save a version in which those that do not stand are proposed again, with the reason."
        ),
    ] = False,
    format: Format = None,
    map: Map = [],  # noqa: B006
    limit: Limit = None,
    author: Author = None,
    out: TruthRoot = DEFAULT_ROOT,
    json: Json = False,
) -> None:
    """Hold every citation against the passages of its case, and say which share stands, document by document.

    Without --flag or --drop nothing is saved. With either, citations that are only spelled otherwise get their true words.
    """
    from ragstone.cli.options import parse_map
    from ragstone.truth.checking import check_cases

    if drop and flag:
        raise UsageError("--drop and --flag exclude each other: either a citation goes, or it stays and is flagged")
    source = read_named(given, out, format, parse_map(map), limit)
    if (drop or flag) and (source.stored is None or limit):
        raise UsageError(
            f"only a whole stored ground truth can be mended: `ragstone truth import {given} NAME` makes one of a file"
        )
    found = check_cases(source.cases)
    saved = _save(source, found, drop, author, out) if drop or flag else None
    if json:
        print_json({**_as_json(found), "saved": saved})
        return
    _show(source.name, found)
    if saved:
        typer.echo(f"\nsaved as {saved}")


def _save(source: Sourced, found: TruthCheck, drop: bool, author: str | None, out: str) -> str | None:
    """The reference of the mended version; None where there was nothing to mend."""
    from dataclasses import asdict

    from ragstone.truth.checking import mend_cases
    from ragstone.truth.versions import Lineage

    mended = mend_cases(source.cases, found, drop)
    if mended == source.cases or source.stored is None:
        return None
    note = "dropped what does not stand" if drop else "flagged what does not stand"
    lineage = Lineage(sources=[source.name], counts=asdict(found.total))
    info = open_store(out).save(
        source.stored, mended, author=author_or_user(author), note=note, parent=source.number, lineage=lineage
    )
    return info.reference


def _as_json(found: TruthCheck) -> dict[str, Any]:
    from dataclasses import asdict

    def told(held: Held) -> dict[str, Any]:
        return {**asdict(held), "held": held.held, "share": held.share}

    return {
        "total": told(found.total),
        "documents": {name: told(held) for name, held in found.documents.items()},
        "no_citations": found.no_citations,
        "without_passages": found.without_passages,
        "fallen": [
            {
                "case": fact.case,
                "citation": fact.citation,
                "document": fact.document,
                "verdict": fact.check.verdict,
                "why": fact.check.why,
            }
            for fact in found.fallen
        ],
    }


def _show(name: str, found: TruthCheck) -> None:
    from rich.table import Table
    from rich.text import Text

    from ragstone.cli.screen import console

    total = found.total
    if total.share is None:
        typer.echo(f"{name}: no citation could be checked")
    else:
        typer.echo(f"{name}: {total.held:,} of {total.checked:,} citations hold ({total.share:.1%})")
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("document")
        for title in ("held", "citations", "stand", "repaired", "absent", "invalid"):
            table.add_column(title, justify="right")
        for document, held in found.documents.items():
            counts = (held.checked, held.stands, held.repaired, held.absent, held.invalid)
            table.add_row(Text(document), f"{held.share or 0:.1%}", *(f"{count:,}" for count in counts))
        screen = console()
        screen.print()
        screen.print(table)
    for count, why in (
        (
            found.without_passages,
            "of cases without passages; `ragstone truth suspects NAME --documents FOLDER` looks for them in documents",
        ),
        (found.no_citations, "that are no citations"),
    ):
        if count:
            typer.echo(f"\nnot checked: {count:,} facts {why}")
    _show_fallen(found)


def _show_fallen(found: TruthCheck) -> None:
    fallen = found.fallen
    if fallen:
        typer.echo("\ndo not stand")
    for fact in fallen[:_SHOWN]:
        typer.echo(f"  {fact.case}  {fact.citation!r}\n      {fact.check.verdict}: {fact.check.why}")
    if len(fallen) > _SHOWN:
        typer.echo(f"  … and {len(fallen) - _SHOWN:,} more: --json lists all")
