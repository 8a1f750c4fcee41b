"""Probabilities of given texts over HTTP: `/completions` that repeats the prompt with its log-probabilities, as vLLM does."""

from __future__ import annotations

import json
import math
import time
from typing import Any

from ragstone.http.client import HttpClient
from ragstone.llm.base import Reply, Request
from ragstone.llm.endpoints import Endpoint
from ragstone.llm.failures import LLMAccessError, LLMBusyError
from ragstone.llm.providers.statuses import explain_status
from ragstone.llm.providers.transport import Transport


class OpenAICompletions:
    """A model that says how likely a text is. The request's first message stands before the text, the second is the text."""

    def __init__(self, endpoint: Endpoint, client: HttpClient, timeout_s: float = 120.0) -> None:
        self._endpoint = endpoint
        self._transport = Transport(endpoint, client, timeout_s)

    def __repr__(self) -> str:
        return f"OpenAICompletions({self.name!r} at {self._endpoint.shown!r})"

    @property
    def name(self) -> str:
        """The model's name with its provider."""
        return self._endpoint.name

    @property
    def signature(self) -> str:
        """The name."""
        return self._endpoint.name

    async def complete(self, request: Request) -> Reply:
        """A reply without words whose log-probabilities are those of the text's tokens."""
        before, text = (message.content for message in request.messages)
        # One token more than is needed: some servers refuse to make none.
        body: dict[str, Any] = {"prompt": before + text, "max_tokens": 1, "temperature": 0, "echo": True, "logprobs": 1}
        if self._endpoint.model is not None:
            body["model"] = self._endpoint.model
        started = time.perf_counter()
        reply = await self._transport.post("completions", body)
        if reply.status != 200:
            raise explain_status(reply, self._endpoint, request)
        return self._read(reply.body, before, text, time.perf_counter() - started)

    async def close(self) -> None:
        """Nothing to give back: the client is the gateway's."""

    def _read(self, body: bytes, before: str, text: str, latency_s: float) -> Reply:
        try:
            data = json.loads(body)
            choice = data["choices"][0]
            said, found = str(choice["text"]), choice.get("logprobs") or {}
            usage = (data.get("usage") or {}).get("prompt_tokens")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            raise LLMBusyError(f"{self.name} sent a reply that is no completion") from None
        if not said.startswith(before + text) or not found.get("token_logprobs"):
            raise LLMAccessError(
                f"{self.name} does not tell the probabilities of a given text: its /completions knows no `echo` with "
                "`logprobs`, as vLLM's does. Without it: --scorer local"
            )
        logprobs = self._of_text(found, len(before), len(before + text))
        tokens = usage if isinstance(usage, int) else None
        return Reply("", self.name, input_tokens=tokens, output_tokens=1, logprobs=logprobs, latency_s=latency_s)

    def _of_text(self, found: dict[str, Any], start: int, stop: int) -> tuple[tuple[str, float], ...]:
        """The tokens of the text; one across its beginning counts, the very first of all has no probability."""
        try:
            tokens, values = [str(token) for token in found["tokens"]], found["token_logprobs"]
            begins = found.get("text_offset") or [sum(map(len, tokens[:place])) for place in range(len(tokens))]
            ends = [*begins[1:], begins[-1] + len(tokens[-1])]
            chosen = [
                (token, value)
                for token, value, begin, end in zip(tokens, values, begins, ends, strict=True)
                if end > start and begin < stop and (begin or value is not None)
            ]
            told = tuple((token, float(value)) for token, value in chosen)
        except (KeyError, IndexError, TypeError, ValueError):
            raise LLMBusyError(f"{self.name} sent log-probabilities that cannot be read") from None
        if not all(math.isfinite(value) for _, value in told):
            raise LLMBusyError(f"{self.name} sent a log-probability that is not finite")
        return told
