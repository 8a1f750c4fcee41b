"""Texts that wait at the same time go to a model together, in a thread: it is quickest with many, and the loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

# What is worked on: a text, or several that belong together.
K = TypeVar("K", bound=str | tuple[str, ...])
R = TypeVar("R")


class Gatherer(Generic[K, R]):
    """One batch at a time; while it is computed the next one grows. Each text is computed once, and kept for a while."""

    def __init__(
        self, work: Callable[[list[K]], Sequence[R]], most: int = 256, kept: int = 20_000, letters: int = 50_000
    ) -> None:
        self._work = work
        self._most = most
        # Of a batch together: it takes seconds, and who stops a run waits for no more than one.
        self._letters = letters
        self._kept = kept
        # By text, from the oldest to the newest; those that wait are at the end.
        self._found: dict[K, asyncio.Future[R]] = {}
        self._waiting: list[K] = []
        self._worker: asyncio.Task[None] | None = None

    async def submit(self, texts: Sequence[K]) -> list[R]:
        """What the model makes of each text."""
        futures = [self._future(text) for text in texts]
        if self._waiting and self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(self._run())
        if futures:
            await asyncio.wait(futures)  # who is cancelled here cancels no future that others wait for
        return [future.result() for future in futures]

    def _future(self, text: K) -> asyncio.Future[R]:
        found = self._found.get(text)
        if found is None or (found.done() and (found.cancelled() or found.exception())):
            found = self._found[text] = asyncio.get_running_loop().create_future()
            self._waiting.append(text)
        return found

    async def _run(self) -> None:
        try:
            await asyncio.sleep(0)  # all who are ready ask first
            while self._waiting:
                batch = self._take()
                futures = [self._found[text] for text in batch]
                try:
                    results = await asyncio.to_thread(self._work, batch)
                except Exception as error:  # noqa: BLE001  (it belongs to those who wait for it)
                    for future in futures:
                        future.set_exception(error)
                        future.exception()  # nobody may be left to look at it
                else:
                    for future, result in zip(futures, results, strict=True):
                        future.set_result(result)
                self._forget()
        finally:
            self._worker = None
            for text in self._waiting:  # only where we were cancelled
                self._found[text].cancel()
            self._waiting = []

    def _take(self) -> list[K]:
        """The next batch out of those who wait: one text at least."""
        count, letters = 1, _letters(self._waiting[0])
        for text in self._waiting[1 : self._most]:
            letters += _letters(text)
            if letters > self._letters:
                break
            count += 1
        batch, self._waiting = self._waiting[:count], self._waiting[count:]
        return batch

    def _forget(self) -> None:
        for text in list(self._found)[: max(0, len(self._found) - self._kept)]:
            if self._found[text].done():
                del self._found[text]


def _letters(item: str | tuple[str, ...]) -> int:
    return len(item) if isinstance(item, str) else sum(map(len, item))
