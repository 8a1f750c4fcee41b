"""ragstone cache: what is kept of models' replies, and how to be rid of it."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone.errors import UsageError

_ACTIONS = ("size", "clear")


def cache(
    action: Annotated[
        str, typer.Argument(metavar="[size|clear]", help="Show the size, or remove all replies.")
    ] = "size",
    folder: Annotated[
        str | None,
        typer.Option(
            "--folder", help="Another folder or s3:// URL than RAGSTONE_CACHE or the usual one.", show_default=False
        ),
    ] = None,
) -> None:
    """Show or clear the replies of language models that are kept so that nothing is asked twice."""
    from ragstone.llm.distant_cache import open_cache

    if action not in _ACTIONS:
        raise UsageError(f"'{action}' is not something to do with the cache. Write size or clear.")
    replies = open_cache(folder)
    size = replies.clear() if action == "clear" else replies.size()
    what = f"{size.entries:,} {'reply' if size.entries == 1 else 'replies'}, {_show_bytes(size.size_bytes)}"
    typer.echo(f"removed {what} from {replies.shown}" if action == "clear" else f"{what} in {replies.shown}")


def _show_bytes(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:,.0f} {unit}"
        count /= 1000
    return f"{count:,.1f} GB"
