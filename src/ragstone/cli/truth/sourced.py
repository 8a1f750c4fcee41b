"""Commands that take a ground truth by its name or a data set by its path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from ragstone.truth.cases import Case

NameOrData = Annotated[
    str,
    typer.Argument(
        metavar="NAME[@N]|DATA",
        help="A ground truth under --out, or data of any format with contexts: file, folder, s3:// or other URL.",
        show_default=False,
    ),
]


class Sourced(NamedTuple):
    """Cases with passages, what they are called, and the stored version that they come from, if they do."""

    cases: list[Case]
    name: str
    stored: str | None
    number: int | None


def read_named(given: str, root: str, format: str | None, columns: dict[str, str], limit: int | None) -> Sourced:
    """The cases of a stored ground truth of that name, else those of a data set."""
    from ragstone.cli.truth.options import open_store
    from ragstone.errors import UsageError
    from ragstone.truth.versions import parse_reference

    try:
        name, number = parse_reference(given)
        is_stored = open_store(root).newest(name) is not None
    except UsageError:  # a path is no name
        is_stored = False
    if is_stored:
        version = open_store(root).read(name, number)
        return Sourced(version.cases[:limit], version.info.reference, name, version.info.number)
    from ragstone.formats import open_reader
    from ragstone.truth.sources import read_sourced

    reader = open_reader(given, format, columns, limit)
    return Sourced(read_sourced(reader), reader.name, None, None)
