"""Helpers for your own tests: a language model with scripted replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ragstone.llm.base import Reply, Request

Scripted = str | Reply | Exception


class FakeLLM:
    """A model that replies from a script or with a function of the request. Exceptions in the script are raised.

    >>> FakeLLM(["yes", TimeoutError("late"), "no"])
    FakeLLM('fake/model', 0 requests)
    """

    def __init__(self, replies: Iterable[Scripted] | Callable[[Request], Scripted], name: str = "fake/model") -> None:
        self._answer = replies if callable(replies) else self._reply_from(iter(replies))
        self._name = name
        # All requests, in order.
        self.requests: list[Request] = []
        self.closed = False

    def __repr__(self) -> str:
        return f"FakeLLM({self._name!r}, {len(self.requests)} requests)"

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._name

    @property
    def signature(self) -> str:
        """The name."""
        return self._name

    async def complete(self, request: Request) -> Reply:
        """The next reply of the script."""
        self.requests.append(request)
        answer = self._answer(request)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(answer, self._name)

    async def close(self) -> None:
        """Record that the model was closed."""
        self.closed = True

    def _reply_from(self, script: Iterator[Scripted]) -> Callable[[Request], Scripted]:
        def answer(request: Request) -> Scripted:
            for reply in script:
                return reply
            raise AssertionError(f"{self!r} has no further reply for: {request.messages[-1].content[:200]}")

        return answer
