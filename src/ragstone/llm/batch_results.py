"""Stores the replies of batches in the cache, and ends a batch."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from ragstone.llm.base import LLMAccessError, LLMError, LLMRefusedError, Reply, Request
from ragstone.llm.batches import BatchAPI, BatchPendingError, BatchRecord, BatchRecords, BatchResult, BatchUnknownError
from ragstone.llm.cache import Cache, encode_reply


def store_results(
    api: BatchAPI, cache: Cache, record: BatchRecord, results: list[BatchResult], requests: dict[str, Request]
) -> tuple[dict[str, Reply], dict[str, LLMError]]:
    """Write the replies of a batch into the cache; return them, and the errors of the other results, by key."""
    replies: dict[str, Reply] = {}
    errors: dict[str, LLMError] = {}
    known = set(record.keys)
    for result in results:
        if result.key not in known:
            continue
        try:
            replies[result.key] = replace(api.read(result, requests.get(result.key)), stored=True)
        except LLMError as error:
            errors[result.key] = error
        except LLMAccessError as error:
            errors[result.key] = LLMRefusedError(str(error))
    for key, reply in replies.items():
        cache.write(key, encode_reply(reply))
    return replies, errors


async def cancel_batch(api: BatchAPI, cache: Cache, record: BatchRecord, wait_s: float, poll_s: float) -> int:
    """End a batch and store the replies that it has; return their number. Raises BatchPendingError if it does not end."""
    records = BatchRecords(cache.place)
    batch = record.batch or await api.find(record, frozenset(record.rejected))
    if batch is None:
        records.remove(record)
        return 0
    record = replace(record, batch=batch)
    try:
        state = await api.look(record)
    except BatchUnknownError:
        records.remove(record)
        return 0
    if not state.is_ended:
        await api.cancel(record)
    until = time.monotonic() + wait_s
    while not state.is_ended and api.has_calls:
        if time.monotonic() > until:
            raise BatchPendingError(f"batch {batch} is still {state.status}. Run the same command again later.")
        await asyncio.sleep(poll_s)
        state = await api.look(record)
    replies, _ = store_results(api, cache, record, await api.results(record, state), {})
    records.remove(record)
    return len(replies)
