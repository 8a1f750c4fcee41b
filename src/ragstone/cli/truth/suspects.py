"""ragstone truth suspects: cases whose ground truth is likely wrong."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING

import typer

from ragstone.cli.find_run import find_run
from ragstone.cli.options import argument, shared
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.cli.truth.options import REFERENCE, read_version

if TYPE_CHECKING:
    from ragstone.truth.store import Version
    from ragstone.truth.suspects.find import Suspect

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
    stored = [find_run(name, out) for name in runs]
    found = find_suspects(version.cases, stored, _read(documents) if documents else None)
    if json:
        print_json({"truth": version.info.reference, "suspects": [asdict(suspect) for suspect in found]})
        return
    _show(version, found)
    rescore = command_line("truth", "rescore", *(runs or ["RUN"]), truth=version.info.name, out=out)
    if found:
        next_steps((command_line("view", out), "correct the cases"), (rescore, "then score the runs again"))
    else:
        next_steps((command_line("truth", "check", reference, out=out), "check the citations"))


def _read(paths: list[str]) -> dict[str, str]:
    """The documents by name; a note names those that cannot be read."""
    from ragstone.cli.screen import remark
    from ragstone.formats.documents.read import read_documents

    found = read_documents(paths)
    for problem in found.problems:
        remark(f"{problem.source}: {problem.reason}")
    return {document.source: "\n".join(section.text for section in document.sections) for document in found.documents}


def _show(version: Version, found: list[Suspect]) -> None:
    from rich.text import Text

    from ragstone.cli.screen import console
    from ragstone.truth.suspects.find import TITLES

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


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
