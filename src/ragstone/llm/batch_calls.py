"""A model that is asked in batches: requests are collected until no more arrive, submitted together and waited for.

Requests that fail in a batch are sent as ordinary calls. One request of each kind is called before the first batch, so that
a wrong key or an unsupported parameter is found at once and not after hours.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, NoReturn

from ragstone.errors import RagstoneError, StopRunError
from ragstone.http.retry import Patience, retry
from ragstone.llm.base import (
    LLM,
    LLMAccessError,
    LLMBusyError,
    LLMError,
    LLMRefusedError,
    LLMStoppedError,
    LLMWrapper,
    Reply,
    Request,
    UnsupportedFormatError,
)
from ragstone.llm.batches import (
    BatchAPI,
    BatchPendingError,
    BatchRecord,
    BatchRecords,
    BatchResult,
    BatchSettings,
    BatchState,
    BatchUnknownError,
    store_results,
)
from ragstone.llm.budget import Budget, Budgeted, Deadline
from ragstone.llm.cache import Cache, decode_reply, request_key
from ragstone.llm.concurrency import gather_or_cancel, tell
from ragstone.llm.wrappers import calls_are_ordinary

_SECONDS_BETWEEN_NOTES = 60.0
# After this many failed questions about a batch, the run stops. The batch goes on.
_MOST_FAILURES = 30
# A batch is answered or ended within a day.
_LONGEST_S = 26 * 3600.0


class _Waiting(NamedTuple):
    """A request and its future, which gets a reply, or None if the request must be sent as an ordinary call."""

    request: Request
    future: asyncio.Future[Reply | None]

    def settle(self, reply: Reply | None) -> None:
        if not self.future.done():
            self.future.set_result(reply)

    def fail(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)
            self.future.exception()  # marks it as retrieved if its task was cancelled


_Queue = dict[str, _Waiting]


class Batched(LLMWrapper):
    """A model that is asked in batches. `meter` has the prices of batches; the wrapped model those of calls."""

    def __init__(
        self,
        llm: LLM,
        api: BatchAPI,
        cache: Cache,
        address: str,
        settings: BatchSettings,
        meter: Budgeted,
        budget: Budget | None = None,
        deadline: Deadline | None = None,
        patience: Patience = Patience(),  # noqa: B008  (frozen)
    ) -> None:
        super().__init__(llm)
        self._api, self._cache, self._address, self._settings = api, cache, address, settings
        self._meter, self._budget, self._deadline = meter, budget, deadline or Deadline(None)
        self._patience = patience
        self._records = BatchRecords(cache.place)
        # Requests that are not in a batch yet, and those that are.
        self._queue: _Queue = {}
        self._flying: _Queue = {}
        self._reserved: dict[str, float] = {}
        self._arrived = 0.0
        self._called: set[tuple[str, bool]] = set()
        self._has_batches = False
        self._worker: asyncio.Task[None] | None = None

    async def complete(self, request: Request) -> Reply:
        """Return the reply from a batch, or from an ordinary call if the request failed in the batch."""
        if calls_are_ordinary() and self._api.has_calls:
            return await self._call(request)
        key = request_key(self.signature, self._address, request)
        waiting = self._queue[key] = _Waiting(request, asyncio.get_running_loop().create_future())
        self._arrived = time.monotonic()
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        reply = await waiting.future
        return await self._call(request) if reply is None else reply

    async def close(self) -> None:
        """Stop waiting. Submitted batches go on; a later run collects them."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
        await super().close()

    async def _call(self, request: Request) -> Reply:
        reply = await self._llm.complete(request)
        self._called.add(_kind(request))
        return reply

    async def _work(self) -> None:
        try:
            while self._queue:
                left_s = self._settings.quiet_s
                while left_s > 0:  # until no request has arrived for a while
                    await asyncio.sleep(left_s)
                    left_s = self._arrived + self._settings.quiet_s - time.monotonic()
                await self._flush()
        except Exception as error:  # noqa: BLE001  (raised in the tasks that wait for replies)
            words = str(error) if isinstance(error, LLMError | RagstoneError) else f"{type(error).__name__}: {error}"
            pending = BatchPendingError(f"{words}. Run the same command again to continue.")
            for waiting in (*self._queue.values(), *self._flying.values()):
                waiting.fail(error if isinstance(error, StopRunError) else pending)
            self._queue.clear()
        finally:
            for key in [*self._reserved]:
                self._release(key)

    async def _flush(self) -> None:
        """Collect the batches of earlier runs that have the waiting requests, submit the others, and wait for all."""
        if self._deadline.left_s <= 0:
            raise BatchPendingError("the deadline has passed. Run the same command again to continue.")
        queue = {key: waiting for key, waiting in self._queue.items() if not waiting.future.done()}
        self._queue, self._flying = {}, dict(queue)
        for key in [*queue]:
            # Another process, or a batch that was recovered, may have stored it meanwhile.
            if reply := decode_reply(self._cache.read(key)):
                queue.pop(key).settle(reply)
        pending = self._take_pending(queue)
        self._has_batches = self._has_batches or bool(pending)
        if self._api.has_calls:
            await self._try_kinds(queue)
        if self._api.has_calls and self._has_batches and len(queue) < self._settings.least:
            for waiting in queue.values():
                waiting.settle(None)
            queue = {}
        self._has_batches = self._has_batches or bool(queue)
        chunks = list(self._chunks(queue))
        follow = (self._follow(record, wanted) for record, wanted in pending)
        submit = (self._submit(chunk, lines) for chunk, lines in chunks)
        await gather_or_cancel([*follow, *submit])
        self._flying = {}

    def _take_pending(self, queue: _Queue) -> list[tuple[BatchRecord, _Queue]]:
        """Take the requests that are in recorded batches out of the queue."""
        mine = (self._api.kind, self.name, self._address)
        own = (record for record in self._records.all() if (record.kind, record.model, record.address) == mine)
        found = [(record, {key: queue.pop(key) for key in record.keys if key in queue}) for record in own]
        return [(record, wanted) for record, wanted in found if wanted]

    async def _try_kinds(self, queue: _Queue) -> None:
        """Call one request of each kind that was not called before; take out what the server does not support."""
        kinds = dict.fromkeys(_kind(waiting.request) for waiting in queue.values())
        for kind in kinds.keys() - self._called:
            key, first = next((key, waiting) for key, waiting in queue.items() if _kind(waiting.request) == kind)
            del queue[key]
            try:
                first.settle(await self._call(first.request))
            except UnsupportedFormatError as error:
                first.fail(error)
                for other in [key for key, waiting in queue.items() if _kind(waiting.request) == kind]:
                    # This request was not sent.
                    copied = UnsupportedFormatError(str(error))
                    copied.attempts = 0
                    queue.pop(other).fail(copied)
            except LLMError as error:
                first.fail(error)

    def _chunks(self, queue: _Queue) -> Iterator[tuple[_Queue, list[bytes]]]:
        """Yield requests and their lines within the limits of the API and of the budget."""
        chunk: _Queue = {}
        lines: list[bytes] = []
        size = 0
        for key, waiting in queue.items():
            if not self._reserve(key, waiting):
                continue
            line = self._api.line(key, waiting.request)
            if chunk and (len(chunk) == self._api.most_requests or size + len(line) + 1 > self._api.most_bytes):
                yield chunk, lines
                chunk, lines, size = {}, [], 0
            chunk[key] = waiting
            lines.append(line)
            size += len(line) + 1
        if chunk:
            yield chunk, lines

    def _reserve(self, key: str, waiting: _Waiting) -> bool:
        """Reserve the maximum cost. A request waits if running calls or batches may release enough."""
        if self._budget is None:
            return True
        amount = self._meter.maximum_usd(waiting.request)
        try:
            is_free = self._budget.try_reserve(amount)
        except LLMStoppedError as error:
            waiting.fail(error)
            return False
        if is_free:
            self._reserved[key] = amount
        else:
            self._queue[key] = waiting
        return is_free

    def _release(self, key: str, used_usd: float | None = 0.0) -> None:
        if self._budget is not None:
            self._budget.settle(self._reserved.pop(key, 0.0), used_usd or 0.0)

    async def _submit(self, chunk: _Queue, lines: list[bytes]) -> None:
        record = self._records.create(self._api.kind, self.name, self._address, self._api.where, chunk)
        try:
            batch, is_sure = await self._create(record, lines)
        except (LLMRefusedError, LLMAccessError) as error:
            self._records.remove(record)
            if isinstance(error, LLMAccessError) or not self._api.has_calls:
                raise
            tell(f"the batch is refused: {error}; {len(chunk):,} requests are sent as ordinary calls")
            self._fall_back(chunk)
            return
        record = replace(record, batch=batch)
        self._records.write(record)
        tell(f"batch {batch}: {len(chunk):,} requests to {self.name}")
        await self._follow(record, chunk, is_sure)

    async def _create(self, record: BatchRecord, lines: list[bytes]) -> tuple[str, bool]:
        """Submit a batch once, even if the provider's answer is lost; also return whether its id is certain."""
        prepared, _ = await retry(lambda: self._api.prepare(record, lines), self._patience)
        failures, started = 0, time.monotonic()
        while True:
            try:
                return await self._api.create(record, prepared), True
            except LLMBusyError as error:
                failures += 1
                wait_s = self._patience.wait_s(failures, error)
                over = self._patience.is_over(failures, error)
                if over or time.monotonic() + wait_s - started > self._patience.longest_s:
                    raise BatchPendingError(f"{error}. Run the same command again to continue.") from None
            await asyncio.sleep(wait_s)
            if found := await self._find(record):
                return found, not self._api.guesses

    async def _find(self, record: BatchRecord) -> str | None:
        taken = frozenset(other.batch for other in self._records.all() if other.batch).union(record.rejected)
        found, _ = await retry(lambda: self._api.find(record, taken), self._patience)
        return found

    async def _follow(self, record: BatchRecord, wanted: _Queue, is_sure: bool = False) -> None:
        """Wait for a batch and hand out its replies. A batch that was never submitted goes back to the queue."""
        found = record if record.batch else await self._recover(record)
        if found is None:
            self._queue |= wanted
            return
        state = await self._wait(found)
        results, _ = await retry(lambda: self._api.results(found, state), self._patience)
        is_sure = is_sure or not self._api.guesses
        if not is_sure and results and not {result.key for result in results}.intersection(found.keys):
            foreign = replace(found, batch=None, rejected=(*found.rejected, str(found.batch)))
            self._records.write(foreign)
            await self._follow(foreign, wanted)
            return
        self._hand_out(found, state, results, wanted)

    async def _recover(self, record: BatchRecord) -> BatchRecord | None:
        """Return the record of a process that did not store the id of its batch, with the id; None if there is none."""
        current: BatchRecord | None = record
        while current is not None and current.is_starting:
            await asyncio.sleep(self._settings.first_poll_s)
            current = self._records.read(record.id)
        if current is None or current.batch:
            return current
        batch = await self._find(current)
        if batch is None:
            self._records.remove(current)
            return None
        found = replace(current, batch=batch)
        self._records.write(found)
        tell(f"batch {batch} was submitted before an interruption and is continued")
        return found

    async def _wait(self, record: BatchRecord) -> BatchState:
        wait_s, failures, unknown = self._settings.first_poll_s, 0, 0
        shown, shown_at = "", 0.0
        while True:
            state = BatchState("unknown", is_ended=False)
            try:
                state, failures = await self._api.look(record), 0
            except LLMBusyError as error:
                failures += 1
                if failures == _MOST_FAILURES:
                    raise BatchPendingError(f"{error}. {self._api.advise(record)}") from None
            except BatchUnknownError as error:
                drop = f"`ragstone batches cancel {record.id}` removes the record of batch {record.batch}."
                raise LLMAccessError(f"{error} {drop}") from None
            if state.is_ended:
                return state
            unknown = 0 if state.is_known else unknown + 1
            left_s = self._deadline.left_s
            is_late = left_s <= 0 or (not self._api.has_calls and left_s == float("inf"))
            if is_late or unknown == _MOST_FAILURES or time.time() - record.created > _LONGEST_S:
                self._stop(record, state)
            words, now = f"{state.status}, {state.done:,} of {len(record.keys):,}", time.monotonic()
            if words != shown and (not shown or now - shown_at > _SECONDS_BETWEEN_NOTES):
                tell(f"batch {record.batch}: {words} requests done")
                shown, shown_at = words, now
            await asyncio.sleep(min(wait_s, max(self._deadline.left_s, 0)))
            wait_s = min(wait_s * 1.5, self._settings.longest_poll_s)

    def _stop(self, record: BatchRecord, state: BatchState) -> NoReturn:
        done = f"{state.status}, {state.done:,} of {len(record.keys):,} requests"
        raise BatchPendingError(
            f"batch {record.batch} of {self.name} is not finished ({done}). {self._api.advise(record)}"
        )

    def _hand_out(self, record: BatchRecord, state: BatchState, results: list[BatchResult], wanted: _Queue) -> None:
        """Store the replies of a batch, then hand them out."""
        replies, errors = store_results(
            self._api, self._cache, record, results, {k: w.request for k, w in wanted.items()}
        )
        self._records.remove(record)
        failed: _Queue = {}
        for key, waiting in wanted.items():
            error = errors.get(key)
            if key in replies:
                reply = self._meter.add_cost(waiting.request, replies[key])
                self._release(key, reply.cost_usd)
                waiting.settle(reply)
            elif isinstance(error, UnsupportedFormatError):
                self._release(key)
                waiting.fail(error)
            elif not self._api.has_calls:
                waiting.fail(error or LLMRefusedError(f"batch {record.batch} has no reply to this request"))
            else:
                failed[key] = waiting
        done = f"batch {record.batch} {state.status}: {len(wanted) - len(failed):,} replies"
        if not failed:
            tell(done)
            return
        reason = state.problem or next((f"{errors[key]}" for key in failed if key in errors), "no result")
        tell(f"{done}; {len(failed):,} requests failed and are sent as ordinary calls ({reason})")
        self._fall_back(failed)

    def _fall_back(self, failed: _Queue) -> None:
        for key, waiting in failed.items():
            self._release(key)
            waiting.settle(None)


def _kind(request: Request) -> tuple[str, bool]:
    return request.reply_format, request.logprobs
