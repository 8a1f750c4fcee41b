"""Batches of requests: what a provider's batch API does, and the records of batches that are not collected yet.

A record is written before a batch is submitted and removed after its replies are in the cache. The id of a request within a
batch is its cache key, so a record and the provider's results are enough to store the replies.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from ragstone.errors import StopRunError, StorageError
from ragstone.llm.base import LLMAccessError, LLMError, LLMRefusedError, Reply, Request
from ragstone.llm.cache import Cache, encode_reply
from ragstone.storage.durable import Checkpoint, describe_process, from_fields, is_local, is_running
from ragstone.storage.places import Place

_FOLDER, _ENDING = "batches", ".json"
# A process on another machine that has not submitted its batch after this time is assumed to be dead.
_LONGEST_START_S = 1800.0


class BatchPendingError(StopRunError):
    """A batch is not finished. The same command continues it."""


class BatchUnknownError(LLMAccessError):
    """The provider does not know a batch: it was deleted, or belongs to another account."""


@dataclass(frozen=True)
class BatchSettings:
    """How requests are put into batches."""

    # Files are written here and read from here; no batch API is used.
    folder: str | None = None
    # A batch is submitted when no request was added for this long.
    quiet_s: float = 2.0
    # Waits between questions about a batch: the first, and the longest.
    first_poll_s: float = 2.0
    longest_poll_s: float = 60.0
    # After the first batch, fewer requests than this are sent as ordinary calls.
    least: int = 10


def read_batch_option(chosen: Any) -> BatchSettings | None:
    """Return the settings for the option `batch`: false, true, a folder, or settings."""
    if not chosen:
        return None
    if isinstance(chosen, BatchSettings):
        return chosen
    return BatchSettings() if chosen is True else BatchSettings(folder=os.path.abspath(os.fspath(chosen)))


@dataclass(frozen=True)
class BatchRecord:
    """A batch that may have been submitted and whose replies are not in the cache yet."""

    id: str
    # `openai`, `anthropic` or `files`.
    kind: str
    model: str
    # Part of the cache key of the requests.
    address: str
    # The server without secrets, or the folder of the files.
    where: str
    keys: tuple[str, ...]
    created: float
    owner: Mapping[str, Any] = field(default_factory=dict)
    # The provider's id; None before it is known.
    batch: str | None = None
    # Batches that were taken for this one and have other requests.
    rejected: tuple[str, ...] = ()

    @property
    def is_starting(self) -> bool:
        """Whether another process is about to submit it."""
        if self.batch is not None or self.owner == describe_process() or "host" not in self.owner:
            return False
        is_young = time.time() - self.created < _LONGEST_START_S
        return is_running(self.owner) and (is_young or is_local(self.owner))


class BatchRecords:
    """The records in a cache folder, one file each."""

    def __init__(self, cache: Place) -> None:
        self._folder = cache / _FOLDER

    def create(self, kind: str, model: str, address: str, where: str, keys: Iterable[str]) -> BatchRecord:
        """Store and return the record of a new batch."""
        id_ = secrets.token_hex(8)
        record = BatchRecord(id_, kind, model, address, where, tuple(keys), time.time(), describe_process())
        self.write(record)
        return record

    def write(self, record: BatchRecord) -> None:
        """Store a record."""
        self._file(record.id).write(asdict(record))

    def read(self, record_id: str) -> BatchRecord | None:
        """Return a record, or None if it was removed or cannot be read."""
        with suppress(StorageError, TypeError, ValueError, KeyError):
            if content := self._file(record_id).read():
                tuples = {name: tuple(content[name]) for name in ("keys", "rejected")}
                return from_fields(BatchRecord, {**content, **tuples})
        return None

    def remove(self, record: BatchRecord) -> None:
        """Remove a record; another process may have done so already."""
        with suppress(StorageError):
            self._file(record.id).place.remove()

    def all(self) -> list[BatchRecord]:
        """Return all records, the oldest first."""
        try:
            names = [place.name for place in self._folder.children() if place.name.endswith(_ENDING)]
        except StorageError:
            return []
        found = (self.read(name.removesuffix(_ENDING)) for name in names)
        return sorted((record for record in found if record), key=lambda record: record.created)

    def _file(self, record_id: str) -> Checkpoint:
        return Checkpoint(self._folder / f"{record_id}{_ENDING}")


class BatchState(NamedTuple):
    """The state of a batch, as the provider gives it."""

    status: str
    is_ended: bool
    # Requests that have a result.
    done: int = 0
    # Why the batch failed.
    problem: str = ""
    # The files with results.
    files: tuple[str, ...] = ()
    # Whether the status is one that the API documents.
    is_known: bool = True


class BatchResult(NamedTuple):
    """The result of one request: its key, an HTTP status, and the body of a reply or of an error."""

    key: str
    status: int
    body: Any


class BatchAPI(Protocol):
    """A provider of batches for one model."""

    # `openai`, `anthropic` or `files`, and the server without secrets or the folder.
    kind: str
    where: str
    # Whether single calls are possible; if not, the run does not wait for a batch either.
    has_calls: bool
    # Whether `find` may return a batch of others.
    guesses: bool
    most_requests: int
    most_bytes: int

    def line(self, key: str, request: Request) -> bytes:
        """Return a request of a batch as JSON."""
        ...

    async def prepare(self, record: BatchRecord, lines: Sequence[bytes]) -> Any:
        """Upload the requests; may be repeated. Returns what `create` needs."""
        ...

    async def create(self, record: BatchRecord, prepared: Any) -> str:
        """Submit the batch and return its id. If this raises LLMBusyError, the batch may exist or not."""
        ...

    async def find(self, record: BatchRecord, taken: frozenset[str]) -> str | None:
        """Return the id of a batch that was probably submitted for a record, or None; `taken` are those of other records."""
        ...

    async def look(self, record: BatchRecord) -> BatchState:
        """Return the state of a batch."""
        ...

    async def results(self, record: BatchRecord, state: BatchState) -> list[BatchResult]:
        """Return the results of a batch that has ended, in any order."""
        ...

    async def cancel(self, record: BatchRecord) -> None:
        """Ask the provider to end a batch."""
        ...

    def read(self, result: BatchResult, request: Request | None) -> Reply:
        """Return the reply in a result, or raise an LLMError."""
        ...

    def advise(self, record: BatchRecord) -> str:
        """Return what the user can do about a batch that is not finished."""
        ...


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
            reply = replace(api.read(result, requests.get(result.key)), stored=True)
            # Of several lines with one id, the first that says something counts.
            if result.key not in replies or (reply.text and not replies[result.key].text):
                replies[result.key] = reply
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
