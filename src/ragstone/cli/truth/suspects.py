"""ragstone truth suspects: cases whose ground truth is likely wrong."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.cli.options import Json
from ragstone.cli.truth.options import DEFAULT_ROOT, Reference, TruthRoot, print_json, read_version

if TYPE_CHECKING:
    from ragstone.truth.repair.suspect import Suspect
    from ragstone.truth.versions import Version

_LONGEST = 160


def suspects(
    reference: Reference,
    runs: Annotated[
        list[str],
        typer.Option(
            "--run",
            "--runs",
            metavar="RUN",
            help="A stored run of a system over these questions: its folder, id or name. Repeatable; two systems or more can outvote the ground truth.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    documents: Annotated[
        list[str],
        typer.Option(
            "--documents",
            metavar="PATH",
            help="The documents as they are today, files or folders: do the facts still stand there? Repeatable.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    out: TruthRoot = DEFAULT_ROOT,
    json: Json = False,
) -> None:
    """List cases whose ground truth is likely wrong, with the evidence; nobody is asked and nothing is changed.

    Suspect is what several systems agree against, references that disagree with their facts, facts that do not stand in their
    passages or documents, and equal questions with different answers.
    """
    from dataclasses import asdict

    from ragstone.cli.stored import find_run
    from ragstone.truth.repair.finding import find_suspects

    version = read_version(reference, out)
    found = find_suspects(
        version.cases, [find_run(name, out) for name in runs], _read(documents) if documents else None
    )
    if json:
        print_json({"truth": version.info.reference, "suspects": [asdict(suspect) for suspect in found]})
    else:
        _show(version, found)


def _read(paths: list[str]) -> dict[str, str]:
    """The documents by name; those that cannot be read are told."""
    from ragstone.cli.screen import remark
    from ragstone.formats.documents.reading import read_documents

    found = read_documents(paths)
    for problem in found.problems:
        remark(f"{problem.source}: {problem.reason}")
    return {document.source: "\n".join(section.text for section in document.sections) for document in found.documents}


def _show(version: Version, found: list[Suspect]) -> None:
    from rich.text import Text

    from ragstone.cli.screen import console
    from ragstone.truth.repair.suspect import TITLES

    cases = len({suspect.case for suspect in found})
    typer.echo(f"{version.info.reference}: {cases:,} of {version.info.rows:,} cases are suspect")
    screen = console()
    for kind, group in groupby(found, key=lambda suspect: suspect.kind):
        screen.print(Text(f"\n{TITLES[kind]}", style="bold"))
        for suspect in group:
            screen.print(Text.assemble("  ", (suspect.case, "yellow"), f"  {suspect.question}"))
            screen.print(Text(f"      {suspect.reason}"))
            width = max((len(witness.who) for witness in suspect.witnesses), default=0)
            for witness in suspect.witnesses:
                screen.print(Text(f"      {witness.who:<{width}}  {_short(witness.text)}", style="dim"))
                if witness.says:
                    screen.print(Text(f"      {'':<{width}}  {witness.says}", style="dim"))
    if found:
        typer.echo(f"\nMend them in `ragstone view`, then: ragstone truth rescore RUN --truth {version.info.name}")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
