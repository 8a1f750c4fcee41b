"""ragstone cache: the stored replies of models."""

from __future__ import annotations

import typer

from ragstone.cli.options import argument, option
from ragstone.cli.output import command_line, next_steps
from ragstone.errors import UsageError

_ACTIONS = ("size", "clear")


def cache(
    action: str = argument("[size|clear]", "Show the size, or remove all replies.", "size"),
    folder: str | None = option(None, "--folder", "Another folder or s3:// URL than RAGSTONE_CACHE.", metavar="FOLDER"),
) -> None:
    """Show or clear the stored replies of models."""
    from ragstone.llm.cache import open_cache

    if action not in _ACTIONS:
        raise UsageError(f"'{action}' is not an action. Choose from: size, clear.")
    replies = open_cache(folder)
    size = replies.clear() if action == "clear" else replies.size()
    what = f"{size.entries:,} {'reply' if size.entries == 1 else 'replies'}, {_show_bytes(size.size_bytes)}"
    typer.echo(f"removed {what} from {replies.shown}" if action == "clear" else f"{what} in {replies.shown}")
    if action == "size" and size.entries:
        next_steps((command_line("cache", "clear", folder=folder), "remove them"))
    elif size.entries:
        step = command_line("run", "DATA", judge="MODEL", quote=True)
        next_steps((step, "estimate what the calls cost that are no longer stored"))


def _show_bytes(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:,.0f} {unit}"
        count /= 1000
    return f"{count:,.1f} GB"
