"""Money and time for a whole run: what a call may cost is set aside before it is made, so that no two overspend."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from ragstone.errors import UsageError
from ragstone.llm.base import LLM, Reply, Request
from ragstone.llm.failures import LLMStoppedError
from ragstone.llm.prices import Price, Prices, advise_price
from ragstone.llm.tokens import estimate_request

_AMOUNT = re.compile(r"(?:\$\s*)?(\d+(?:\.\d+)?|\.\d+)\s*(?:usd|\$|dollars?)?", re.IGNORECASE)
# A reply whose length nobody limits is taken to be no longer than this, three times its guess, or the longest so far.
_LIKELY_MOST_TOKENS = 1024
_GUESS_MARGIN = 3
_LONGEST_MARGIN = 1.25
# The estimate of what is sent may be too low by this much.
_INPUT_MARGIN = 1.3


class Budget:
    """An amount of money that is never exceeded: spent, set aside for calls under way, and the rest."""

    def __init__(self, limit_usd: float) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = 0.0
        self.calls = 0
        self._reserved = 0.0
        self._is_spent = False
        self._settled: asyncio.Event | None = None

    async def reserve(self, amount_usd: float) -> None:
        """Set money aside, or wait until calls under way have given back what they did not need."""
        while True:
            if self._is_spent or self.spent_usd + amount_usd > self.limit_usd:
                self._is_spent = True
                self._wake()
                raise LLMStoppedError(self._words())
            if self.spent_usd + self._reserved + amount_usd <= self.limit_usd:
                self._reserved += amount_usd
                return
            self._settled = self._settled or asyncio.Event()
            await self._settled.wait()

    def settle(self, reserved_usd: float, used_usd: float) -> None:
        """Take what a call has cost and give back the rest of what was set aside."""
        self._reserved -= reserved_usd
        self.spent_usd += used_usd
        self.calls += used_usd > 0
        self._wake()

    def _wake(self) -> None:
        event, self._settled = self._settled, None
        if event is not None:
            event.set()

    def _words(self) -> str:
        return (
            f"the budget of {self.limit_usd:g} usd is spent: {self.spent_usd:.4f} usd so far, "
            "and the next call could exceed it. Run again with a larger --budget: what was answered is not asked again."
        )


def parse_budget(given: str | float | Budget) -> Budget:
    """A budget of US dollars from `5usd`, `5 USD`, `$5`, `0.5` or a number; one that several runs share stays what it is."""
    if isinstance(given, Budget):
        return given
    found = _AMOUNT.fullmatch(given.strip()) if isinstance(given, str) else None
    amount = float(found[1] if found else given if isinstance(given, int | float) else 0)
    if not 0 < amount < math.inf:
        raise UsageError(f"'{given}' is no budget. Write an amount of US dollars, such as 5usd or 0.50usd.")
    return Budget(amount)


class Deadline:
    """The moment at which all calls of a run end."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Within the block a call is cut off at the deadline; after the deadline there is no block."""
        if self._end is None:
            yield
            return
        left = self._end - self._clock()
        if left <= 0:
            raise LLMStoppedError(self._words())
        try:
            async with asyncio.timeout(left) as limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            stopped = LLMStoppedError(self._words())
            # It was under way.
            stopped.attempts = 1
            raise stopped from None

    @property
    def is_set(self) -> bool:
        """Whether there is a deadline at all."""
        return self._end is not None

    def _words(self) -> str:
        return (
            f"the deadline of {self._seconds:g} s has passed. Run again to go on: what was answered is not asked again."
        )


class Budgeted:
    """A model whose replies are priced, and which stops when money or time is used up."""

    def __init__(
        self, llm: LLM, prices: Prices, budget: Budget | None = None, deadline: Deadline | None = None
    ) -> None:
        self._llm = llm
        self._price = price_for(llm.name, prices, budget)
        self._budget = budget
        self._deadline = deadline or Deadline(None)
        self._longest_reply = 0

    @property
    def name(self) -> str:
        """The model's name."""
        return self._llm.name

    @property
    def signature(self) -> str:
        """The model's signature."""
        return self._llm.signature

    async def complete(self, request: Request) -> Reply:
        """The reply with its cost, if there is money and time for it."""
        if not self._deadline.is_set:
            return await self._complete(request)
        async with self._deadline.watch():
            return await self._complete(request)

    async def close(self) -> None:
        """Close the model."""
        await self._llm.close()

    async def _complete(self, request: Request) -> Reply:
        if self._budget is None or self._price is None:
            return self._priced(request, await self._llm.complete(request))
        reserved = self._most_usd(request, self._price)
        await self._budget.reserve(reserved)
        used = 0.0
        try:
            reply = self._priced(request, await self._llm.complete(request))
            used = reply.cost_usd or 0.0
        except asyncio.CancelledError:
            # The server may go on and charge for it.
            used = reserved
            raise
        finally:
            self._budget.settle(reserved, used)
        return reply

    def _most_usd(self, request: Request, price: Price) -> float:
        sent, guessed = estimate_request(request)
        most = request.max_tokens or max(
            _LIKELY_MOST_TOKENS, _GUESS_MARGIN * guessed, round(_LONGEST_MARGIN * self._longest_reply)
        )
        return price.cost_usd(_INPUT_MARGIN * sent, most)

    def _priced(self, request: Request, reply: Reply) -> Reply:
        if self._price is None or reply.cost_usd is not None:
            return reply
        sent, received = reply.input_tokens, reply.output_tokens
        if (sent is None or received is None) and self._price != Price(0.0, 0.0):
            estimated, guessed = estimate_request(replace(request, guess=reply.text))
            sent, received = sent or estimated, received or guessed
        self._longest_reply = max(self._longest_reply, received or 0)
        return replace(reply, cost_usd=self._price.cost_usd(sent or 0, received or 0))


def price_for(name: str, prices: Prices, budget: Budget | None) -> Price | None:
    """The price of a model; under a budget there must be one."""
    price = prices.find(name)
    if price is None and budget is not None:
        raise UsageError(f"the price of {name} is not known, so a budget cannot be kept. {advise_price(name)}")
    return price
