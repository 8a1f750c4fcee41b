"""What the commands about ground truth share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragstone.cli.options import DEFAULT_ROOT

if TYPE_CHECKING:
    from ragstone.truth.versions import TruthStore, Version, VersionInfo

__all__ = ["DEFAULT_ROOT", "Author", "Message", "Name", "Reference", "TruthRoot"]

TruthRoot = Annotated[
    str,
    typer.Option(
        "-o",
        "--out",
        metavar="ROOT",
        envvar="RAGSTONE_ROOT",
        help="Folder or s3:// root under which ground truth and runs are stored.",
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a ground truth.", show_default=False)]
Reference = Annotated[
    str,
    typer.Argument(
        metavar="NAME[@N]",
        help="A ground truth: its newest version, or the version of that number.",
        show_default=False,
    ),
]
Author = Annotated[
    str | None,
    typer.Option("--author", help="Who saves it; your user name if nothing is said.", show_default=False),
]
Message = Annotated[str, typer.Option("--note", help="Why it is saved, for the history.", show_default=False)]


def open_store(root: str) -> TruthStore:
    """The ground truth under a root."""
    from ragstone.truth.versions import TruthStore

    return TruthStore(root)


def read_version(reference: str, root: str) -> Version:
    """The version that a command names."""
    from ragstone.truth.versions import parse_reference

    return open_store(root).read(*parse_reference(reference))


def author_or_user(author: str | None) -> str:
    """The author that was named, or the user of this machine."""
    import getpass

    if author:
        return author
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return "unknown"


def print_json(value: Any) -> None:
    """Indented JSON on standard output."""
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def as_day(info: VersionInfo) -> str:
    """When a version was saved, to the minute."""
    return info.created_at[:16].replace("T", " ")
