"""ragstone truth check and suspects: citations that are not in their documents, and cases that are likely wrong."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import Reading, argument, option, reading_options, shared
from ragstone.cli.output import command_line, console, find_run, next_steps, print_json, print_table, remark
from ragstone.cli.truth.options import (
    NAME_OR_DATA,
    REFERENCE,
    Sourced,
    author_or_user,
    open_store,
    read_named,
    read_version,
)
from ragstone.errors import UsageError
from ragstone.views.phrases import counted, one_line

if TYPE_CHECKING:
    from ragstone.truth.citations.check import Held, TruthCheck
    from ragstone.truth.store import Version
    from ragstone.truth.suspects.find import Suspect

_SHOWN = 20


def check(
    reference: str = argument("NAME[@N]|DATA", NAME_OR_DATA),
    drop: bool = option(False, "--drop", "Save a version without the citations that were not found."),
    flag: bool = option(
        False, "--flag", "Save a version in which citations not found are proposed again, with the reason."
    ),
    reading: Reading = reading_options(),
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
    source = read_named(reference, out, reading)
    if (drop or flag) and (source.stored is None or reading.limit):
        import_line = command_line("truth", "import", reference, "NAME", out=out)
        raise UsageError(f"only a whole stored ground truth can be repaired; create one from a file: {import_line}")
    checked = check_cases(source.cases)
    saved = _save(source, checked, drop, author, out) if drop or flag else None
    if json:
        print_json({**_as_json(checked), "saved": saved})
        return
    _show(source.name, checked)
    if saved:
        click.echo(f"\nsaved as {saved}")
        next_steps((command_line("truth", "diff", saved, out=out), "see the changes"))
    elif checked.fallen and source.stored and not reading.limit:
        next_steps((command_line("truth", "check", source.stored, "--flag", out=out), "mark them for review"))
    elif source.stored:
        next_steps((command_line("truth", "suspects", source.stored, out=out), "look for wrong references"))
    else:
        next_steps((command_line("truth", "import", reference, "NAME", **reading.flags(), out=out), "store it"))


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
            {name: getattr(one, name) for name in ("case", "citation", "document")}
            | {"verdict": one.check.verdict, "why": one.check.why}
            for one in checked.fallen
        ],
    }


def _show(name: str, checked: TruthCheck) -> None:
    total = checked.total
    if total.share is None:
        click.echo(f"{name}: no citation could be checked")
    else:
        click.echo(f"{name}: {total.held:,} of {total.checked:,} citations hold ({total.share:.1%})")
        titles = ("document", "held", "citations", "stand", "repaired", "absent", "invalid")
        rows = [
            (
                document,
                f"{one.share or 0:.1%}",
                *(f"{count:,}" for count in (one.checked, one.stands, one.repaired, one.absent, one.invalid)),
            )
            for document, one in checked.documents.items()
        ]
        click.echo("")
        print_table(titles, rows, right=titles[1:])
    for count, why in (
        (
            checked.without_passages,
            "of cases without passages; `ragstone truth suspects NAME --documents FOLDER` looks for them in documents",
        ),
        (checked.no_citations, "that are not citations"),
    ):
        if count:
            click.echo(f"\nnot checked: {count:,} facts {why}")
    if fallen := checked.fallen:
        click.echo("\nnot found")
    for fact in fallen[:_SHOWN]:
        click.echo(f"  {fact.case}  {fact.citation!r}\n      {fact.check.verdict}: {fact.check.why}")
    if len(fallen) > _SHOWN:
        click.echo(f"  … and {len(fallen) - _SHOWN:,} more: --json lists all")


_LONGEST = 160


def suspects(
    reference: str = argument("NAME[@N]", REFERENCE),
    runs: list[str] = shared("run"),
    documents: list[str] = shared("documents"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """List cases whose ground truth is likely wrong, with evidence; nothing is changed.

    Suspect are references that two or more systems contradict, references and facts that disagree, facts that are not in
    their passages or documents, and equal questions with different answers.
    """
    from ragstone.truth.suspects.find import find_suspects

    version = read_version(reference, out)
    found = find_suspects(version.cases, [find_run(one, out) for one in runs], _read(documents) if documents else None)
    if json:
        print_json({"truth": version.info.reference, "suspects": [asdict(suspect) for suspect in found]})
        return
    _show_suspects(version, found)
    rescore = command_line("truth", "rescore", *(runs or ["RUN"]), truth=version.info.name, out=out)
    if found:
        next_steps((command_line("view", out), "correct the cases"), (rescore, "then score the runs again"))
    else:
        next_steps((command_line("view", out), "review the cases: accept, correct or reject what is proposed"))


def _read(paths: list[str]) -> dict[str, str]:
    """The documents by name; a note names those that cannot be read."""
    from ragstone.formats.documents.read import read_documents

    found = read_documents(paths)
    for problem in found.problems:
        remark(f"{problem.source}: {problem.reason}")
    return {document.source: "\n".join(section.text for section in document.sections) for document in found.documents}


def _show_suspects(version: Version, found: list[Suspect]) -> None:
    from rich.text import Text

    from ragstone.truth.suspects.find import TITLES

    click.echo(f"{version.info.reference}: {len({a.case for a in found}):,} of {version.info.rows:,} cases are suspect")
    if proposed := sum(case.has_proposed_answer for case in version.cases):
        click.echo(f"not checked: {counted(proposed, 'case')} with a proposed answer; a person must accept it first")
    screen = console()
    for kind, group in groupby(found, key=lambda suspect: suspect.kind):
        screen.print(Text(f"\n{TITLES[kind]}", style="bold"))
        for suspect in group:
            screen.print(Text.assemble("  ", (suspect.case, "yellow"), f"  {suspect.question}"))
            screen.print(Text(f"      {suspect.reason}"))
            width = max((len(witness.who) for witness in suspect.witnesses), default=0)
            for witness in suspect.witnesses:
                screen.print(Text(f"      {witness.who:<{width}}  {one_line(witness.text, _LONGEST)}", style="dim"))
                if witness.says:
                    screen.print(Text(f"      {'':<{width}}  {witness.says}", style="dim"))
