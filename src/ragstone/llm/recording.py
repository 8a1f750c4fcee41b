"""Every call as a row: what was asked for which sample, what it took, and why it failed if it did."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

from ragstone.llm.base import LLM, Reply, Request
from ragstone.llm.failures import LLMAccessError, LLMError, UnsupportedFormatError


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a model. A reply from the cache is a call too, one that cost nothing."""

    sample_id: str
    evidence: str
    prompt: str
    prompt_hash: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    latency_s: float
    attempts: int
    cached: bool
    error: str | None
    reply: str | None


class _Where(NamedTuple):
    sink: list[Call]
    sample_id: str
    evidence: str


_WHERE: ContextVar[_Where | None] = ContextVar("ragstone_calls", default=None)


@contextmanager
def record_calls(sink: list[Call], sample_id: str, evidence: str) -> Iterator[None]:
    """Within the block, and in tasks that it starts, calls are added to the list under these names."""
    token = _WHERE.set(_Where(sink, sample_id, evidence))
    try:
        yield
    finally:
        _WHERE.reset(token)


def record_reply(request: Request, reply: Reply) -> None:
    """Add a call that went well, if somebody records."""
    if where := _WHERE.get():
        where.sink.append(
            Call(
                where.sample_id,
                where.evidence,
                request.prompt,
                request.prompt_hash,
                reply.model,
                reply.input_tokens,
                reply.output_tokens,
                reply.cost_usd,
                reply.latency_s,
                reply.attempts,
                reply.cached,
                None,
                reply.text,
            )
        )


def record_failure(request: Request, model: str, error: LLMError | LLMAccessError, latency_s: float) -> None:
    """Add a call that gave no reply, if somebody records."""
    if where := _WHERE.get():
        names = (where.sample_id, where.evidence, request.prompt, request.prompt_hash, model)
        raw = getattr(error, "raw", None)
        nothing = (None, None, None)
        where.sink.append(Call(*names, *nothing, latency_s, error.attempts, cached=False, error=str(error), reply=raw))


class Recorded:
    """A model whose calls are recorded where `record_calls` says."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm

    @property
    def name(self) -> str:
        """The model's name."""
        return self._llm.name

    @property
    def signature(self) -> str:
        """The model's signature."""
        return self._llm.signature

    async def complete(self, request: Request) -> Reply:
        """The reply, once it is recorded."""
        started = time.perf_counter()
        try:
            reply = await self._llm.complete(request)
        except UnsupportedFormatError as error:
            # A provider that knows its limits refuses without asking anybody: there was no call.
            if error.attempts:
                record_failure(request, self._llm.name, error, time.perf_counter() - started)
            raise
        except (LLMError, LLMAccessError) as error:
            record_failure(request, self._llm.name, error, time.perf_counter() - started)
            raise
        record_reply(request, reply)
        return reply

    async def close(self) -> None:
        """Close the model."""
        await self._llm.close()
