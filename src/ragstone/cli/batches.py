"""ragstone batches: batches of requests whose replies are not collected yet."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import typer

from ragstone.cli.options import argument, shared
from ragstone.cli.output import command_line, next_steps, print_json
from ragstone.errors import StopRunError, UsageError

if TYPE_CHECKING:
    from ragstone.llm.batches import BatchRecord
    from ragstone.llm.cache import Cache

_ACTIONS = ("list", "cancel")
_WAIT_S, _POLL_S = 60.0, 1.0
_TIMEOUT_S = 120.0


def batches(
    action: str = argument("[list|cancel]", "List the batches, or end one of them.", "list"),
    batch: str | None = argument("[ID]", "Id of the batch to end.", None),
    base_url: str | None = shared("base_url"),
    json: bool = shared("json"),
) -> None:
    """List or end the batches of `run --batch` whose replies are not collected yet."""
    from ragstone.llm.batches import BatchRecords
    from ragstone.llm.cache import open_cache

    if action not in _ACTIONS:
        raise UsageError(f"'{action}' is not an action. Choose from: list, cancel.")
    cache = open_cache()
    found = BatchRecords(cache.place).all()
    if action == "list":
        _show(found, json)
        return
    record = next((record for record in found if batch in (record.id, record.batch)), None)
    if record is None:
        raise UsageError(f"there is no batch '{batch or ''}'. `ragstone batches` lists them.")
    replies = asyncio.run(_cancel(cache, record, base_url))
    if json:
        print_json({"batch": record.batch, "replies": replies})
    else:
        typer.echo(f"ended {record.batch or record.id}; stored {replies:,} of {len(record.keys):,} replies")


def _show(found: list[BatchRecord], json: bool) -> None:
    if json:
        names = ("id", "batch", "kind", "model", "where", "created")
        print_json([{**{name: getattr(one, name) for name in names}, "requests": len(one.keys)} for one in found])
        return
    if not found:
        typer.echo("no batches are waiting")
        return
    from ragstone.cli.screen import print_table

    now = time.time()
    rows = [
        (one.batch or f"{one.id} (not confirmed)", one.model, f"{len(one.keys):,}", _age(now - one.created), one.where)
        for one in found
    ]
    print_table(("batch", "model", "requests", "age", "where"), rows, right=("requests", "age"))
    next_steps((command_line("batches", "cancel", "ID"), "end a batch; the same run command continues it"))


def _age(seconds: float) -> str:
    return f"{seconds / 60:,.0f} min" if seconds < 5400 else f"{seconds / 3600:,.1f} h"


async def _cancel(cache: Cache, record: BatchRecord, base_url: str | None) -> int:
    from ragstone.http.client import HttpClient
    from ragstone.llm.base import LLMError
    from ragstone.llm.batch_results import cancel_batch
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
