"""A user's system as a Python callable: a question in, whatever `read_answer` understands out."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Callable
from typing import Any

from ragstone.llm.answers import read_answer, write_answer
from ragstone.llm.base import Reply, Request
from ragstone.llm.failures import LLMError
from ragstone.llm.hiding import hide_secrets
from ragstone.llm.threads import run_in_thread

_LONGEST_WORDS = 200
_CONTEXTS = ("contexts", "context", "passages", "chunks")


class CallableSystem:
    """A function that is asked one question at a time; plain ones run in threads, async ones in the loop."""

    def __init__(self, function: Callable[..., Any], name: str, version: str, timeout_s: float) -> None:
        self._function = function
        self._name = name
        self._version = version
        self._timeout_s = timeout_s
        self._contexts = _contexts_parameter(function)
        self._documents = "documents" in _parameters(function)
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004  (an object with an async __call__)
        )

    @property
    def name(self) -> str:
        """The function's name."""
        return self._name

    @property
    def signature(self) -> str:
        """The name with a hash of the code: another text of the function is another system."""
        return f"{self._name}#{self._version}"

    @property
    def takes_contexts(self) -> bool:
        """Whether there is a parameter for passages."""
        return self._contexts is not None

    async def complete(self, request: Request) -> Reply:
        """The answer to one question, as JSON."""
        asked = json.loads(request.messages[-1].content)
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout_s) as limit:
                found = await self._call(asked)
        except TimeoutError as error:
            if not limit.expired():
                raise LLMError(explain(self._name, error)) from error
            raise LLMError(f"{self._name} gave no answer in {self._timeout_s:g} s") from None
        except (Exception, SystemExit) as error:
            raise LLMError(explain(self._name, error)) from error
        answer = read_answer(found, self._name)
        cost = answer.metadata.get("cost_usd")
        return Reply(
            write_answer(answer),
            self._name,
            cost_usd=float(cost) if isinstance(cost, int | float) else None,
            latency_s=time.perf_counter() - started,
        )

    async def close(self) -> None:
        """Nothing to close."""

    async def _call(self, asked: dict[str, Any]) -> Any:
        named: dict[str, Any] = {}
        if self._contexts is not None and asked["contexts"] is not None:
            named[self._contexts] = [chunk["text"] for chunk in asked["contexts"]]
        if self._documents:
            named["documents"] = asked["documents"]
        if self._is_async:
            return await self._function(asked["question"], **named)
        found = await run_in_thread(self._function, asked["question"], **named)
        # A lambda around an async function, or a partial of one.
        return await found if inspect.isawaitable(found) else found


def explain(name: str, error: BaseException) -> str:
    """What a user's own code raised, on one line and without keys."""
    words = hide_secrets(" ".join(str(error).split()))[:_LONGEST_WORDS]
    return f"{name} raised {type(error).__name__}{f': {words}' if words else ''}"


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def _contexts_parameter(function: Callable[..., Any]) -> str | None:
    """The parameter for passages: one of that name, or the second one that must be given."""
    parameters = _parameters(function)
    named = next((name for name in _CONTEXTS if name in parameters), None)
    if named is not None:
        return named
    must = [
        name
        for name, item in parameters.items()
        if item.default is item.empty and item.kind is item.POSITIONAL_OR_KEYWORD
    ]
    return must[1] if len(must) > 1 and must[1] != "documents" else None
