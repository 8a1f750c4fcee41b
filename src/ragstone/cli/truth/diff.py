"""ragstone truth diff: what changed between two versions."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.cli.options import Json
from ragstone.cli.truth.options import DEFAULT_ROOT, Reference, TruthRoot, open_store, print_json, read_version
from ragstone.cli.truth.wording import describe_counts, is_told, words
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.truth.differences import Change


def diff(
    reference: Reference,
    other: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME[@N]]",
            help="The newer version. With one version named, it is compared with the one that it was made from.",
            show_default=False,
        ),
    ] = None,
    out: TruthRoot = DEFAULT_ROOT,
    json: Json = False,
) -> None:
    """Show what changed from one version of ground truth to another: cases, fields, facts gained and lost."""
    from dataclasses import asdict

    from ragstone.truth.differences import count_changes
    from ragstone.truth.differences import diff as find_changes

    old, new = (_with_parent(reference, out)) if other is None else (reference, other)
    before, after = read_version(old, out), read_version(new, out)
    changes = find_changes(before.cases, after.cases)
    counts = count_changes(changes)
    if json:
        said = {"old": before.info.reference, "new": after.info.reference, "counts": counts}
        print_json({**said, "changes": [asdict(change) for change in changes]})
        return
    typer.echo(f"{before.info.reference} → {after.info.reference}: {describe_counts(counts)}")
    for _, group in groupby(changes, key=lambda change: (change.kind, change.case)):
        _show(list(group))


def _with_parent(reference: str, root: str) -> tuple[str, str]:
    from ragstone.truth.versions import parse_reference

    name, number = parse_reference(reference)
    info = open_store(root).info(name, number)
    if info.parent is None:
        raise UsageError(f"{info.reference} is the first of its kind; name another version to compare it with")
    return f"{name}@{info.parent}", info.reference


_MARKS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


def _show(changes: list[Change]) -> None:
    from rich.text import Text

    from ragstone.cli.screen import console

    screen, first = console(), changes[0]
    mark, colour = _MARKS[first.kind]
    screen.print(Text(f"\n{mark} {first.case}  {first.question}", style=colour))
    for change in changes:
        label = f"    {change.field:<19}" if change.field else ""
        for sign, style, value in (("-", "red", change.before), ("+", "green", change.after)):
            if change.field and is_told(value):
                screen.print(Text(f"{label}{sign} {words(value)}", style=style))
                label = " " * len(label)
