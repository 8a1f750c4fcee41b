"""Asking for a reply of a given kind: from the strictest way that the server offers down to plain text, then once more.

A server that cannot hold its reply to a schema says so; the next plainer format is asked for, and remembered. A reply that
cannot be read is shown to the model again with what is wrong; the second one that cannot be read is an LLMReplyError.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from ragstone.llm.base import LLM, Message, Reply, ReplyFormat, Request
from ragstone.llm.failures import LLMReplyError, UnsupportedFormatError
from ragstone.llm.fencing import harmless
from ragstone.llm.reading import read_reply
from ragstone.llm.schemas import strict_schema

T = TypeVar("T", bound=BaseModel)
Check = Callable[[T], str | None]

FORMATS: tuple[ReplyFormat, ...] = ("json_schema", "json_object", "text")
# A reply that went astray can be very long; its beginning shows what is wrong.
_LONGEST_QUOTE = 4000


class StructuredLLM:
    """A model that replies with objects. It remembers which formats the server refused."""

    def __init__(self, llm: LLM) -> None:
        self.llm = llm
        self._step = 0

    async def ask(self, request: Request, kind: type[T], check: Check[T] | None = None) -> tuple[T, Reply]:
        """The reply as an object that has passed the check, and as it came, or an LLMError.

        The check says in words what is wrong.
        """
        try:
            return await self._ask_twice(request, kind, check)
        except LLMReplyError as error:
            if not error.cached:
                raise
        # What a model said in an earlier run is not held against it for ever.
        return await self._ask_twice(replace(request, fresh=True), kind, check)

    async def _ask_twice(self, request: Request, kind: type[T], check: Check[T] | None) -> tuple[T, Reply]:
        reply = await self._complete(request, kind)
        try:
            return _accept(reply, kind, check), reply
        except LLMReplyError as error:
            reply = await self._complete(_show_error(request, reply, error), kind)
        try:
            return _accept(reply, kind, check), reply
        except LLMReplyError as error:
            where = f"{request.prompt}: " if request.prompt else ""
            raise LLMReplyError(
                f"{where}the reply cannot be used, asked twice: {error}", reply.text, reply.cached
            ) from error

    async def _complete(self, request: Request, kind: type[BaseModel]) -> Reply:
        """The reply in the strictest format that the server accepts."""
        while True:
            step = self._step
            try:
                return await self.llm.complete(_in_format(request, kind, FORMATS[step]))
            except UnsupportedFormatError:
                if step + 1 == len(FORMATS):
                    raise
                # Others under way may have found out already.
                self._step = max(self._step, step + 1)


def _accept(reply: Reply, kind: type[T], check: Check[T] | None) -> T:
    value = read_reply(reply.text, kind, reply.finish_reason)
    problem = check(value) if check else None
    if problem:
        raise LLMReplyError(problem, reply.text)
    return value


def _in_format(request: Request, kind: type[BaseModel], reply_format: ReplyFormat) -> Request:
    """The request for one format; where the server does not hold to the schema, the prompt tells it."""
    schema = strict_schema(kind)
    if reply_format == "json_schema":
        return replace(request, reply_format=reply_format, schema=schema)
    words = f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{json.dumps(schema)}"
    first, *others = request.messages
    if first.role == "system":
        messages = (Message("system", f"{first.content}\n\n{words}"), *others)
    else:
        messages = (Message("system", words), *request.messages)
    return replace(request, reply_format=reply_format, messages=messages)


def _show_error(request: Request, reply: Reply, error: LLMReplyError) -> Request:
    """The same conversation with the bad reply and what is wrong with it."""
    quoted = harmless(reply.text.strip())[:_LONGEST_QUOTE] or "(nothing)"
    words = f"This reply cannot be used: {error}\nReply again, with the complete JSON object and nothing else."
    return replace(request, messages=(*request.messages, Message("assistant", quoted), Message("user", words)))
