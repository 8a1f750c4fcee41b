"""Runs several calls at once, runs a user's function in a thread, and sets context variables for a block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Result = TypeVar("Result")


@contextmanager
def bound(variable: ContextVar[Result], value: Result) -> Iterator[None]:
    """Give a context variable a value in this block and in tasks started in it."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


_NOTE: ContextVar[Callable[[str], object] | None] = ContextVar("ragstone_call_note", default=None)


def call_notes(note: Callable[[str], object]) -> AbstractContextManager[None]:
    """Call a function with each remark about calls in this block, and in tasks started in it."""
    return bound(_NOTE, note)


def tell(words: str) -> None:
    """Make a remark about calls."""
    if note := _NOTE.get():
        note(words)


async def gather_or_cancel(work: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Return the results in order. If one call raises, cancel the others, wait for them and raise its error."""
    tasks = [asyncio.ensure_future(call) for call in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def gather_then_raise(work: Iterable[Awaitable[Result]]) -> list[Result]:
    """Return the results in order. If calls raise, wait for all of them, then raise the first error.

    The other calls are not cancelled because their replies are paid for and go into the cache.
    """
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


async def run_in_thread(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a function in a daemon thread, so that a function that hangs does not block the end of the program."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def finish(result: Any, error: BaseException | None) -> None:
        if not future.done():
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    def work() -> None:
        result, error = None, None
        try:
            result = function(*arguments, **named)
        except BaseException as raised:  # noqa: BLE001  (re-raised in the caller's task)
            # A future cannot hold a StopIteration: the caller would wait for ever.
            plain = isinstance(raised, Exception) and not isinstance(raised, StopIteration)
            error = raised if plain else RuntimeError(type(raised).__name__)
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish, result, error)

    threading.Thread(target=work, name="ragstone-function", daemon=True).start()
    return await future
