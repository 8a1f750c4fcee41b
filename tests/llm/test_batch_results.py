"""Replies of batches in the cache, and batches that are ended."""

import asyncio
from dataclasses import replace

import pytest

from ragstone.llm.base import LLMAccessError, LLMBusyError, Reply
from ragstone.llm.batches import (
    BatchPendingError,
    BatchRecords,
    BatchResult,
    BatchState,
    BatchUnknownError,
    cancel_batch,
    store_results,
)
from ragstone.llm.cache import Cache, decode_reply


class OneBatch:
    """An API with one batch."""

    has_calls = True

    def __init__(self, states=(), results=(), found=None):
        self.states, self.replies, self.found = iter(states), results, found
        self.cancelled = []

    async def find(self, record, taken):
        return self.found

    async def look(self, record):
        state = next(self.states)
        if isinstance(state, Exception):
            raise state
        return BatchState(state, state in ("completed", "cancelled"))

    async def results(self, record, state):
        return [BatchResult(key, 200, value) for key, value in self.replies]

    async def cancel(self, record):
        self.cancelled.append(record.batch)

    def read(self, result, request):
        if isinstance(result.body, Exception):
            raise result.body
        return Reply(result.body, "m")


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path)


@pytest.fixture
def record(cache):
    records = BatchRecords(cache.place)
    record = replace(records.create("openai", "openai/m", "", "w", ["k1", "k2", "k3"]), batch="batch_1")
    records.write(record)
    return record


def test_replies_are_stored_and_errors_returned(cache, record):
    bodies = [("k1", "one"), ("k2", LLMBusyError("busy")), ("k3", LLMAccessError("no key")), ("foreign", "x")]
    replies, errors = store_results(
        OneBatch(), cache, record, [BatchResult(key, 200, body) for key, body in bodies], {}
    )
    assert {key: reply.text for key, reply in replies.items()} == {"k1": "one"}
    assert {key: str(error) for key, error in errors.items()} == {"k2": "busy", "k3": "no key"}
    assert decode_reply(cache.read("k1")).text == "one"
    assert cache.read("foreign") is None


@pytest.mark.parametrize(
    ("api", "stored", "is_cancelled"),
    [
        (OneBatch(["in_progress", "cancelling", "cancelled"], [("k1", "one")]), 1, True),
        (OneBatch(["completed"], [("k1", "one"), ("k2", "two")]), 2, False),
        (OneBatch([BatchUnknownError("gone")]), 0, False),
    ],
)
def test_end_a_batch(api, stored, is_cancelled, cache, record):
    assert asyncio.run(cancel_batch(api, cache, record, 5, 0.001)) == stored
    assert bool(api.cancelled) == is_cancelled
    assert BatchRecords(cache.place).all() == []


def test_a_batch_that_does_not_end_is_kept(cache, record):
    api = OneBatch(["in_progress"] * 1000)
    with pytest.raises(BatchPendingError, match="still in_progress"):
        asyncio.run(cancel_batch(api, cache, record, 0.01, 0.001))
    assert BatchRecords(cache.place).all() == [record]


def test_a_wrong_key_keeps_the_record(cache, record):
    with pytest.raises(LLMAccessError):
        asyncio.run(cancel_batch(OneBatch([LLMAccessError("wrong key")]), cache, record, 1, 0.001))
    assert BatchRecords(cache.place).all() == [record]


@pytest.mark.parametrize(("found", "stored"), [(None, 0), ("batch_9", 1)])
def test_a_batch_that_is_not_confirmed(found, stored, cache, record):
    api = OneBatch(["completed"], [("k1", "one")], found)
    assert asyncio.run(cancel_batch(api, cache, replace(record, batch=None), 1, 0.001)) == stored
    assert BatchRecords(cache.place).all() == []
