"""Texts to vectors: gathered into batches, each text kept in the cache, calls recorded like those of other models."""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ragstone.llm.base import LLM, Message, Reply, Request
from ragstone.llm.batching import Batcher
from ragstone.llm.cache import Cache, make_key
from ragstone.llm.failures import LLMAccessError, LLMError, LLMRefusedError
from ragstone.llm.providers.embeddings import Vectors
from ragstone.llm.recording import record_failure, record_reply
from ragstone.llm.side_by_side import side_by_side
from ragstone.llm.tokens import estimate_tokens

_BATCH = 64
_REQUEST = Request((), prompt="embedding")


@runtime_checkable
class Embedder(Protocol):
    """A model of embeddings."""

    @property
    def name(self) -> str:
        """The model's name as people know it."""
        ...

    @property
    def signature(self) -> str:
        """What identifies the model in the signature of a score."""
        ...

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """A row for each text."""
        ...

    async def close(self) -> None:
        """Give back what is held; called once, at the end of a run."""
        ...


class _Embedded(NamedTuple):
    """The vector of one text and its share of the call; `attempts` is 0 where no call was made."""

    row: np.ndarray
    tokens: float = 0.0
    cost_usd: float | None = 0.0
    latency_s: float = 0.0
    attempts: int = 0


class BatchedEmbedder:
    """An embedder over a model that takes many texts at once. `model` replies with Vectors, or quotes."""

    def __init__(
        self, model: LLM, cache: Cache | None, address: str = "", concurrency: int = 16, quoting: bool = False
    ) -> None:
        self._model = model
        self._cache = cache
        self._address = address
        self._quoting = quoting
        self._quoted: dict[str, _Embedded] = {}
        self._batcher: Batcher[str, _Embedded | LLMError] = Batcher(self._ask, _BATCH, concurrency)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def signature(self) -> str:
        """The model's signature."""
        return self._model.signature

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """A row for each text, as 32-bit floats."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        started = time.perf_counter()
        unique = list(dict.fromkeys(texts))
        try:
            found = dict(zip(unique, await side_by_side(map(self._embed_one, unique)), strict=True))
        except (LLMError, LLMAccessError) as error:
            record_failure(_REQUEST, self.name, error, time.perf_counter() - started)
            raise
        self._record(list(found.values()))
        return np.stack([found[text].row for text in texts])

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    async def _embed_one(self, text: str) -> _Embedded:
        key = make_key({"kind": "embedding", "model": self.signature, "address": self._address, "text": text})
        stored = self._quoted.get(key) or (_from_json(self._cache.read(key)) if self._cache else None)
        if stored is not None:
            return stored
        found = await self._batcher.submit(text)
        if isinstance(found, LLMError):
            raise found
        if self._quoting:
            self._quoted[key] = _Embedded(found.row)
        elif self._cache:
            self._cache.write(key, _as_json(found.row))
        return found

    async def _ask(self, texts: list[str]) -> list[_Embedded | LLMError]:
        """The vectors of a batch; one that is refused is asked for again text by text, to find the guilty one."""
        request = Request(tuple(Message("user", text) for text in texts), prompt="embedding")
        try:
            reply = await self._model.complete(request)
        except LLMRefusedError as error:
            if len(texts) == 1:
                return [error]
            return [result for text in texts for result in await self._ask([text])]
        except LLMError as error:
            return [error] * len(texts)
        rows = reply.rows if isinstance(reply, Vectors) else [np.ones(1, dtype=np.float32)] * len(texts)
        weights = np.array([max(1, estimate_tokens(text)) for text in texts], dtype=float)
        return [_share(reply, row, weight) for row, weight in zip(rows, weights / weights.sum(), strict=True)]

    def _record(self, found: Sequence[_Embedded]) -> None:
        asked = [one for one in found if one.attempts]
        costs = [one.cost_usd for one in asked if one.cost_usd is not None]
        reply = Reply(
            text="",
            model=self.name,
            input_tokens=round(sum(one.tokens for one in asked)),
            output_tokens=0,
            cost_usd=sum(costs) if len(costs) == len(asked) else None,
            latency_s=max((one.latency_s for one in asked), default=0.0),
            attempts=max((one.attempts for one in asked), default=0),
            cached=not asked,
        )
        record_reply(_REQUEST, reply)


def _share(reply: Reply, row: np.ndarray, part: float) -> _Embedded:
    cost = None if reply.cost_usd is None else reply.cost_usd * part
    return _Embedded(row, (reply.input_tokens or 0) * part, cost, reply.latency_s, reply.attempts)


def _as_json(row: np.ndarray) -> dict[str, Any]:
    return {"float32": b64encode(np.ascontiguousarray(row, dtype="<f4").tobytes()).decode()}


def _from_json(stored: Any) -> _Embedded | None:
    try:
        row = np.frombuffer(b64decode(stored["float32"]), dtype="<f4")
    except (KeyError, TypeError, ValueError):
        return None
    return _Embedded(row) if row.size else None
