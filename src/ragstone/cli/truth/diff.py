"""ragstone truth diff and merge: compare and combine versions of ground truth."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.options import DATA, argument, option, shared
from ragstone.cli.output import command_line, console, next_steps, print_json
from ragstone.cli.truth.options import (
    NAME,
    REFERENCE,
    author_or_user,
    describe_counts,
    one_line,
    open_store,
    read_version,
)
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.truth.diff import Change, Conflict, Merged
    from ragstone.truth.store import Version, VersionInfo


def diff(
    reference: str = argument("NAME[@N]", REFERENCE),
    other: str | None = argument(
        "[NAME[@N]]", "Newer version. By default a version is compared with its parent.", None
    ),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Show what changed between two versions: cases, fields, facts."""
    from ragstone.truth.diff import count_changes
    from ragstone.truth.diff import diff as find_changes

    old, new = (_with_parent(reference, out)) if other is None else (reference, other)
    before, after = read_version(old, out), read_version(new, out)
    changes = find_changes(before.cases, after.cases)
    counts = count_changes(changes)
    if json:
        names = {"old": before.info.reference, "new": after.info.reference, "counts": counts}
        print_json({**names, "changes": [asdict(change) for change in changes]})
        return
    click.echo(f"{before.info.reference} → {after.info.reference}: {describe_counts(counts)}")
    for _, group in groupby(changes, key=lambda change: (change.kind, change.case)):
        _show(list(group))
    rescore = command_line("truth", "rescore", "RUN", truth=after.info.reference, out=out)
    next_steps((rescore, "score stored runs against the newer version"))


def _with_parent(reference: str, root: str) -> tuple[str, str]:
    from ragstone.truth.store import parse_reference

    name, number = parse_reference(reference)
    info = open_store(root).info(name, number)
    if info.parent is None:
        raise UsageError(f"{info.reference} is the first version; name another one to compare it with")
    return f"{name}@{info.parent}", info.reference


_MARKS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


def _show(changes: list[Change]) -> None:
    from rich.text import Text

    screen, first = console(), changes[0]
    mark, colour = _MARKS[first.kind]
    screen.print(Text(f"\n{mark} {first.case}  {first.question}", style=colour))
    for change in changes:
        label = f"    {change.field:<19}" if change.field else ""
        for sign, style, value in (("-", "red", change.before), ("+", "green", change.after)):
            if change.field and has_value(value):
                screen.print(Text(f"{label}{sign} {one_line(value)}", style=style))
                label = " " * len(label)


_SIDES = ("ours", "theirs")
_CONFLICTS_SHOWN = 20


def merge(
    name: str = argument("NAME", NAME),
    other: str = argument("OTHER[@N]", "Version to merge into it."),
    base: str | None = option(
        None, "--base", "Common ancestor; shows which side changed or removed something.", DATA, metavar="NAME[@N]"
    ),
    prefer: str | None = option(
        None, "--prefer", "Side that wins a conflict; without it nothing is saved on conflicts.", metavar="ours|theirs"
    ),
    author: str | None = shared("author"),
    note: str = shared("note"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Merge another ground truth into this one, per case, field and fact."""
    from ragstone.truth.diff import merge as merge_cases

    if prefer not in (None, *_SIDES):
        raise UsageError(f"--prefer {prefer}: write ours or theirs")
    ours, theirs = open_store(out).read(name), read_version(other, out)
    ancestor = [] if base is None else read_version(base, out).cases
    merged = merge_cases(ancestor, ours.cases, theirs.cases, "theirs" if prefer == "theirs" else "ours")
    if merged.conflicts and prefer is None:
        _refuse(merged.conflicts, json)
    if merged.cases == ours.cases:
        click.echo(f"nothing to merge: {ours.info.reference} already contains all of {theirs.info.reference}")
        return
    sources = [ours.info.reference, theirs.info.reference, *([f"base {base}"] if base else [])]
    info = _save(ours, merged, sources, author_or_user(author), note or f"merged {theirs.info.reference}", out)
    if json:
        print_json({**asdict(info), "conflicts": [asdict(conflict) for conflict in merged.conflicts]})
    else:
        click.echo(f"{info.reference}: {info.rows:,} cases ({describe_counts(info.lineage.counts)})")
        next_steps((command_line("truth", "diff", info.reference, out=out), "see the changes"))


def _save(ours: Version, merged: Merged, sources: list[str], author: str, note: str, out: str) -> VersionInfo:
    from ragstone.truth.diff import count_changes, diff
    from ragstone.truth.store import Lineage

    counts = {**count_changes(diff(ours.cases, merged.cases)), "conflicts": len(merged.conflicts)}
    return open_store(out).save(
        ours.info.name,
        merged.cases,
        author=author,
        note=note,
        parent=ours.info.number,
        lineage=Lineage(sources=sources, counts=counts),
    )


def _refuse(conflicts: list[Conflict], json: bool) -> None:
    """Prints the conflicts; nothing is saved."""
    if json:
        print_json({"saved": None, "conflicts": [asdict(conflict) for conflict in conflicts]})
        raise click.exceptions.Exit(1)
    lines = [f"{len(conflicts):,} conflict{'s' if len(conflicts) != 1 else ''}; nothing was saved."]
    for conflict in conflicts[:_CONFLICTS_SHOWN]:
        lines.append(f"  {conflict.case}: {conflict.field}")
        sides = (("was", conflict.base), ("ours", conflict.ours), ("theirs", conflict.theirs))
        lines += [f"    {side:<7} {one_line(value)}" for side, value in sides if value is not None]
    if len(conflicts) > _CONFLICTS_SHOWN:
        lines.append(f"  … and {len(conflicts) - _CONFLICTS_SHOWN:,} more")
    lines.append("Choose a side with --prefer ours or --prefer theirs; --base NAME@N shows which side changed what.")
    click.echo("\n".join(lines), err=True)
    raise click.exceptions.Exit(1)


def has_value(value: Any) -> bool:
    """Whether a value is not empty."""
    return value is not None and value not in ([], {})
