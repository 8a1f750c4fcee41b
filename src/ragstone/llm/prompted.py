"""Structured replies: ask a model with a prompt and get a pydantic object back.

The strictest reply format is requested first. If the server does not support it, the next one is used from then on. A reply
may have a few times the tokens of the guess; one that is cut off before its JSON begins is asked for with more room, because
the model reasons first.

A reply that cannot be used is not asked for again unchanged. The caller asks in smaller pieces (`ask_in_pieces`). What
cannot be divided is asked once more: with the error, or, where the reply is text that is taken from the data, with another
seed, because such a prompt would take the words of the error for data. A second failure raises LLMReplyError.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

from ragstone.errors import DefinitionError
from ragstone.llm.base import (
    LLM,
    LLMBusyError,
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
from ragstone.llm.reply_parser import drop_thoughts, read_reply, repeats_itself
from ragstone.llm.vision import Vision, take_images
from ragstone.llm.wrappers import record_rejection

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")
Check = Callable[[T], str | None]
# Schema keywords by the path of the field: {"verdicts": {"minItems": 2}, "verdicts.claim": {"enum": [1, 2]}}.
Bounds = Mapping[str, Mapping[str, Any]]

FORMATS: tuple[ReplyFormat, ...] = ("json_schema", "plain_schema", "json_object", "text")
# A bad reply can be very long; its beginning shows the error.
_LONGEST_QUOTE = 4000
# Repeats measure the stability of verdicts; at temperature 0 they would all be equal.
REPEAT_TEMPERATURE = 0.7
# The room for models that reason before they answer.
LONGEST_REPLY = 4096
# Tokens of a reply: some, and a few times those of the guess.
_LEAST_REPLY, _GUESS_MARGIN = 64, 4
# Bounds of lists and texts that the caller does not bound: a few times what is guessed.
# Texts have more room: a grammar that ends a text in its middle leaves no trace.
_LEAST_ITEMS, _LEAST_LENGTH, _MOST_LENGTH = 8, 800, 1600
# Part of the cache key of a request that names an error; a new number asks again for the replies to such requests.
_REPAIR_VERSION = 1
# Added to the number of the repeat for a reply with another seed.
_OTHER_SEED, _MOST_SEEDS = 1000, 50
# How often a group is halved, so that a hopeless model is not asked about every item.
_HALVINGS = 2
# Prompts whose replies are texts that are taken from the data.
_TAKE_TEXT = frozenset(
    [
        *("claims", "triplets", "claims_and_entities", "citations", "questions", "new_question"),
        *("standalone_question", "own_reference", "answer_from_passages", "answer_from_memory", "new_nuggets"),
    ]
)


class StructuredLLM:
    """A model that returns objects. Remembers which formats the server does not support, and whether the model reasons."""

    def __init__(self, llm: LLM) -> None:
        self.llm = llm
        self._step = 0
        self._reasons = False

    async def ask(
        self, request: Request, kind: type[T], check: Check[T] | None = None, repair: bool = True
    ) -> tuple[T, Reply]:
        """Return the reply as an object and as it was received, or raise an LLMError.

        `check` returns an error message, or None if the object is valid. With `repair`, a bad reply is asked for again.
        """
        try:
            return await self._ask_once(request, kind, check)
        except LLMReplyError as error:
            if not repair:
                raise _rejected(request, error, "") from error
            changed = _change(request, error)
        for seed in range(2, _MOST_SEEDS):
            try:
                return await self._ask_once(changed, kind, check)
            except LLMReplyError as error:
                # What failed in an earlier run is not asked again unchanged, but it is not lost either.
                if not error.cached:
                    raise _rejected(request, error, ", asked twice") from error
                changed = _with_seed(request, seed)
        raise LLMReplyError(
            f"{request.prompt}: {_MOST_SEEDS} cached replies cannot be used. Clear the cache to ask again"
        )

    async def _ask_once(self, request: Request, kind: type[T], check: Check[T] | None) -> tuple[T, Reply]:
        if self._reasons:
            request = _with_room(request)
        reply = await self._complete(request, kind)
        if reply.finish_reason == "length" and _has_room(request, reply):
            self._reasons = True
            record_rejection(reply, "cut off before the reply began")
            reply = await self._complete(_with_room(request), kind)
        try:
            return _accept(reply, kind, check), reply
        except LLMReplyError as error:
            record_rejection(reply, str(error))
            raise

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


async def ask_in_pieces(
    items: Sequence[Any], ask: Callable[[Sequence[Any], bool], Awaitable[list[R]]], halvings: int = _HALVINGS
) -> list[R]:
    """Ask about all items at once; after a reply that cannot be used, or a timeout, about each half.

    `ask` gets the items and whether to repair a bad reply, which is true if they are not divided further.
    """
    is_last = len(items) < 2 or halvings == 0
    try:
        return await ask(items, is_last)
    except (LLMReplyError, LLMBusyError) as error:
        if is_last or (isinstance(error, LLMBusyError) and not error.timed_out):
            raise
    middle = (len(items) + 1) // 2
    # One after the other: if the first half fails too, the second is not asked about.
    first = await ask_in_pieces(items[:middle], ask, halvings - 1)
    return [*first, *await ask_in_pieces(items[middle:], ask, halvings - 1)]


def _accept(reply: Reply, kind: type[T], check: Check[T] | None) -> T:
    try:
        value = read_reply(reply.text, kind, reply.finish_reason)
    except LLMReplyError as error:
        raise LLMReplyError(str(error), reply.text, reply.cached) from error
    problem = check(value) if check else None
    if problem:
        raise LLMReplyError(problem, reply.text, reply.cached)
    return value


def _rejected(request: Request, error: LLMReplyError, how_often: str) -> LLMReplyError:
    prompt = f"{request.prompt}: " if request.prompt else ""
    return LLMReplyError(f"{prompt}the reply cannot be used{how_often}: {error}", error.raw, error.cached)


def _has_room(request: Request, reply: Reply) -> bool:
    """Return whether more tokens may help: the reply was cut off before its JSON, and not because it repeats itself."""
    text = drop_thoughts(reply.text)[0]
    return (request.max_tokens or LONGEST_REPLY) < LONGEST_REPLY and "{" not in text and not repeats_itself(reply.text)


def _with_room(request: Request) -> Request:
    return replace(request, max_tokens=max(LONGEST_REPLY, request.max_tokens or 0))


def _in_format(request: Request, kind: type[BaseModel], reply_format: ReplyFormat) -> Request:
    """Return the request for one format. If the server does not enforce the schema, the prompt contains it.

    The schema in the prompt has no bounds, so that the instructions are equal for all data.
    """
    if reply_format == "json_schema":
        return replace(request, reply_format=reply_format, schema=request.schema or strict_schema(kind))
    schema = strict_schema(kind)
    if reply_format == "plain_schema":
        return replace(request, reply_format=reply_format, schema=schema)
    words = f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{json.dumps(schema)}"
    first, *others = request.messages
    if first.role == "system":
        messages = (Message("system", f"{first.content}\n\n{words}"), *others)
    else:
        messages = (Message("system", words), *request.messages)
    return replace(request, reply_format=reply_format, messages=messages, schema=None)


def _change(request: Request, error: LLMReplyError) -> Request:
    """Return a request that may get a better reply: with the error or another seed, and with more tokens."""
    if request.prompt in _TAKE_TEXT:
        return _with_seed(request, 1)
    quoted = harmless(error.raw.strip())[:_LONGEST_QUOTE] or "(nothing)"
    words = f"This reply cannot be used: {error}\nReply again, with the complete JSON object and nothing else."
    messages = (*request.messages, Message("assistant", quoted), Message("user", words))
    more = 2 * (request.max_tokens or LONGEST_REPLY)
    return replace(request, messages=messages, max_tokens=more, repair=_REPAIR_VERSION)


def _with_seed(request: Request, seed: int) -> Request:
    heat, most = request.temperature or REPEAT_TEMPERATURE, 2 * (request.max_tokens or LONGEST_REPLY)
    return replace(request, repeat=request.repeat + seed * _OTHER_SEED, temperature=heat, max_tokens=most)


class Judge:
    """Asks a model for claims, verdicts and other structured replies."""

    def __init__(
        self, llm: LLM, prompts: PromptBook, temperature: float = 0.0, vision: Vision | None = None, note: str = ""
    ) -> None:
        """`vision` is for models that see images. `note` becomes a part of the signature."""
        self.llm, self.prompts, self.vision = llm, prompts, vision
        self.temperature = temperature
        # Identifies the judge in the signature of a score; the hashes of prompts are added by `prompt_hash`.
        self.signature = f"{llm.signature},temperature={temperature:g}{note}"
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
        *,
        bounds: Bounds | None = None,
        repair: bool = True,
    ) -> T:
        """Return the model's reply to a prompt with this data, or raise an LLMError.

        `check` returns an error message, or None if the reply is valid; with `repair`, the model is then asked once more.
        `guess` is a plausible reply: a quote counts its tokens, and lists, texts and the number of tokens are limited to a few
        times its own. `bounds` are exact limits. Repeats after the first use a temperature above 0.
        """
        value, _ = await self.ask_whole(prompt, kind, data, guess, check, repeat, bounds=bounds, repair=repair)
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
        bounds: Bounds | None = None,
        repair: bool = True,
        logprobs: bool = False,
    ) -> tuple[T, Reply]:
        """Like `ask`, and also return the raw reply with its log-probabilities."""
        page = self.prompts.get(prompt) if isinstance(prompt, str) else prompt
        guess_text = guess.model_dump_json()
        data, images = take_images(data, self.vision) if self.vision else (data, ())
        *constant, last = page.render(data)
        request = Request(
            messages=(*constant, replace(last, images=images)),
            prompt=page.name,
            prompt_hash=page.hash,
            schema=bounded_schema(kind, guess.model_dump(), bounds or {}),
            max_tokens=_LEAST_REPLY + _GUESS_MARGIN * estimate_tokens(guess_text),
            retry_late=False,
            temperature=self.temperature or (REPEAT_TEMPERATURE if repeat else 0.0),
            repeat=repeat,
            logprobs=logprobs,
            guess=guess_text,
        )
        return await self._structured.ask(request, kind, check, repair)


class Asker:
    """A part that asks a judge with its own prompts."""

    asks: tuple[str, ...] = ()

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def signature(self) -> str:
        """The model."""
        return self._judge.signature

    @property
    def prompts(self) -> dict[str, str]:
        """The hashes of the prompts."""
        return {name: self._judge.prompt_hash(name) for name in self.asks}


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


def bounded_schema(kind: type[BaseModel], guess: Mapping[str, Any], bounds: Bounds) -> dict[str, Any]:
    """Return the schema with bounds, so that a reply can neither run away nor name what was not shown."""
    schema = copy.deepcopy(strict_schema(kind))
    _limit(schema, guess)
    for path, limits in bounds.items():
        node = schema
        for name in path.split("."):
            node = node.get("items", node)["properties"][name]
        _merge(node, limits)
    return schema


def _limit(node: dict[str, Any], guess: Any) -> None:
    """Limit lists and texts to a few times what is guessed."""
    if node.get("type") == "object":
        for name, part in node["properties"].items():
            _limit(part, guess.get(name) if isinstance(guess, Mapping) else None)
    elif node.get("type") == "array":
        items = guess if isinstance(guess, list) else []
        node["maxItems"] = max(_LEAST_ITEMS, _GUESS_MARGIN * len(items))
        _limit(node["items"], max(items, key=lambda item: len(str(item)), default=None))
    elif node.get("type") == "string" and "enum" not in node:
        length = max(_LEAST_LENGTH, _GUESS_MARGIN * len(str(guess or "")))
        # Grammars of long texts are slow; the limit of tokens is enough for them.
        if length <= _MOST_LENGTH:
            node["maxLength"] = length


def _merge(node: dict[str, Any], limits: Mapping[str, Any]) -> None:
    for key, value in limits.items():
        if isinstance(value, Mapping):
            _merge(node.setdefault(key, {}), value)
        else:
            node[key] = value
    if "enum" in node:
        node.pop("maxLength", None)
