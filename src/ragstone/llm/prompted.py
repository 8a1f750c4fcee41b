"""Structured replies: ask a model with a prompt and get a pydantic object back.

The strictest reply format is requested first. If the server does not support it, the next one is used from then on. If a
reply cannot be parsed, the model gets the reply back with the error; a second failure raises LLMReplyError.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

from ragstone.errors import DefinitionError
from ragstone.llm.base import (
    LLM,
    LLMReplyError,
    Message,
    Reply,
    ReplyFormat,
    Request,
    UnsupportedFormatError,
    estimate_tokens,
)
from ragstone.llm.prompts import Prompt, PromptBook
from ragstone.llm.prompts.fence import Data, harmless
from ragstone.llm.reply_parser import read_reply

T = TypeVar("T", bound=BaseModel)
Check = Callable[[T], str | None]

FORMATS: tuple[ReplyFormat, ...] = ("json_schema", "json_object", "text")
# A bad reply can be very long; its beginning shows the error.
_LONGEST_QUOTE = 4000


class StructuredLLM:
    """A model that returns objects. Remembers which formats the server does not support."""

    def __init__(self, llm: LLM) -> None:
        self.llm = llm
        self._step = 0

    async def ask(self, request: Request, kind: type[T], check: Check[T] | None = None) -> tuple[T, Reply]:
        """Return the reply as an object and as it was received, or raise an LLMError.

        `check` returns an error message, or None if the object is valid.
        """
        try:
            return await self._ask_twice(request, kind, check)
        except LLMReplyError as error:
            if not error.cached:
                raise
        # A bad reply from the cache does not count; the model is asked again.
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
            prompt = f"{request.prompt}: " if request.prompt else ""
            message = f"{prompt}the reply cannot be used, asked twice: {error}"
            raise LLMReplyError(message, reply.text, reply.cached) from error

    async def _complete(self, request: Request, kind: type[BaseModel]) -> Reply:
        """Return the reply in the strictest format that the server supports."""
        while True:
            step = self._step
            try:
                return await self.llm.complete(_in_format(request, kind, FORMATS[step]))
            except UnsupportedFormatError:
                if step + 1 == len(FORMATS):
                    raise
                # A concurrent request may already have lowered the format.
                self._step = max(self._step, step + 1)


def _accept(reply: Reply, kind: type[T], check: Check[T] | None) -> T:
    value = read_reply(reply.text, kind, reply.finish_reason)
    problem = check(value) if check else None
    if problem:
        raise LLMReplyError(problem, reply.text)
    return value


def _in_format(request: Request, kind: type[BaseModel], reply_format: ReplyFormat) -> Request:
    """Return the request for one format. If the server does not enforce the schema, the prompt contains it."""
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
    """Return the conversation extended by the bad reply and its error."""
    quoted = harmless(reply.text.strip())[:_LONGEST_QUOTE] or "(nothing)"
    words = f"This reply cannot be used: {error}\nReply again, with the complete JSON object and nothing else."
    return replace(request, messages=(*request.messages, Message("assistant", quoted), Message("user", words)))


# Repeats measure the stability of verdicts; at temperature 0 they would all be equal.
REPEAT_TEMPERATURE = 0.7
# Limits endless replies, with room for models that reason before they answer.
LONGEST_REPLY = 4096
_GUESS_MARGIN = 8


class Judge:
    """Asks a model for claims, verdicts and other structured replies."""

    def __init__(self, llm: LLM, prompts: PromptBook, temperature: float = 0.0) -> None:
        self.llm = llm
        self.prompts = prompts
        self.temperature = temperature
        # Identifies the judge in the signature of a score; the hashes of prompts are added by `prompt_hash`.
        self.signature = f"{llm.signature},temperature={temperature:g}"
        self._structured = StructuredLLM(llm)

    def prompt_hash(self, name: str) -> str:
        """Return the hash of a prompt's content."""
        return self.prompts.get(name).hash

    async def ask(
        self,
        prompt: str | Prompt,
        kind: type[T],
        data: Data,
        guess: T,
        check: Callable[[T], str | None] | None = None,
        repeat: int = 0,
    ) -> T:
        """Return the model's reply to a prompt with this data, or raise an LLMError.

        `check` returns an error message, or None if the reply is valid; after an error the model is asked once more. `guess` is
        a plausible reply, whose tokens a quote counts. Repeats after the first use a temperature above 0.
        """
        value, _ = await self.ask_whole(prompt, kind, data, guess, check, repeat)
        return value

    async def ask_whole(
        self,
        prompt: str | Prompt,
        kind: type[T],
        data: Data,
        guess: T,
        check: Callable[[T], str | None] | None = None,
        repeat: int = 0,
        *,
        logprobs: bool = False,
    ) -> tuple[T, Reply]:
        """Like `ask`, and also return the raw reply with its log-probabilities."""
        page = self.prompts.get(prompt) if isinstance(prompt, str) else prompt
        guess_text = guess.model_dump_json()
        request = Request(
            messages=page.render(data),
            prompt=page.name,
            prompt_hash=page.hash,
            max_tokens=max(LONGEST_REPLY, _GUESS_MARGIN * estimate_tokens(guess_text)),
            temperature=self.temperature or (REPEAT_TEMPERATURE if repeat else 0.0),
            repeat=repeat,
            logprobs=logprobs,
            guess=guess_text,
        )
        return await self._structured.ask(request, kind, check)


@cache
def strict_schema(kind: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema with all keys required, no other keys, and no $ref, which small servers do not support."""
    schema = kind.model_json_schema()
    plain: dict[str, Any] = _inline(schema, schema.get("$defs", {}), ())
    return {"title": kind.__name__, **plain}


def _inline(node: Any, parts: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inline(item, parts, inside) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name in inside:
            raise DefinitionError(f"a reply type cannot contain itself: {name} refers to {name}.")
        return _inline(parts[name], parts, (*inside, name))
    plain = {
        # Names under `properties` are fields; a field may be called `title`.
        key: {name: _inline(value, parts, inside) for name, value in entry.items()}
        if key == "properties"
        else _inline(entry, parts, inside)
        for key, entry in node.items()
        if key not in ("$defs", "title", "description", "default")
    }
    if plain.get("type") == "object":
        plain |= {"required": list(plain.get("properties", {})), "additionalProperties": False}
    return plain
