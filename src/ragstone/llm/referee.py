"""One limit and one budget for many processes: a referee that is asked before and told after every call.

The referee lives in one place (an actor of a cluster, say); workers have a stand-in for the limiter and for the budget that asks
it. A worker that dies takes its places with it: when it comes back it joins again, and what its earlier life held is freed; money
set aside for a call that nobody heard the end of counts as spent, since the server may charge for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from ragstone.llm.budget import Budget
from ragstone.llm.failures import LLMBusyError, LLMStoppedError
from ragstone.llm.limits import Limiter


class Rules(NamedTuple):
    """What holds for all workers together."""

    concurrency: int
    requests_per_minute: float | None
    tokens_per_minute: float | None
    budget_usd: float | None


class Referee:
    """Keeps the limits and the budget for everybody."""

    def __init__(self, rules: Rules) -> None:
        self._limiter = Limiter(rules.concurrency, rules.requests_per_minute, rules.tokens_per_minute)
        self._budget = None if rules.budget_usd is None else Budget(rules.budget_usd)
        self._numbers = itertools.count()
        self._places: dict[str, set[int]] = {}
        self._money: dict[str, dict[int, float]] = {}

    async def join(self, worker: str) -> None:
        """A worker begins, or begins again: what it held before is freed."""
        for _ in self._places.pop(worker, ()):
            self._limiter.leave(0.0)
        for amount in self._money.pop(worker, {}).values():
            if self._budget:
                self._budget.settle(amount, amount)

    async def enter(self, worker: str, tokens: int) -> tuple[int, float]:
        """A place under the limits, when there is one: its number, and when the call began."""
        began = await self._limiter.enter(tokens)
        number = next(self._numbers)
        self._places.setdefault(worker, set()).add(number)
        return number, began

    async def leave(
        self, worker: str, number: int, began: float, trouble: tuple[float | None, bool, bool] | None, tokens: list[int]
    ) -> None:
        """Give a place back, with how it went: `trouble` says when to come back, whether to slow down, whether it was late."""
        places = self._places.get(worker, set())
        if number in places:
            places.remove(number)
            error = None if trouble is None else LLMBusyError("", *trouble)
            self._limiter.leave(began, error, *tokens)

    async def reserve(self, worker: str, amount_usd: float) -> tuple[int, str | None]:
        """Set money aside: its number, or why there is none."""
        if self._budget is None:
            raise AssertionError("nobody asks for money where there is no budget")
        try:
            await self._budget.reserve(amount_usd)
        except LLMStoppedError as stopped:
            return -1, str(stopped)
        number = next(self._numbers)
        self._money.setdefault(worker, {})[number] = amount_usd
        return number, None

    async def settle(self, worker: str, number: int, used_usd: float) -> None:
        """Say what a call has cost."""
        amount = self._money.get(worker, {}).pop(number, None)
        if amount is not None and self._budget:
            self._budget.settle(amount, used_usd)

    async def spent_usd(self) -> float:
        """What all workers together have spent."""
        return self._budget.spent_usd if self._budget else 0.0


# How a worker reaches the referee: the name of a method and its arguments.
Ask = Callable[..., Awaitable[Any]]
Tell = Callable[..., None]


class DistantLimiter(Limiter):
    """Stands for the referee's limiter in a worker."""

    def __init__(self, worker: str, ask: Ask, tell: Tell, counts_tokens: bool) -> None:
        super().__init__()
        self._worker, self._ask, self._tell, self._counts = worker, ask, tell, counts_tokens
        self._numbers: dict[float, list[int]] = {}

    @property
    def counts_tokens(self) -> bool:
        """Whether there is a limit of tokens per minute."""
        return self._counts

    async def enter(self, tokens: int = 0) -> float:
        """Wait for a place."""
        number, began = await self._ask("enter", self._worker, tokens)
        self._numbers.setdefault(began, []).append(number)
        return float(began)

    def leave(self, began: float, error: BaseException | None = None, estimated: int = 0, used: int = 0) -> None:
        """Give the place back; nobody waits for that."""
        trouble = None
        if isinstance(error, LLMBusyError):
            trouble = (error.retry_after_s, error.slow_down, error.timed_out)
        numbers = self._numbers[began]
        number = numbers.pop()
        if not numbers:
            del self._numbers[began]
        self._tell("leave", self._worker, number, began, trouble, [estimated, used])


class DistantBudget(Budget):
    """Stands for the referee's budget in a worker."""

    def __init__(self, limit_usd: float, worker: str, ask: Ask, tell: Tell) -> None:
        super().__init__(limit_usd)
        self._worker, self._ask, self._tell = worker, ask, tell
        self._numbers: dict[float, list[int]] = {}

    async def reserve(self, amount_usd: float) -> None:
        """Set money aside, or say that there is none."""
        number, refused = await self._ask("reserve", self._worker, amount_usd)
        if refused:
            raise LLMStoppedError(refused)
        self._numbers.setdefault(amount_usd, []).append(number)

    def settle(self, reserved_usd: float, used_usd: float) -> None:
        """Say what a call has cost; nobody waits for that."""
        self.spent_usd += used_usd
        self._tell("settle", self._worker, self._numbers[reserved_usd].pop(), used_usd)
