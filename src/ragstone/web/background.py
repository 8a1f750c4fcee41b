"""A cache whose values are computed in background threads, so that a page can be shown before they are ready."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotReadyError
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")
# A page waits this long for a value before it is shown without it.
MAX_WAIT_S = 0.3


class BackgroundCache(Generic[T]):
    """The most recently used values by key. Concurrent requests for one key compute its value once."""

    def __init__(self, size: int, workers: int = 1) -> None:
        self._size = size
        self._futures: OrderedDict[Hashable, Future[T]] = OrderedDict()
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="ragstone-view")

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the value and wait as long as it takes."""
        return self._submit(key, compute).result()

    def peek(self, key: Hashable, compute: Callable[[], T], wait_s: float = MAX_WAIT_S) -> T | None:
        """Return the value if it is ready within `wait_s`, else None; the computation goes on."""
        future = self._submit(key, compute)
        try:
            return future.result(timeout=wait_s)
        except NotReadyError:
            if future.done():  # the computation itself raised TimeoutError
                raise
            return None

    def ready(self, key: Hashable) -> T | None:
        """Return the value if it was computed; nothing is computed."""
        with self._lock:
            future = self._futures.get(key)
        return future.result() if future and future.done() and not future.exception() else None

    def _submit(self, key: Hashable, compute: Callable[[], T]) -> Future[T]:
        with self._lock:
            future = self._futures.get(key)
            if future is None or (future.done() and future.exception()):  # failed computations are repeated
                future = self._futures[key] = self._pool.submit(compute)
            self._futures.move_to_end(key)
            while len(self._futures) > self._size:
                self._futures.popitem(last=False)
            return future

    def close(self) -> None:
        """Cancel the computations that have not started."""
        self._pool.shutdown(wait=False, cancel_futures=True)
