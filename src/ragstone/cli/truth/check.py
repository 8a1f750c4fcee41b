"""ragstone truth check: are the citations of a ground truth in their documents?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from ragstone.cli.options import argument, option, parse_map, shared
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.cli.truth.options import NAME_OR_DATA, Sourced, author_or_user, open_store, read_named
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.truth.citations.check import Held, TruthCheck

_SHOWN = 20


def check(
    reference: str = argument("NAME[@N]|DATA", NAME_OR_DATA),
    drop: bool = option(False, "--drop", "Save a version without the citations that were not found."),
    flag: bool = option(
        False, "--flag", "Save a version in which citations not found are proposed again, with the reason."
    ),
    format: str | None = shared("format"),
    map: list[str] = shared("map"),
    limit: int | None = shared("limit"),
    author: str | None = shared("author"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Check that every citation is in the passages of its case, per document.

    Nothing is saved without --flag or --drop. With either, the spelling of citations is corrected.
    """
    from ragstone.truth.citations.check import check_cases

    if drop and flag:
        raise UsageError("--drop and --flag exclude each other")
    source = read_named(reference, out, format, parse_map(map), limit)
    if (drop or flag) and (source.stored is None or limit):
        import_line = command_line("truth", "import", reference, "NAME", out=out)
        raise UsageError(f"only a whole stored ground truth can be repaired; create one from a file: {import_line}")
    checked = check_cases(source.cases)
    saved = _save(source, checked, drop, author, out) if drop or flag else None
    if json:
        print_json({**_as_json(checked), "saved": saved})
        return
    _show(source.name, checked)
    if saved:
        typer.echo(f"\nsaved as {saved}")
        next_steps((command_line("truth", "diff", saved, out=out), "see the changes"))
    elif checked.fallen and source.stored and not limit:
        next_steps((command_line("truth", "check", source.stored, "--flag", out=out), "mark them for review"))
    elif source.stored:
        next_steps((command_line("truth", "suspects", source.stored, out=out), "look for wrong references"))
    else:
        next_steps((command_line("truth", "import", reference, "NAME", format=format, map=map, out=out), "store it"))


def _save(source: Sourced, checked: TruthCheck, drop: bool, author: str | None, out: str) -> str | None:
    """The reference of the repaired version; None if nothing changed."""
    from ragstone.truth.store import Lineage

    mended = checked.mend(source.cases, drop)
    if mended == source.cases or source.stored is None:
        return None
    note = "dropped citations not found" if drop else "flagged citations not found"
    lineage = Lineage(sources=[source.name], counts=asdict(checked.total))
    info = open_store(out).save(
        source.stored, mended, author=author_or_user(author), note=note, parent=source.number, lineage=lineage
    )
    return info.reference


def _as_json(checked: TruthCheck) -> dict[str, Any]:
    def counts(held: Held) -> dict[str, Any]:
        return {**asdict(held), "held": held.held, "share": held.share}

    return {
        "total": counts(checked.total),
        "documents": {name: counts(held) for name, held in checked.documents.items()},
        "no_citations": checked.no_citations,
        "without_passages": checked.without_passages,
        "fallen": [
            {
                "case": fact.case,
                "citation": fact.citation,
                "document": fact.document,
                "verdict": fact.check.verdict,
                "why": fact.check.why,
            }
            for fact in checked.fallen
        ],
    }


def _show(name: str, checked: TruthCheck) -> None:
    from ragstone.cli.screen import print_table

    total = checked.total
    if total.share is None:
        typer.echo(f"{name}: no citation could be checked")
    else:
        typer.echo(f"{name}: {total.held:,} of {total.checked:,} citations hold ({total.share:.1%})")
        titles = ("document", "held", "citations", "stand", "repaired", "absent", "invalid")
        rows = [
            (
                document,
                f"{one.share or 0:.1%}",
                *map(_count, (one.checked, one.stands, one.repaired, one.absent, one.invalid)),
            )
            for document, one in checked.documents.items()
        ]
        typer.echo("")
        print_table(titles, rows, right=titles[1:])
    for count, why in (
        (
            checked.without_passages,
            "of cases without passages; `ragstone truth suspects NAME --documents FOLDER` looks for them in documents",
        ),
        (checked.no_citations, "that are not citations"),
    ):
        if count:
            typer.echo(f"\nnot checked: {count:,} facts {why}")
    _show_fallen(checked)


def _show_fallen(checked: TruthCheck) -> None:
    fallen = checked.fallen
    if fallen:
        typer.echo("\nnot found")
    for fact in fallen[:_SHOWN]:
        typer.echo(f"  {fact.case}  {fact.citation!r}\n      {fact.check.verdict}: {fact.check.why}")
    if len(fallen) > _SHOWN:
        typer.echo(f"  … and {len(fallen) - _SHOWN:,} more: --json lists all")


def _count(number: int) -> str:
    return f"{number:,}"
