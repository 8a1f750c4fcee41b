"""ragstone cache and batches: stored replies, and batches of requests whose replies are not collected yet."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import argument, option, shared
from ragstone.cli.output import command_line, next_steps, print_json, print_table
from ragstone.errors import StopRunError, UsageError

if TYPE_CHECKING:
    from ragstone.llm.batches import BatchRecord
    from ragstone.llm.cache import Cache

_ACTIONS = ("size", "clear")


def cache(
    action: str = argument("[size|clear]", "Show the size, or remove all replies.", "size"),
    folder: str | None = option(None, "--folder", "Another folder or s3:// URL than RAGSTONE_CACHE.", metavar="FOLDER"),
) -> None:
    """Show or clear the stored replies of models and the outputs of the local judge."""
    from ragstone.llm.cache import open_cache
    from ragstone.models.judge_memory import memory_file

    if action not in _ACTIONS:
        raise UsageError(f"'{action}' is not an action. Choose from: size, clear.")
    replies = open_cache(folder)
    size = replies.clear() if action == "clear" else replies.size()
    what = f"{size.entries:,} {'reply' if size.entries == 1 else 'replies'}, {_show_bytes(size.size_bytes)}"
    if folder is None and (file := memory_file()).exists():
        what += f", and {_show_bytes(file.stat().st_size)} that the local judge computed,"
        if action == "clear":
            file.unlink(missing_ok=True)
    click.echo(f"removed {what} from {replies.shown}" if action == "clear" else f"{what} in {replies.shown}")
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


_BATCH_ACTIONS = ("list", "cancel")
_WAIT_S, _POLL_S = 60.0, 1.0
_TIMEOUT_S = 120.0


def batches(
    action: str = argument("[list|cancel]", "List the batches, or end one of them.", "list"),
    batch: str | None = argument("[ID]", "Id of the batch to end.", None),
    base_url: str | None = shared("base_url", None),
    json: bool = shared("json"),
) -> None:
    """List or end the batches of `run --batch` whose replies are not collected yet."""
    from ragstone.llm.batches import BatchRecords
    from ragstone.llm.cache import open_cache

    if action not in _BATCH_ACTIONS:
        raise UsageError(f"'{action}' is not an action. Choose from: list, cancel.")
    cache = open_cache()
    found = BatchRecords(cache.place).all()
    if action == "list":
        _show_batches(found, json)
        return
    record = next((record for record in found if batch in (record.id, record.batch)), None)
    if record is None:
        raise UsageError(f"there is no batch '{batch or ''}'. `ragstone batches` lists them.")
    replies = asyncio.run(_cancel(cache, record, base_url))
    if json:
        print_json({"batch": record.batch, "replies": replies})
    else:
        click.echo(f"ended {record.batch or record.id}; stored {replies:,} of {len(record.keys):,} replies")


def _show_batches(found: list[BatchRecord], json: bool) -> None:
    if json:
        names = ("id", "batch", "kind", "model", "where", "created")
        print_json([{**{name: getattr(one, name) for name in names}, "requests": len(one.keys)} for one in found])
        return
    if not found:
        click.echo("no batches are waiting")
        return
    rows = []
    for one in found:
        seconds = time.time() - one.created
        age = f"{seconds / 60:,.0f} min" if seconds < 5400 else f"{seconds / 3600:,.1f} h"
        rows.append((one.batch or f"{one.id} (not confirmed)", one.model, f"{len(one.keys):,}", age, one.where))
    print_table(("batch", "model", "requests", "age", "where"), rows, right=("requests", "age"))
    next_steps((command_line("batches", "cancel", "ID"), "end a batch; the same run command continues it"))


async def _cancel(cache: Cache, record: BatchRecord, base_url: str | None) -> int:
    from ragstone.http.client import HttpClient
    from ragstone.llm.base import LLMError
    from ragstone.llm.batches import cancel_batch
    from ragstone.llm.gateway import open_batches

    client = HttpClient()
    folder = record.where if record.kind == "files" else None
    try:
        opened = open_batches(record.model, base_url, folder, client, _TIMEOUT_S)
        if opened.batches is None or opened.batches.where != record.where:
            raise UsageError(f"the batch was submitted to {record.where}: name that address with --base-url.")
        return await cancel_batch(opened.batches, cache, record, _WAIT_S, _POLL_S)
    except LLMError as error:
        raise StopRunError(str(error)) from None
    finally:
        await client.close()
