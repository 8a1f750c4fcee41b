"""Embeddings and token probabilities over HTTP: `/embeddings`, and `/completions` with `echo` and `logprobs`."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.data.codec import load_json
from ragstone.llm.base import LLMAccessError, LLMBusyError, Reply, Request, read_logprobs
from ragstone.llm.providers.openai import OpenAIEndpoint, explain_status


@dataclass(frozen=True, slots=True)
class Vectors(Reply):
    """A reply with one vector per message instead of a text, so that the wrappers of models work for it too."""

    rows: tuple[np.ndarray, ...] = ()


class OpenAIEmbeddings(OpenAIEndpoint):
    """An embedding model."""

    async def complete(self, request: Request) -> Vectors:
        """Return one vector per message."""
        # Servers refuse an empty text.
        body: dict[str, Any] = {"input": [message.content or " " for message in request.messages]}
        started = time.perf_counter()
        reply = await self._post("embeddings", body)
        if reply.status != 200:
            raise explain_status(reply, self._endpoint)
        return self._read(reply.body, len(request.messages), time.perf_counter() - started)

    def _read(self, body: bytes, count: int, latency_s: float) -> Vectors:
        try:
            data = load_json(body)
            items = sorted(data["data"], key=lambda item: item.get("index", 0))
            with np.errstate(over="ignore"):
                rows = tuple(np.array(item["embedding"], dtype=np.float32) for item in items)
            usage = data.get("usage") or {}
            tokens = usage.get("prompt_tokens") or usage.get("total_tokens")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            raise LLMBusyError(f"{self.name} sent a reply without embeddings") from None
        if len(rows) != count or {row.shape for row in rows} != {(rows[0].size,)} or not rows[0].size:
            raise LLMBusyError(
                f"{self.name} got {count} texts and sent {len(rows)} vectors, or vectors of different lengths"
            )
        if not all(np.isfinite(row).all() for row in rows):
            raise LLMBusyError(f"{self.name} sent a vector with a number that is not finite")
        return Vectors("", self.name, input_tokens=tokens, output_tokens=0, latency_s=latency_s, rows=rows)


class OpenAICompletions(OpenAIEndpoint):
    """A model of token probabilities. The first message precedes the text, the second is the text."""

    async def complete(self, request: Request) -> Reply:
        """Return an empty reply with the log-probabilities of the text's tokens."""
        before, text = (message.content for message in request.messages)
        # Some servers refuse max_tokens=0.
        body: dict[str, Any] = {"prompt": before + text, "max_tokens": 1, "temperature": 0, "echo": True, "logprobs": 1}
        started = time.perf_counter()
        reply = await self._post("completions", body)
        if reply.status != 200:
            raise explain_status(reply, self._endpoint, request)
        return self._read(reply.body, before, text, time.perf_counter() - started)

    def _read(self, body: bytes, before: str, text: str, latency_s: float) -> Reply:
        try:
            data = load_json(body)
            choice = data["choices"][0]
            echo, logprobs = str(choice["text"]), choice.get("logprobs") or {}
            usage = (data.get("usage") or {}).get("prompt_tokens")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            raise LLMBusyError(f"{self.name} sent a reply that is not a completion") from None
        if not echo.startswith(before + text) or not logprobs.get("token_logprobs"):
            raise LLMAccessError(
                f"{self.name} does not return the probabilities of a given text: its /completions does not support "
                "`echo` with `logprobs`. vLLM does; otherwise use --scorer local"
            )
        values = self._of_text(logprobs, len(before), len(before + text))
        return Reply("", self.name, input_tokens=usage, output_tokens=1, logprobs=values, latency_s=latency_s)

    def _of_text(self, logprobs: dict[str, Any], start: int, stop: int) -> tuple[tuple[str, float], ...]:
        """Select the tokens of the text. A token across its start counts; the very first token has no probability."""
        try:
            tokens, values = [str(token) for token in logprobs["tokens"]], logprobs["token_logprobs"]
            begins = logprobs.get("text_offset") or [sum(map(len, tokens[:index])) for index in range(len(tokens))]
            ends = [*begins[1:], begins[-1] + len(tokens[-1])]
            chosen = [
                (token, value)
                for token, value, begin, end in zip(tokens, values, begins, ends, strict=True)
                if end > start and begin < stop and (begin or value is not None)
            ]
            return read_logprobs(chosen)
        except (KeyError, IndexError, TypeError, ValueError):
            raise LLMBusyError(f"{self.name} sent log-probabilities that cannot be read") from None
