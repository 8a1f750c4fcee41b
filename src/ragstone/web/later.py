"""Work that may take longer than a page should: begun in the background, waited for a moment, shown when it is ready."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotReadyError
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")
# So long a page waits before it is shown without; what takes less is simply there.
PATIENCE_S = 0.3


class Kept(Generic[T]):
    """A few values by their keys, the last used ones; each is made once, however many ask for it at a time."""

    def __init__(self, most: int, workers: int = 1) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, Future[T]] = OrderedDict()
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="ragstone-view")

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value, however long it takes."""
        return self._ask(key, make).result()

    def peek(self, key: Hashable, make: Callable[[], T], patience_s: float = PATIENCE_S) -> T | None:
        """The value if it is there within a moment; else its making goes on and None is returned."""
        future = self._ask(key, make)
        try:
            return future.result(timeout=patience_s)
        except NotReadyError:
            if future.done():  # the work itself ran out of time
                raise
            return None

    def _ask(self, key: Hashable, make: Callable[[], T]) -> Future[T]:
        with self._lock:
            future = self._found.get(key)
            if future is None or (future.done() and future.exception()):  # what failed is tried again
                future = self._found[key] = self._pool.submit(make)
            self._found.move_to_end(key)
            while len(self._found) > self._most:
                self._found.popitem(last=False)
            return future

    def close(self) -> None:
        """Wait for nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
