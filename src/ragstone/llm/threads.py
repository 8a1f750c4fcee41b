"""Plain functions of others, run in threads that nobody waits for at exit."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any


async def run_in_thread(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What a function returns or raises; one that hangs must not hold up the end of the program."""
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
        except BaseException as raised:  # noqa: BLE001  (it is raised where the function was called)
            error = raised if isinstance(raised, Exception) else RuntimeError(type(raised).__name__)
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish, result, error)

    threading.Thread(target=work, name="ragstone-function", daemon=True).start()
    return await future
