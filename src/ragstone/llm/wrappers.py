"""Wrappers around a model: retries, recording of calls, offline mode and quotes."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn

from ragstone.http.retry import Patience, retry
from ragstone.llm.base import (
    LLM,
    LLMAccessError,
    LLMError,
    LLMGoneError,
    LLMStoppedError,
    LLMWrapper,
    Reply,
    Request,
    UnsupportedFormatError,
    estimate_request,
)
from ragstone.llm.budget import Price
from ragstone.llm.concurrency import bound, tell

# A server that restarts at once is not worth a note.
_QUIET_S = 2.0


class Retrying(LLMWrapper):
    """Repeats a request while the model is busy: exponential backoff with full jitter, at least the server's Retry-After."""

    def __init__(self, llm: LLM, patience: Patience = Patience()) -> None:  # noqa: B008  (frozen)
        super().__init__(llm)
        self._patience = patience
        # Since when the server is gone, for all calls.
        self._gone_at: float | None = None
        self._has_told = False

    async def complete(self, request: Request) -> Reply:
        """Return the reply with the number of attempts."""
        reply, attempts = await retry(lambda: self._try(request), self._patience, request.retry_late)
        return reply if attempts == 1 else replace(reply, attempts=attempts - 1 + reply.attempts)

    async def _try(self, request: Request) -> Reply:
        try:
            reply = await self._llm.complete(request)
        except LLMGoneError as error:
            self._gone_at = self._gone_at or time.monotonic()
            error.gone_s = time.monotonic() - self._gone_at
            if error.gone_s >= _QUIET_S and not self._has_told:
                self._has_told = True
                tell(f"{error} Trying again for {self._patience.longest_gone_s:g} s; Ctrl-C keeps what is done.")
            raise
        self._gone_at = None
        return reply


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a model. A cached reply is a call that cost nothing."""

    sample_id: str
    evidence: str
    prompt: str
    prompt_hash: str
    model: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    latency_s: float = 0.0
    attempts: int = 1
    cached: bool = False
    error: str | None = None
    reply: str | None = None

    @property
    def is_made(self) -> bool:
        """Whether a request was sent: the reply was not cached, and no budget or deadline forbade it."""
        return not self.cached and self.attempts > 0


_RECORDING: ContextVar[tuple[list[Call], str, str] | None] = ContextVar("ragstone_calls", default=None)


def record_calls(calls: list[Call], sample_id: str, evidence: str) -> AbstractContextManager[None]:
    """Append the calls made in this block, and in tasks started in it, to a list under these names."""
    return bound(_RECORDING, (calls, sample_id, evidence))


def record_reply(request: Request, reply: Reply) -> None:
    """Append a successful call if calls are being recorded."""
    counts = ("input_tokens", "output_tokens", "cost_usd", "latency_s", "attempts", "cached")
    _record(request, reply.model, reply=reply.text, **{name: getattr(reply, name) for name in counts})


def record_failure(request: Request, model: str, error: LLMError | LLMAccessError, latency_s: float) -> None:
    """Append a failed call if calls are being recorded."""
    raw = getattr(error, "raw", None)
    _record(request, model, latency_s=latency_s, attempts=error.attempts, error=str(error), reply=raw)


def record_rejection(reply: Reply, reason: str) -> None:
    """Add to a recorded call why its reply was rejected."""
    calls = recording[0] if (recording := _RECORDING.get()) else []
    for place in reversed(range(len(calls))):
        if calls[place].reply is reply.text and calls[place].error is None:
            calls[place] = replace(calls[place], error=f"rejected: {reason}")
            return


def _record(request: Request, model: str, **outcome: Any) -> None:
    if recording := _RECORDING.get():
        calls, sample_id, evidence = recording
        calls.append(Call(sample_id, evidence, request.prompt, request.prompt_hash, model, **outcome))


_ORDINARY: ContextVar[bool] = ContextVar("ragstone_ordinary_calls", default=False)


def ordinary_calls() -> AbstractContextManager[None]:
    """Send the requests of this block as ordinary calls, not in batches."""
    return bound(_ORDINARY, value=True)


def calls_are_ordinary() -> bool:
    """Return whether requests are sent as ordinary calls here."""
    return _ORDINARY.get()


class Recorded(LLMWrapper):
    """Records the calls of a model in the list set by `record_calls`."""

    async def complete(self, request: Request) -> Reply:
        """Return the reply after recording it."""
        started = time.perf_counter()
        try:
            reply = await self._llm.complete(request)
        except UnsupportedFormatError:
            # The same question is asked in another format; that is the call.
            raise
        except (LLMError, LLMAccessError) as error:
            record_failure(request, self._llm.name, error, time.perf_counter() - started)
            raise
        record_reply(request, reply)
        return reply


class Offline(LLMWrapper):
    """Never calls the model. Behind a cache, only cached replies are returned."""

    async def complete(self, request: Request) -> NoReturn:  # noqa: ARG002  (the LLM protocol)
        """Raise an error: the reply is not in the cache."""
        raise LLMStoppedError(
            "offline: this reply is not in the cache. Run once without offline mode to fill the cache "
            "(RAGSTONE_CACHE sets its folder)."
        )


class Speed(NamedTuple):
    """Sums over measured calls, from which the tokens and the time of other calls are predicted."""

    calls: float = 0.0
    estimated: float = 0.0
    sent: float = 0.0
    received: float = 0.0
    seconds: float = 0.0
    sent_sent: float = 0.0
    sent_received: float = 0.0
    received_received: float = 0.0
    sent_seconds: float = 0.0
    received_seconds: float = 0.0

    @classmethod
    def of_call(cls, request: Request, reply: Reply) -> Speed:
        """Return the sums of one call; empty if the server did not count tokens."""
        sent, received, seconds = reply.input_tokens, reply.output_tokens, reply.latency_s
        if not sent or received is None or seconds <= 0:
            return cls()
        products = (sent * sent, sent * received, received * received, sent * seconds, received * seconds)
        return cls(1, estimate_request(request)[0], sent, received, seconds, *products)

    def add(self, other: Speed) -> Speed:
        """Return the sums of both."""
        return Speed(*(one + two for one, two in zip(self, other, strict=True)))

    def sent_tokens(self, estimated: int) -> int:
        """Return how many tokens this model's tokenizer makes of what is estimated."""
        return round(estimated * self.sent / self.estimated)

    def time_s(self, sent: int, received: int) -> float:
        """Return the time of a call, from the seconds per token sent and per token received (least squares)."""
        two_sent, both, two_received = self.sent_sent, self.sent_received, self.received_received
        determinant = two_sent * two_received - both**2
        if determinant > 1e-6 * two_sent * two_received:
            by_sent = (self.sent_seconds * two_received - self.received_seconds * both) / determinant
            by_received = (self.received_seconds * two_sent - self.sent_seconds * both) / determinant
            if by_sent >= 0 and by_received >= 0:
                return by_sent * sent + by_received * received
        # Calls that are all alike: a token that is received takes about as long as eight that are sent.
        return self.seconds * (sent / 8 + received) / (self.sent / 8 + self.received)


class Quoting(LLMWrapper):
    """Never calls the model. Returns the request's guess with its estimated tokens and cost, and the time if it was measured."""

    def __init__(
        self, llm: LLM, price: Price | None, speed: Speed | None = None, batch_price: Price | None = None
    ) -> None:
        super().__init__(llm)
        self._price = price
        self._speed = speed
        self._batch_price = batch_price

    async def complete(self, request: Request) -> Reply:
        """Return the guess with estimated tokens and their cost."""
        sent, received = estimate_request(request)
        seconds = 0.0
        if self._speed:
            sent = self._speed.sent_tokens(sent)
            seconds = self._speed.time_s(sent, received)
        price = self._price if self._batch_price is None or calls_are_ordinary() else self._batch_price
        cost = None if price is None else price.cost_usd(sent, received)
        return Reply(request.guess, self.name, sent, received, cost_usd=cost, latency_s=seconds, quoted=True)
