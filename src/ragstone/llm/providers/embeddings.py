"""Vectors of texts over HTTP, as OpenAI's `/embeddings` and the servers like it offer them."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragstone.http.client import HttpClient
from ragstone.llm.base import Reply, Request
from ragstone.llm.endpoints import Endpoint
from ragstone.llm.failures import LLMBusyError
from ragstone.llm.providers.statuses import explain_status
from ragstone.llm.providers.transport import Transport


@dataclass(frozen=True, slots=True)
class Vectors(Reply):
    """A reply that holds a vector for each message instead of a text; so the wrappers of models serve it too."""

    rows: tuple[np.ndarray, ...] = ()


class OpenAIEmbeddings:
    """A model of embeddings behind an endpoint that speaks OpenAI's protocol."""

    def __init__(self, endpoint: Endpoint, client: HttpClient, timeout_s: float = 120.0) -> None:
        self._endpoint = endpoint
        self._transport = Transport(endpoint, client, timeout_s)

    def __repr__(self) -> str:
        return f"OpenAIEmbeddings({self.name!r} at {self._endpoint.shown!r})"

    @property
    def name(self) -> str:
        """The model's name with its provider."""
        return self._endpoint.name

    @property
    def signature(self) -> str:
        """The name."""
        return self._endpoint.name

    async def complete(self, request: Request) -> Vectors:
        """One vector for each message."""
        # Servers refuse a text without a character.
        body: dict[str, Any] = {"input": [message.content or " " for message in request.messages]}
        if self._endpoint.model is not None:
            body["model"] = self._endpoint.model
        started = time.perf_counter()
        reply = await self._transport.post("embeddings", body)
        if reply.status != 200:
            raise explain_status(reply, self._endpoint)
        return self._read(reply.body, len(request.messages), time.perf_counter() - started)

    async def close(self) -> None:
        """Nothing to give back: the client is the gateway's."""

    def _read(self, body: bytes, count: int, latency_s: float) -> Vectors:
        try:
            data = json.loads(body)
            found = sorted(data["data"], key=lambda item: item.get("index", 0))
            rows = tuple(np.array(item["embedding"], dtype=np.float32) for item in found)
            usage = data.get("usage") or {}
            tokens = usage.get("prompt_tokens") or usage.get("total_tokens")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise LLMBusyError(f"{self.name} sent a reply that holds no embeddings") from None
        if len(rows) != count or {row.shape for row in rows} != {(rows[0].size,)} or not rows[0].size:
            raise LLMBusyError(f"{self.name} was given {count} texts and sent {len(rows)} vectors, or uneven ones")
        if not all(np.isfinite(row).all() for row in rows):
            raise LLMBusyError(f"{self.name} sent a vector with a number that is not finite")
        used = tokens if isinstance(tokens, int) else None
        return Vectors("", self.name, input_tokens=used, output_tokens=0, latency_s=latency_s, rows=rows)
