"""How many requests at once and per minute: fewer when a server asks for fewer or is late, slowly more afterwards.

All work per call is constant: a counter, a queue of waiters and two buckets that know only when they are full again.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

from ragstone.llm.base import LLM, Reply, Request
from ragstone.llm.failures import LLMBusyError
from ragstone.llm.tokens import estimate_request

Clock = Callable[[], float]
_MOST_PAUSE_S = 60.0


class Bucket:
    """So much per minute, evenly: what is taken too early must be waited for, in the order of taking."""

    def __init__(self, per_minute: float, clock: Clock = time.monotonic) -> None:
        self._rate = per_minute / 60
        # A second's worth may go at once, so that a low limit is not overrun by a burst at the start.
        self._most = max(1.0, self._rate)
        self._level = self._most
        self._clock = clock
        self._seen = clock()

    def take(self, amount: float) -> float:
        """Take some and say how many seconds to wait until it is there."""
        now = self._clock()
        self._level = min(self._most, self._level + (now - self._seen) * self._rate) - amount
        self._seen = now
        return max(0.0, -self._level / self._rate)

    def give_back(self, amount: float) -> None:
        """Return what was taken too much, or take what was taken too little."""
        self._level += amount


class Limiter:
    """The number of requests in flight, adapted to what the servers bear, and the limits per minute."""

    def __init__(
        self,
        concurrency: int = 16,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._most = max(1, concurrency)
        self._allowed = float(self._most)
        self._active = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._clock = clock
        self._last_cut = -1.0
        self._pause_until = 0.0
        self._requests = Bucket(requests_per_minute, clock) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute, clock) if tokens_per_minute else None

    @property
    def allowed(self) -> int:
        """How many requests may be in flight now."""
        return int(self._allowed)

    @property
    def counts_tokens(self) -> bool:
        """Whether there is a limit of tokens per minute."""
        return self._tokens is not None

    async def enter(self, tokens: int = 0) -> float:
        """Wait for a place; returns when the request began, which `leave` wants back."""
        if self._active < self.allowed and not self._waiting:
            self._active += 1
        else:
            await self._wait_for_place()
        if self._requests or self._tokens or self._pause_until:
            try:
                await self._wait_for_rate(tokens)
            except BaseException:
                self._correct(tokens, 0)
                self._free()
                raise
        return self._clock()

    def leave(self, began: float, error: BaseException | None = None, estimated: int = 0, used: int = 0) -> None:
        """Give the place back and learn from how it went."""
        self._correct(estimated, used)
        if error is None:
            self._allowed = min(self._most, self._allowed + 1 / self._allowed)
        elif isinstance(error, LLMBusyError) and (error.slow_down or error.timed_out):
            self._slow_down(began, error)
        self._free()

    def _slow_down(self, began: float, error: LLMBusyError) -> None:
        now = self._clock()
        # Requests that began before the last cut tell nothing about the new number.
        if began > self._last_cut:
            self._allowed = max(1.0, self._allowed / 2)
            self._last_cut = now
        if error.slow_down and error.retry_after_s:
            self._pause_until = max(self._pause_until, now + min(error.retry_after_s, _MOST_PAUSE_S))

    def _correct(self, estimated: int, used: int) -> None:
        if self._tokens and estimated != used:
            self._tokens.give_back(estimated - used)

    async def _wait_for_rate(self, tokens: int) -> None:
        wait_s = self._requests.take(1) if self._requests else 0.0
        if self._tokens:
            wait_s = max(wait_s, self._tokens.take(tokens))
        wait_s = max(wait_s, self._pause_until - self._clock())
        while wait_s > 0:
            await asyncio.sleep(wait_s)
            # Another request may have been told to wait meanwhile.
            wait_s = self._pause_until - self._clock()

    async def _wait_for_place(self) -> None:
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._free()
            raise

    def _free(self) -> None:
        self._active -= 1
        while self._waiting and self._active < self.allowed:
            place = self._waiting.popleft()
            if not place.done():
                self._active += 1
                place.set_result(None)


class Limited:
    """A model that waits for its place under the limits."""

    def __init__(self, llm: LLM, limiter: Limiter) -> None:
        self._llm = llm
        self._limiter = limiter

    @property
    def name(self) -> str:
        """The model's name."""
        return self._llm.name

    @property
    def signature(self) -> str:
        """The model's signature."""
        return self._llm.signature

    async def complete(self, request: Request) -> Reply:
        """The reply, when there was a place."""
        estimated = sum(estimate_request(request)) if self._limiter.counts_tokens else 0
        began = await self._limiter.enter(estimated)
        try:
            reply = await self._llm.complete(request)
        except BaseException as error:
            # What was asked counts even when no reply came: servers count it too.
            self._limiter.leave(began, error, estimated, estimated)
            raise
        self._limiter.leave(began, None, estimated, _used(reply, estimated))
        return reply

    async def close(self) -> None:
        """Close the model."""
        await self._llm.close()


def _used(reply: Reply, estimated: int) -> int:
    if reply.input_tokens is None or reply.output_tokens is None:
        return estimated
    return reply.input_tokens + reply.output_tokens
