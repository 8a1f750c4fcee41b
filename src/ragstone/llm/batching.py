"""Single items gathered into batches: whoever takes many at once is asked seldom."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Batcher(Generic[T, R]):
    """Collects what comes within a short wait, up to a size; while as many batches run as may, the next one grows."""

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
        """The result of one item, from the batch in which it went."""
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
        except Exception as error:  # noqa: BLE001  (it belongs to those who wait for it)
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
        finally:
            for _, future in batch:
                future.cancel()  # only where the batch itself was cancelled
