"""A user's Python code as a model or a system.

`FunctionLLM` wraps `list[str] -> list[str]`, like RAGChecker's `custom_llm_api_func`. `CallableSystem` wraps a function that
answers questions. LangChain runnables and LlamaIndex query engines are recognised by their methods; neither is imported.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragstone.errors import UnknownNameError, UsageError
from ragstone.llm.answers import read_answer, reply_with
from ragstone.llm.base import LLMError, Reply, Request, UnsupportedFormatError
from ragstone.llm.concurrency import run_in_thread
from ragstone.llm.embeddings import Batcher
from ragstone.llm.endpoints import hide_secrets
from ragstone.llm.user_code import load_name, version_of

_BATCH = 64
_ASYNC_AT_ONCE = 16


class FunctionLLM:
    """Calls the function with all prompts that wait at the same time. The signature has a hash of the code."""

    def __init__(
        self, function: Callable[[list[str]], Any], name: str | None = None, version: str | None = None
    ) -> None:
        self._function = function
        label = getattr(function, "__qualname__", type(function).__qualname__)
        self.name = name or f"function/{label}"
        self.signature = f"{self.name}#{version or version_of(function)}"
        self._is_async = is_async(function)
        # A plain function gets one batch at a time, because few functions are thread-safe.
        self._batcher: Batcher[str, str] = Batcher(self._ask, _BATCH, _ASYNC_AT_ONCE if self._is_async else 1)

    async def complete(self, request: Request) -> Reply:
        """Return the function's text for one prompt."""
        if request.reply_format != "text":
            error = UnsupportedFormatError(f"{self.name} supports plain text only")
            error.attempts = 0
            raise error
        started = time.perf_counter()
        text = await self._batcher.submit(_flatten(request))
        return Reply(text=text, model=self.name, latency_s=time.perf_counter() - started)

    async def close(self) -> None:
        """Do nothing."""

    async def _ask(self, prompts: list[str]) -> Sequence[str]:
        try:
            replies = await (self._function(prompts) if self._is_async else run_in_thread(self._function, prompts))
        except Exception as error:
            raise LLMError(describe_error(self.name, error)) from error
        return self._check(replies, len(prompts))

    def _check(self, replies: Any, count: int) -> Sequence[str]:
        if not isinstance(replies, Sequence) or isinstance(replies, str | bytes):
            raise LLMError(f"{self.name} must return a list of texts, one per prompt, not {type(replies).__name__}")
        if len(replies) != count:
            raise LLMError(f"{self.name} got {count} prompts and returned {len(replies)} replies")
        for reply in replies:
            if not isinstance(reply, str):
                raise LLMError(f"{self.name} must return texts, not {type(reply).__name__}")
        return replies


def _flatten(request: Request) -> str:
    """Join a conversation into one text. Turns are labelled only if there are several."""
    instructions = [message.content for message in request.messages if message.role == "system"]
    turns = [message for message in request.messages if message.role != "system"]
    if len(turns) == 1:
        return "\n\n".join((*instructions, turns[0].content))
    labelled = [f"{turn.role.capitalize()}: {turn.content}" for turn in turns]
    return "\n\n".join((*instructions, *labelled, "Assistant:"))


def load_function(path: str, function: str) -> FunctionLLM:
    """Load a function from a Python file."""
    loaded = load_name(path, function, "model")
    if not callable(loaded.value):
        raise UsageError(f"{path}:{function} is not a function but {type(loaded.value).__name__}")
    return FunctionLLM(loaded.value, f"function/{loaded.label}", loaded.version)


_MAX_MESSAGE = 200
_CONTEXTS = ("contexts", "context", "passages", "chunks")


class CallableSystem:
    """Calls a function with one question at a time; plain functions run in threads."""

    def __init__(self, function: Callable[..., Any], name: str, version: str, timeout_s: float) -> None:
        self._function = function
        self.name, self.signature = name, f"{name}#{version}"
        self._timeout_s = timeout_s
        self._contexts = _contexts_parameter(function)
        self.takes_contexts = self._contexts is not None
        self._documents = "documents" in _parameters(function)
        self._history = "history" in _parameters(function)
        self._is_async = is_async(function)

    async def complete(self, request: Request) -> Reply:
        """Return the answer to one question, as JSON."""
        asked = json.loads(request.messages[-1].content)
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout_s) as limit:
                value = await self._call(asked)
        except TimeoutError as error:
            if not limit.expired():
                raise LLMError(describe_error(self.name, error)) from error
            raise LLMError(f"{self.name} sent no answer within {self._timeout_s:g} s") from None
        except (Exception, SystemExit) as error:
            raise LLMError(describe_error(self.name, error)) from error
        return reply_with(read_answer(value, self.name), self.name, started)

    async def close(self) -> None:
        """Do nothing."""

    async def _call(self, asked: dict[str, Any]) -> Any:
        named: dict[str, Any] = {}
        if self._contexts is not None and asked["contexts"] is not None:
            named[self._contexts] = [chunk["text"] for chunk in asked["contexts"]]
        if self._documents:
            named["documents"] = asked["documents"]
        if self._history:
            named["history"] = asked.get("history", [])
        if self._is_async:
            return await self._function(asked["question"], **named)
        value = await run_in_thread(self._function, asked["question"], **named)
        # The function may be a lambda or partial that wraps an async function.
        return await value if inspect.isawaitable(value) else value


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a call of the function must be awaited."""
    call = getattr(function, "__call__", None)  # noqa: B004  (an object with an async __call__)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def describe_error(name: str, error: BaseException) -> str:
    """Describe an error of the user's code on one line, without keys."""
    try:
        words = hide_secrets(" ".join(str(error).split()))[:_MAX_MESSAGE]
    except Exception:  # noqa: BLE001  (an exception that cannot be printed has only its name)
        words = ""
    return f"{name} raised {type(error).__name__}{f': {words}' if words else ''}"


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def _contexts_parameter(function: Callable[..., Any]) -> str | None:
    """Return the parameter for passages: one with a known name, or the second required one."""
    parameters = _parameters(function)
    named = next((name for name in _CONTEXTS if name in parameters), None)
    if named is not None:
        return named
    required = [
        name
        for name, item in parameters.items()
        if item.default is item.empty and item.kind is item.POSITIONAL_OR_KEYWORD
    ]
    return required[1] if len(required) > 1 and required[1] not in ("documents", "history") else None


_HANDED_OVER = ("question", "documents", "history", *_CONTEXTS)


def bind_parameters(function: Callable[..., Any], parameters: Mapping[str, Any], name: str) -> Callable[..., Any]:
    """The function with these keyword arguments. Raises if it has no parameter of that name."""
    known = _parameters(function)
    takes_any = any(item.kind is item.VAR_KEYWORD for item in known.values())
    named = [key for key, item in known.items() if item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)][
        0 if takes_any else 1 :
    ]
    for parameter in parameters:
        if parameter in _HANDED_OVER:
            raise UsageError(f"'{parameter}' cannot be a parameter of a setting: it is passed with every question")
        if parameter not in named and not takes_any:
            raise UnknownNameError(f"parameter of {name}:", parameter, named, f"It has: {', '.join(named) or 'none'}.")
    return functools.partial(function, **parameters)


_QUESTION = ("question", "input", "query")
_CHAIN_CONTEXTS = ("contexts", "context", "passages")


def as_function(value: Any) -> Callable[..., Any] | None:
    """Convert a chain to a function of a question and, if it takes them, passages; None if it is not a chain.

    A chain has the methods of a runnable or of a query engine.
    """
    methods = {name: getattr(value, name, None) for name in ("ainvoke", "invoke", "aquery", "query")}
    name = next((name for name, method in methods.items() if callable(method)), None)
    if name is None:
        return None
    if name.endswith("invoke"):
        return _runnable(value)
    query: Any = methods[name]

    def ask(question: str) -> Any:
        return query(question)

    return ask


def _runnable(chain: Any) -> Callable[..., Any]:
    inputs = _inputs(chain)
    question_key = next((name for name in _QUESTION if name in inputs), None)
    contexts_key = next((name for name in _CHAIN_CONTEXTS if name in inputs), None)

    async def ask_with(question: str, contexts: list[str] | None = None) -> Any:
        value: Any = question
        if question_key is not None:
            passages = {} if contexts_key is None else {contexts_key: "\n\n".join(contexts or [])}
            value = {question_key: question, **passages}
        if callable(getattr(chain, "ainvoke", None)):
            return await chain.ainvoke(value)
        return await run_in_thread(chain.invoke, value)

    async def ask(question: str) -> Any:
        return await ask_with(question)

    return ask if contexts_key is None else ask_with


def _inputs(chain: Any) -> Mapping[str, Any]:
    """Return the input names of a runnable; empty if it takes a text."""
    describe = getattr(chain, "get_input_jsonschema", None)
    try:
        schema = describe() if callable(describe) else {}
    except Exception:  # noqa: BLE001  (runnables without a schema take a text)
        return {}
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}
