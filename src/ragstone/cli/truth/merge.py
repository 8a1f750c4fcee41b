"""ragstone truth merge: two versions of ground truth made into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.cli.options import Json
from ragstone.cli.truth.options import (
    DEFAULT_ROOT,
    Author,
    Message,
    Name,
    TruthRoot,
    author_or_user,
    open_store,
    print_json,
    read_version,
)
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.truth.merging import Conflict, Merged
    from ragstone.truth.versions import Version, VersionInfo

_SIDES = ("ours", "theirs")
_CONFLICTS_SHOWN = 20


def merge(
    name: Name,
    other: Annotated[
        str, typer.Argument(metavar="OTHER[@N]", help="The version that is merged into it.", show_default=False)
    ],
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="NAME[@N]",
            help="The version that both began from, so that what only one side changed or removed is known.",
            show_default=False,
        ),
    ] = None,
    prefer: Annotated[
        str | None,
        typer.Option(
            "--prefer",
            metavar="ours|theirs",
            help="Whose word counts where both differ; without it, differences are shown and nothing is saved.",
            show_default=False,
        ),
    ] = None,
    author: Author = None,
    note: Message = "",
    out: TruthRoot = DEFAULT_ROOT,
    json: Json = False,
) -> None:
    """Merge another ground truth into this one, by case and field, facts one by one, as a new version."""
    from ragstone.truth.merging import merge as merge_cases

    if prefer not in (None, *_SIDES):
        raise UsageError(f"--prefer {prefer}: write ours or theirs")
    ours, theirs = open_store(out).read(name), read_version(other, out)
    began = [] if base is None else read_version(base, out).cases
    found = merge_cases(began, ours.cases, theirs.cases, "theirs" if prefer == "theirs" else "ours")
    if found.conflicts and prefer is None:
        _refuse(found.conflicts, json)
    if found.cases == ours.cases:
        typer.echo(f"nothing to merge: {ours.info.reference} holds all of {theirs.info.reference}")
        return
    sources = [ours.info.reference, theirs.info.reference, *([f"base {base}"] if base else [])]
    info = _save(ours, found, sources, author_or_user(author), note or f"merged {theirs.info.reference}", out)
    _tell(info, found, json)


def _save(ours: Version, found: Merged, sources: list[str], author: str, note: str, out: str) -> VersionInfo:
    from ragstone.truth.differences import count_changes, diff
    from ragstone.truth.versions import Lineage

    counts = {**count_changes(diff(ours.cases, found.cases)), "conflicts": len(found.conflicts)}
    return open_store(out).save(
        ours.info.name,
        found.cases,
        author=author,
        note=note,
        parent=ours.info.number,
        lineage=Lineage(sources=sources, counts=counts),
    )


def _tell(info: VersionInfo, found: Merged, json: bool) -> None:
    from dataclasses import asdict

    from ragstone.cli.truth.wording import describe_counts

    if json:
        print_json({**asdict(info), "conflicts": [asdict(conflict) for conflict in found.conflicts]})
    else:
        typer.echo(f"{info.reference}: {info.rows:,} cases ({describe_counts(info.lineage.counts)})")


def _refuse(conflicts: list[Conflict], json: bool) -> None:
    """Show what both sides say differently; nothing is saved."""
    from dataclasses import asdict

    from ragstone.cli.truth.wording import words

    if json:
        print_json({"saved": None, "conflicts": [asdict(conflict) for conflict in conflicts]})
        raise typer.Exit(1)
    lines = [f"{len(conflicts):,} conflict{'s' if len(conflicts) != 1 else ''}; nothing was saved."]
    for conflict in conflicts[:_CONFLICTS_SHOWN]:
        lines.append(f"  {conflict.case}: {conflict.field}")
        sides = (("was", conflict.base), ("ours", conflict.ours), ("theirs", conflict.theirs))
        lines += [f"    {side:<7} {words(value)}" for side, value in sides if value is not None]
    if len(conflicts) > _CONFLICTS_SHOWN:
        lines.append(f"  … and {len(conflicts) - _CONFLICTS_SHOWN:,} more")
    lines.append("Say whose word counts with --prefer ours or --prefer theirs; --base NAME@N tells who changed what.")
    typer.echo("\n".join(lines), err=True)
    raise typer.Exit(1)
