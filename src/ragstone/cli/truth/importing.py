"""ragstone truth import: a data set as a version of ground truth."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone.cli.options import Data, Format, Limit, Map, Quiet
from ragstone.cli.truth.options import DEFAULT_ROOT, Author, Message, Name, TruthRoot, author_or_user, open_store


def import_(
    data: Data,
    name: Name,
    format: Format = None,
    map: Map = [],  # noqa: B006
    limit: Limit = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Cases that are not in the data go. Otherwise they stay as they are."),
    ] = False,
    author: Author = None,
    note: Message = "",
    out: TruthRoot = DEFAULT_ROOT,
    quiet: Quiet = False,
) -> None:
    """Take a data set of any format as ground truth: the first version of a name, or the next one."""
    from ragstone.cli.options import parse_map, sources
    from ragstone.cli.screen import remark
    from ragstone.cli.truth.wording import describe_counts
    from ragstone.formats import open_reader
    from ragstone.truth.differences import count_changes, diff
    from ragstone.truth.exchange import read_cases, update_cases
    from ragstone.truth.versions import Lineage

    store = open_store(out)
    parent = store.newest(name)
    earlier = [] if parent is None else store.read(name, parent).cases
    reader = open_reader(sources(data), format, parse_map(map), limit)
    found = read_cases(reader)
    cases = update_cases(earlier, found, replace)
    for text in [] if quiet else [*reader.report.notes, *found.notes]:
        remark(text)
    counts = count_changes(diff(earlier, cases))
    if parent is not None and not any(counts.values()):
        typer.echo(f"nothing changed: {name}@{parent} holds what {reader.name} says")
        return
    lineage = Lineage(sources=[{"path": reader.name, "format": reader.format.name}], counts=counts)
    info = store.save(name, cases, author=author_or_user(author), note=note, parent=parent, lineage=lineage)
    if not quiet:
        typer.echo(f"{info.reference}: {info.rows:,} cases ({describe_counts(counts)}), saved under {out}")
