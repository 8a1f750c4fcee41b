"""Wrappers around a model: retries, recording of calls, offline mode and quotes."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn, TypeVar

from ragstone.llm.base import (
    LLM,
    LLMAccessError,
    LLMBusyError,
    LLMError,
    LLMStoppedError,
    LLMUnreachableError,
    LLMWrapper,
    Reply,
    Request,
    UnsupportedFormatError,
    estimate_request,
)
from ragstone.llm.budget import Price

T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """How often and for how long a request is retried."""

    attempts: int = 6
    # For an address that has never answered; afterwards the run stops.
    attempts_unreachable: int = 3
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0
    # Measured from the first failure, so that waiting for the rate limit does not count.
    longest_s: float = 900.0

    def wait_s(self, failures: int, error: LLMBusyError) -> float:
        """Return the wait after this many failures."""
        jitter = random.uniform(0, min(self.longest_wait_s, self.first_wait_s * 2 ** min(failures - 1, 30)))  # noqa: S311
        if error.retry_after_s is None:
            return jitter
        return error.retry_after_s + min(jitter, 1.0)

    def is_over(self, failures: int, error: LLMBusyError) -> bool:
        """Return whether no attempt is left. If the server asks for slower requests, only the time limits them."""
        if isinstance(error, LLMUnreachableError):
            return failures >= self.attempts_unreachable
        return not error.slow_down and failures >= self.attempts


async def retry(call: Callable[[], Awaitable[T]], patience: Patience, retry_late: bool = True) -> tuple[T, int]:
    """Return the result of a call and the number of attempts. With `retry_late` false, a timeout is final."""
    failures = 0
    first_failure = 0.0
    while True:
        try:
            return await call(), failures + 1
        except LLMBusyError as error:
            failures += 1
            now = time.monotonic()
            first_failure = first_failure or now
            wait_s = patience.wait_s(failures, error)
            late = error.timed_out and not retry_late
            if late or patience.is_over(failures, error) or now + wait_s - first_failure > patience.longest_s:
                raise _final_error(error, failures, wait_s) from None
        except (LLMError, LLMAccessError) as error:
            error.attempts += failures
            raise
        await asyncio.sleep(wait_s)


def _final_error(error: LLMBusyError, failures: int, wait_s: float) -> LLMError | LLMAccessError:
    if isinstance(error, LLMUnreachableError):
        final: LLMError | LLMAccessError = LLMAccessError(str(error))
    else:
        wait = f" (the server asks to wait {error.retry_after_s:.0f} s)" if (error.retry_after_s or 0) > 60 else ""
        tries = f"{failures} attempt{'s' if failures != 1 else ''}"
        message = f"{error}{wait}; given up after {tries}"
        final = LLMBusyError(message, wait_s, slow_down=error.slow_down, timed_out=error.timed_out)
    final.attempts = failures
    return final


class Retrying(LLMWrapper):
    """Repeats a request while the model is busy: exponential backoff with full jitter, at least the server's Retry-After."""

    def __init__(self, llm: LLM, patience: Patience = Patience()) -> None:  # noqa: B008  (frozen)
        super().__init__(llm)
        self._patience = patience

    async def complete(self, request: Request) -> Reply:
        """Return the reply with the number of attempts."""
        reply, attempts = await retry(lambda: self._llm.complete(request), self._patience, request.retry_late)
        return reply if attempts == 1 else replace(reply, attempts=attempts)


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


_RECORDING: ContextVar[tuple[list[Call], str, str] | None] = ContextVar("ragstone_calls", default=None)


@contextmanager
def record_calls(calls: list[Call], sample_id: str, evidence: str) -> Iterator[None]:
    """Append the calls made in this block, and in tasks started in it, to a list under these names."""
    token = _RECORDING.set((calls, sample_id, evidence))
    try:
        yield
    finally:
        _RECORDING.reset(token)


def record_reply(request: Request, reply: Reply) -> None:
    """Append a successful call if calls are being recorded."""
    _record(
        request,
        reply.model,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost_usd=reply.cost_usd,
        latency_s=reply.latency_s,
        attempts=reply.attempts,
        cached=reply.cached,
        reply=reply.text,
    )


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


@contextmanager
def ordinary_calls() -> Iterator[None]:
    """Send the requests of this block as ordinary calls, not in batches."""
    token = _ORDINARY.set(True)
    try:
        yield
    finally:
        _ORDINARY.reset(token)


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
        except (LLMError, LLMAccessError) as error:
            # A provider that refuses a format without a request made no call.
            if error.attempts or not isinstance(error, UnsupportedFormatError):
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
        determinant = self.sent_sent * self.received_received - self.sent_received**2
        if determinant > 1e-6 * self.sent_sent * self.received_received:
            by_sent = (
                self.sent_seconds * self.received_received - self.received_seconds * self.sent_received
            ) / determinant
            by_received = (
                self.received_seconds * self.sent_sent - self.sent_seconds * self.sent_received
            ) / determinant
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
        return Reply(
            request.guess,
            self.name,
            input_tokens=sent,
            output_tokens=received,
            cost_usd=cost,
            latency_s=seconds,
            quoted=True,
        )
