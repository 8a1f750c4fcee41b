"""A user's own function `list[str] -> list[str]`, plain or async, as RAGChecker's `custom_llm_api_func` is."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from typing import Any

from ragstone.errors import UsageError
from ragstone.llm.base import Reply, Request
from ragstone.llm.batching import Batcher
from ragstone.llm.failures import LLMError, UnsupportedFormatError
from ragstone.llm.hiding import hide_secrets
from ragstone.llm.loading import load_name, version_of
from ragstone.llm.threads import run_in_thread

Function = Callable[[list[str]], Any]
_BATCH = 64
_ASYNC_AT_ONCE = 16


class FunctionLLM:
    """Prompts of requests that wait at the same time go to the function together; it replies in the same order."""

    def __init__(self, function: Function, name: str | None = None, version: str | None = None) -> None:
        self._function = function
        label = getattr(function, "__qualname__", type(function).__qualname__)
        self._name = name or f"function/{label}"
        self._version = version or version_of(function)
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
            replies = await (self._function(prompts) if self._is_async else run_in_thread(self._function, prompts))
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
    loaded = load_name(path, function, "model")
    if not callable(loaded.value):
        raise UsageError(f"{path}:{function} is no function but {type(loaded.value).__name__}")
    return FunctionLLM(loaded.value, f"function/{loaded.label}", loaded.version)
