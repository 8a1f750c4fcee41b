"""Embeddings of texts through the gateway, in batches, with one cache entry per text."""

from __future__ import annotations

import asyncio
import time
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ragstone.llm.base import LLM, LLMAccessError, LLMError, LLMRefusedError, Message, Reply, Request, estimate_tokens
from ragstone.llm.cache import Cache, make_key
from ragstone.llm.concurrency import gather_then_raise
from ragstone.llm.providers.openai_vectors import Vectors
from ragstone.llm.wrappers import record_failure, record_reply

T = TypeVar("T")
R = TypeVar("R")


class Batcher(Generic[T, R]):
    """Collects single items into batches.

    A batch starts after a short wait or when it is full. While the maximum number of batches runs, the next one grows.
    """

    def __init__(
        self, run: Callable[[list[T]], Awaitable[Sequence[R]]], size: int, parallel: int, wait_s: float = 0.01
    ) -> None:
        self._run = run
        self._size = size
        self._parallel = parallel
        self._wait_s = wait_s
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, item: T) -> R:
        """Return the result of one item."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R] = loop.create_future()
        self._waiting.append((item, future))
        if len(self._waiting) >= self._size:
            self._start()
        elif self._timer is None:
            self._timer = loop.call_later(self._wait_s, self._start)
        return await future

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiting and len(self._tasks) < self._parallel:
            batch = [pair for pair in self._waiting[: self._size] if not pair[1].done()]
            del self._waiting[: self._size]
            if batch:
                task = asyncio.get_running_loop().create_task(self._work(batch))
                self._tasks.add(task)
                task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._start()

    async def _work(self, batch: list[tuple[T, asyncio.Future[R]]]) -> None:
        try:
            results = await self._run([item for item, _ in batch])
            for (_, future), result in zip(batch, results, strict=True):
                if not future.done():
                    future.set_result(result)
        except Exception as error:  # noqa: BLE001  (raised in the waiting callers)
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
        finally:
            for _, future in batch:
                future.cancel()  # has an effect only if the batch was cancelled


_BATCH = 64
_REQUEST = Request((), prompt="embedding")


class _Embedded(NamedTuple):
    """The vector of one text and its share of the call; `attempts` is 0 if no call was made."""

    row: np.ndarray
    tokens: float = 0.0
    cost_usd: float | None = 0.0
    latency_s: float = 0.0
    attempts: int = 0


class BatchedEmbedder:
    """Embeds texts with a model that takes many texts per request. `model` returns Vectors, or a quote."""

    def __init__(
        self, model: LLM, cache: Cache | None, address: str = "", concurrency: int = 16, quoting: bool = False
    ) -> None:
        self._model = model
        self.name, self.signature = model.name, model.signature
        self._cache = cache
        self._address = address
        self._quoting = quoting
        self._quoted: dict[str, _Embedded] = {}
        self._batcher: Batcher[str, _Embedded | LLMError] = Batcher(self._ask, _BATCH, concurrency)

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return one row of 32-bit floats per text."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        started = time.perf_counter()
        unique = list(dict.fromkeys(texts))
        try:
            embedded = dict(zip(unique, await gather_then_raise(map(self._embed_one, unique)), strict=True))
        except (LLMError, LLMAccessError) as error:
            record_failure(_REQUEST, self.name, error, time.perf_counter() - started)
            raise
        self._record(list(embedded.values()))
        return np.stack([embedded[text].row for text in texts])

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    async def _embed_one(self, text: str) -> _Embedded:
        key = make_key({"kind": "embedding", "model": self.signature, "address": self._address, "text": text})
        stored = self._quoted.get(key) or (_from_json(self._cache.read(key)) if self._cache else None)
        if stored is not None:
            return stored
        embedded = await self._batcher.submit(text)
        if isinstance(embedded, LLMError):
            raise embedded
        if self._quoting:
            self._quoted[key] = _Embedded(embedded.row)
        elif self._cache:
            self._cache.write(
                key, {"float32": b64encode(np.ascontiguousarray(embedded.row, dtype="<f4").tobytes()).decode()}
            )
        return embedded

    async def _ask(self, texts: list[str]) -> list[_Embedded | LLMError]:
        """Return the vectors of a batch. If the batch is refused, ask text by text to find the cause."""
        request = Request(tuple(Message("user", text) for text in texts), prompt="embedding")
        try:
            reply = await self._model.complete(request)
        except LLMRefusedError as error:
            if len(texts) == 1:
                return [error]
            return [result for text in texts for result in await self._ask([text])]
        except LLMError as error:
            return [error] * len(texts)
        rows = reply.rows if isinstance(reply, Vectors) else [np.ones(1, dtype=np.float32)] * len(texts)
        weights = np.array([max(1, estimate_tokens(text)) for text in texts], dtype=float)
        tokens, cost, call = reply.input_tokens or 0, reply.cost_usd, (reply.latency_s, reply.attempts)
        return [
            _Embedded(row, tokens * share, None if cost is None else cost * share, *call)
            for row, share in zip(rows, weights / weights.sum(), strict=True)
        ]

    def _record(self, embedded: Sequence[_Embedded]) -> None:
        asked = [item for item in embedded if item.attempts]
        costs = [item.cost_usd for item in asked if item.cost_usd is not None]
        reply = Reply(
            text="",
            model=self.name,
            input_tokens=round(sum(item.tokens for item in asked)),
            output_tokens=0,
            cost_usd=sum(costs) if len(costs) == len(asked) else None,
            latency_s=max((item.latency_s for item in asked), default=0.0),
            attempts=max((item.attempts for item in asked), default=0),
            cached=not asked,
        )
        record_reply(_REQUEST, reply)


def _from_json(stored: Any) -> _Embedded | None:
    try:
        row = np.frombuffer(b64decode(stored["float32"]), dtype="<f4")
    except (KeyError, TypeError, ValueError):
        return None
    return _Embedded(row) if row.size else None
