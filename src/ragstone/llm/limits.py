"""Limits on concurrent requests and on requests and tokens per minute.

Concurrency is halved if a server asks for fewer requests or times out, and grows slowly afterwards. A call costs constant time.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable

from ragstone.llm.base import LLM, LLMBusyError, LLMWrapper, Reply, Request, estimate_request

Clock = Callable[[], float]
_MOST_PAUSE_S = 60.0
# During a pause, one request is sent after this time. If it succeeds, the pause ends for all; otherwise the time doubles.
_PROBE_S = 2.0
_POLL_S = 0.5


class Bucket:
    """A token bucket: a rate per minute, served in order."""

    def __init__(self, per_minute: float, clock: Clock = time.monotonic) -> None:
        self._rate = per_minute / 60
        # At most one second's worth at once, so that a burst at the start does not exceed a low limit.
        self._most = max(1.0, self._rate)
        self._level = self._most
        self._clock = clock
        self._seen = clock()

    def take(self, amount: float) -> float:
        """Take an amount and return the seconds to wait until it is available."""
        now = self._clock()
        self._level = min(self._most, self._level + (now - self._seen) * self._rate) - amount
        self._seen = now
        return max(0.0, -self._level / self._rate)

    def give_back(self, amount: float) -> None:
        """Correct an earlier amount: positive if too much was taken, negative if too little."""
        self._level += amount


class Limiter:
    """Limits requests in flight, adapting to the servers, and requests and tokens per minute."""

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
        self._pause_until = self._paused_at = self._probe_at = 0.0
        self._probe_s = _PROBE_S
        self._requests = Bucket(requests_per_minute, clock) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute, clock) if tokens_per_minute else None
        self.counts_tokens = self._tokens is not None

    @property
    def allowed(self) -> int:
        """The number of requests that may be in flight now."""
        return int(self._allowed)

    async def enter(self, tokens: int = 0) -> float:
        """Wait for a slot and return the start time, which `leave` takes."""
        if self._active < self.allowed and not self._waiting:
            self._active += 1
        else:
            await self._wait_for_slot()
        if self._requests or self._tokens or self._pause_until:
            try:
                await self._wait_for_rate(tokens)
            except BaseException:
                self._correct(tokens, 0)
                self._free()
                raise
        return self._clock()

    def leave(self, began: float, error: BaseException | None = None, estimated: int = 0, used: int = 0) -> None:
        """Release the slot and adapt the concurrency to the outcome."""
        self._correct(estimated, used)
        if error is None:
            self._allowed = min(self._most, self._allowed + 1 / self._allowed)
            if self._pause_until and began > self._paused_at:
                self._pause_until, self._probe_s = 0.0, _PROBE_S
        elif isinstance(error, LLMBusyError) and (error.slow_down or error.timed_out):
            self._slow_down(began, error)
        self._free()

    def _slow_down(self, began: float, error: LLMBusyError) -> None:
        now = self._clock()
        # Requests that began before the last cut say nothing about the new concurrency.
        if began > self._last_cut:
            self._allowed = max(1.0, self._allowed / 2)
            self._last_cut = now
        if error.slow_down and error.retry_after_s:
            self._pause_until = max(self._pause_until, now + min(error.retry_after_s, _MOST_PAUSE_S))
            if began > self._paused_at:
                self._probe_at, self._probe_s = now + self._probe_s, 2 * self._probe_s
                self._paused_at = now

    def _correct(self, estimated: int, used: int) -> None:
        if self._tokens and estimated != used:
            self._tokens.give_back(estimated - used)

    async def _wait_for_rate(self, tokens: int) -> None:
        wait_s = self._requests.take(1) if self._requests else 0.0
        if self._tokens:
            wait_s = max(wait_s, self._tokens.take(tokens))
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        # Another request may extend or end the pause meanwhile.
        while (left_s := self._pause_until - self._clock()) > 0:
            if (until_probe_s := self._probe_at - self._clock()) <= 0:
                self._probe_at = math.inf
                return
            await asyncio.sleep(min(left_s, until_probe_s, _POLL_S))

    async def _wait_for_slot(self) -> None:
        slot = asyncio.get_running_loop().create_future()
        self._waiting.append(slot)
        try:
            await slot
        except asyncio.CancelledError:
            if slot.done() and not slot.cancelled():
                self._free()
            raise

    def _free(self) -> None:
        self._active -= 1
        while self._waiting and self._active < self.allowed:
            slot = self._waiting.popleft()
            if not slot.done():
                self._active += 1
                slot.set_result(None)


class Limited(LLMWrapper):
    """A model behind a limiter."""

    def __init__(self, llm: LLM, limiter: Limiter) -> None:
        super().__init__(llm)
        self._limiter = limiter

    async def complete(self, request: Request) -> Reply:
        """Wait for a slot, then return the reply."""
        estimated = sum(estimate_request(request)) if self._limiter.counts_tokens else 0
        began = await self._limiter.enter(estimated)
        try:
            reply = await self._llm.complete(request)
        except BaseException as error:
            # Servers count failed requests too.
            self._limiter.leave(began, error, estimated, estimated)
            raise
        is_counted = reply.input_tokens is not None and reply.output_tokens is not None
        used = (reply.input_tokens or 0) + (reply.output_tokens or 0) if is_counted else estimated
        self._limiter.leave(began, None, estimated, used)
        return reply
