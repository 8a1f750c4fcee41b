"""A user's own function `list[str] -> list[str]`, plain or async, as RAGChecker's `custom_llm_api_func` is."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ragstone.errors import UsageError
from ragstone.llm.base import Reply, Request
from ragstone.llm.batching import Batcher
from ragstone.llm.failures import LLMError, UnsupportedFormatError
from ragstone.llm.hiding import hide_secrets

Function = Callable[[list[str]], Any]
_BATCH = 64
_ASYNC_AT_ONCE = 16
_SIMPLE = (str, int, float, bool, bytes, type(None))


class FunctionLLM:
    """Prompts of requests that wait at the same time go to the function together; it replies in the same order."""

    def __init__(self, function: Function, name: str | None = None, version: str | None = None) -> None:
        self._function = function
        label = getattr(function, "__qualname__", type(function).__qualname__)
        self._name = name or f"function/{label}"
        self._version = version or _version_of(function)
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004  (an object with an async __call__)
        )
        # A plain function is asked once at a time: few are made to run in several threads.
        self._batcher: Batcher[str, str] = Batcher(self._ask, _BATCH, _ASYNC_AT_ONCE if self._is_async else 1)

    @property
    def name(self) -> str:
        """The function's name."""
        return self._name

    @property
    def signature(self) -> str:
        """The name with a hash of the code: another text of the function is another model."""
        return f"{self._name}#{self._version}"

    async def complete(self, request: Request) -> Reply:
        """The function's text for one prompt."""
        if request.reply_format != "text":
            error = UnsupportedFormatError(f"{self._name} takes and gives plain text only")
            error.attempts = 0
            raise error
        started = time.perf_counter()
        text = await self._batcher.submit(flatten(request))
        return Reply(text=text, model=self._name, latency_s=time.perf_counter() - started)

    async def close(self) -> None:
        """Nothing to close."""

    async def _ask(self, prompts: list[str]) -> Sequence[str]:
        try:
            replies = await (self._function(prompts) if self._is_async else _in_thread(self._function, prompts))
        except Exception as error:
            words = hide_secrets(" ".join(str(error).split()))[:200]
            raise LLMError(f"{self._name} raised {type(error).__name__}: {words}") from error
        return self._check(replies, len(prompts))

    def _check(self, replies: Any, count: int) -> Sequence[str]:
        if not isinstance(replies, Sequence) or isinstance(replies, str | bytes):
            raise LLMError(f"{self._name} must return a list of texts, one a prompt, not {type(replies).__name__}")
        if len(replies) != count:
            raise LLMError(f"{self._name} was given {count} prompts and returned {len(replies)} replies")
        for reply in replies:
            if not isinstance(reply, str):
                raise LLMError(f"{self._name} must return texts, not {type(reply).__name__}")
        return replies


def flatten(request: Request) -> str:
    """A conversation as one text; turns are labelled only where there is more than one of them."""
    instructions = [message.content for message in request.messages if message.role == "system"]
    turns = [message for message in request.messages if message.role != "system"]
    if len(turns) == 1:
        return "\n\n".join((*instructions, turns[0].content))
    labelled = [f"{turn.role.capitalize()}: {turn.content}" for turn in turns]
    return "\n\n".join((*instructions, *labelled, "Assistant:"))


def load_function(path: str, function: str) -> FunctionLLM:
    """The function of a Python file."""
    if not os.path.isfile(path):
        raise UsageError(f"there is no file '{path}' for the model {path}:{function}")
    with open(path, "rb") as stream:
        version = hashlib.blake2b(stream.read(), digest_size=6).hexdigest()
    label = f"ragstone_user_{hashlib.blake2b(os.path.abspath(path).encode(), digest_size=6).hexdigest()}"
    module = _load_module(path, label)
    found = getattr(module, function, None)
    if not callable(found):
        names = [name for name, value in vars(module).items() if inspect.isfunction(value)]
        raise UsageError(f"{path} has no function '{function}'; it has {', '.join(names) or 'none'}")
    return FunctionLLM(found, f"function/{os.path.basename(path)}:{function}", version)


def _load_module(path: str, label: str) -> Any:
    spec = importlib.util.spec_from_file_location(label, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[label] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[label]
        words = hide_secrets(" ".join(str(error).split()))
        raise UsageError(f"{path} cannot be loaded: {type(error).__name__}: {words}") from error
    return module


async def _in_thread(function: Function, prompts: list[str]) -> Any:
    """Run in a thread that nobody waits for at exit: a function that hangs must not hold up the end of the program."""
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
            result = function(prompts)
        except BaseException as raised:  # noqa: BLE001  (it is raised where the function was called)
            error = raised if isinstance(raised, Exception) else RuntimeError(type(raised).__name__)
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish, result, error)

    threading.Thread(target=work, name="ragstone-function", daemon=True).start()
    return await future


def _version_of(function: Function) -> str:
    """A hash of a function's code and of the plain values that it uses from around it."""
    code = getattr(inspect.unwrap(function), "__code__", None) or getattr(type(function).__call__, "__code__", None)
    if code is None:
        return "unknown"
    digest = hashlib.blake2b(code.co_code, digest_size=6)
    outside = inspect.getclosurevars(function) if inspect.isfunction(function) else None
    values = {**outside.nonlocals, **outside.globals} if outside else dict(vars(function))
    constants = [constant for constant in code.co_consts if isinstance(constant, _SIMPLE)]
    simple = sorted((name, value) for name, value in values.items() if isinstance(value, _SIMPLE))
    digest.update(repr((constants, code.co_names, simple)).encode())
    return digest.hexdigest()
