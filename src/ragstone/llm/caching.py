"""A model that answers from the cache, and joins equal requests that are under way at the same time."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

from ragstone.llm.base import LLM, Reply, Request
from ragstone.llm.cache import Cache, make_key
from ragstone.llm.failures import UnsupportedFormatError


class Cached:
    """A model in front of which lies a cache. Replies are kept, and which formats of reply the server refuses; no other error is."""

    def __init__(self, llm: LLM, cache: Cache, address: str = "", read_only: bool = False) -> None:
        self._llm = llm
        self._cache = cache
        # The same name at another address may be another model.
        self._address = address
        # A quote must not store its guesses; it remembers them, because a real run would have the second one for free.
        self._quoted: dict[str, Reply] | None = {} if read_only else None
        self._flying: dict[str, asyncio.Future[Reply]] = {}
        self._refused: dict[str, bool] = {}

    @property
    def name(self) -> str:
        """The model's name."""
        return self._llm.name

    @property
    def signature(self) -> str:
        """The model's signature."""
        return self._llm.signature

    async def complete(self, request: Request) -> Reply:
        """The stored reply, the reply to an equal request under way, or the model's own."""
        key = self.key(request)
        while (flight := self._flying.get(key)) is not None:
            # The one who asks first may be cancelled; then the next one asks.
            await asyncio.wait([flight])
            if not flight.cancelled():
                return _as_cached(flight.result())
        started = time.perf_counter()
        stored = None if request.fresh else self._read(key)
        if stored is not None:
            return replace(stored, latency_s=time.perf_counter() - started)
        if self._refuses(request.reply_format):
            raise UnsupportedFormatError(f"{self.name} does not offer {request.reply_format}")
        return await self._ask(key, request)

    async def close(self) -> None:
        """Close the model."""
        await self._llm.close()

    def key(self, request: Request) -> str:
        """The address of a request's reply."""
        return make_key(
            {
                "kind": "chat",
                "model": self._llm.signature,
                "address": self._address,
                "messages": [[message.role, message.content, *message.documents] for message in request.messages],
                "format": request.reply_format,
                "schema": request.schema,
                "temperature": request.temperature,
                "max_tokens": request.max_tokens,
                "repeat": request.repeat,
                "logprobs": request.logprobs,
            }
        )

    async def _ask(self, key: str, request: Request) -> Reply:
        flight: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._flying[key] = flight
        try:
            reply = await self._llm.complete(request)
            await self._keep(key, reply)
        except Exception as error:
            if isinstance(error, UnsupportedFormatError):
                self._refused[request.reply_format] = True
                self._cache.write(self._format_key(request.reply_format), "refused")
            flight.set_exception(error)
            flight.exception()  # nobody need be waiting for it
            raise
        except BaseException:
            flight.cancel()
            raise
        finally:
            del self._flying[key]
        flight.set_result(reply)
        return reply

    def _refuses(self, reply_format: str) -> bool:
        """Whether the server has refused a format in an earlier run, so that a run from the cache need not ask it."""
        if reply_format not in self._refused:
            stored = None if reply_format == "text" else self._cache.read(self._format_key(reply_format))
            self._refused[reply_format] = stored == "refused"
        return self._refused[reply_format]

    def _format_key(self, reply_format: str) -> str:
        names = {"kind": "format", "model": self._llm.signature, "address": self._address, "format": reply_format}
        return make_key(names)

    async def _keep(self, key: str, reply: Reply) -> None:
        """Store a reply before it is used: what a killed run has seen is never asked again."""
        if self._quoted is not None:
            self._quoted[key] = _as_cached(reply)
        else:
            # In a thread: making a file takes longer than all the rest of a call.
            await asyncio.get_running_loop().run_in_executor(None, self._cache.write, key, _as_json(reply))

    def _read(self, key: str) -> Reply | None:
        if self._quoted is not None and (quoted := self._quoted.get(key)) is not None:
            return quoted
        return _from_json(self._cache.read(key))


def _as_cached(reply: Reply) -> Reply:
    return replace(reply, cached=True, cost_usd=0.0, attempts=0)


def _as_json(reply: Reply) -> dict[str, Any]:
    names = ("text", "model", "input_tokens", "output_tokens", "finish_reason", "logprobs", "alternatives")
    beside = {"attachments": reply.attachments} if reply.attachments else {}
    return {**{name: getattr(reply, name) for name in names}, **beside}


def _from_json(stored: Any) -> Reply | None:
    """A reply from what was stored; what does not look like one is a miss."""
    try:
        logprobs, alternatives = stored["logprobs"], stored.get("alternatives")
        reply = Reply(
            text=stored["text"],
            model=stored["model"],
            input_tokens=stored["input_tokens"],
            output_tokens=stored["output_tokens"],
            finish_reason=stored["finish_reason"],
            logprobs=None if logprobs is None else _as_pairs(logprobs),
            alternatives=None if alternatives is None else tuple(map(_as_pairs, alternatives)),
            attachments=tuple(stored.get("attachments") or ()),
        )
    except (KeyError, TypeError, ValueError):
        return None
    return _as_cached(reply) if isinstance(reply.text, str) else None


def _as_pairs(stored: Any) -> tuple[tuple[str, float], ...]:
    return tuple((token, value) for token, value in stored)
