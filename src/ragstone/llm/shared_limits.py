"""One limit and one budget shared by many processes.

A `Referee` runs in one process, for example a cluster actor. Workers, `NAME/PROCESS`, use `DistantLimiter` and `DistantBudget`,
which call it. If a worker rejoins as another process, the slots of the dead one are released. Money reserved for its unfinished
calls counts as spent, because the server may charge for them.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from ragstone.llm.base import LLMBusyError, LLMStoppedError
from ragstone.llm.budget import Budget
from ragstone.llm.limits import Limiter


class Rules(NamedTuple):
    """Limits for all workers together."""

    concurrency: int
    requests_per_minute: float | None
    tokens_per_minute: float | None
    budget_usd: float | None
    spent_usd: float = 0.0


class Referee:
    """Holds the limiter and the budget of all workers."""

    def __init__(self, rules: Rules) -> None:
        self._limiter = Limiter(rules.concurrency, rules.requests_per_minute, rules.tokens_per_minute)
        self._rules = rules
        self._budget = None if rules.budget_usd is None else Budget(rules.budget_usd, rules.spent_usd)
        self._numbers = itertools.count()
        self._processes: dict[str, str] = {}
        self._dead: set[str] = set()
        self._slots: dict[str, set[int]] = {}
        self._reservations: dict[str, dict[int, float]] = {}

    async def join(self, worker: str) -> None:
        """Register a worker. Release the slots of its dead process, if there is one, and settle its reservations."""
        name = worker.partition("/")[0]
        dead, self._processes[name] = self._processes.get(name, ""), worker
        self._dead.add(dead)
        for _ in self._slots.pop(dead, ()):
            self._limiter.leave(0.0)
        for amount in self._reservations.pop(dead, {}).values():
            if self._budget:
                self._budget.settle(amount, amount)

    async def enter(self, worker: str, tokens: int) -> tuple[int, float]:
        """Wait for a slot; return its number and the start time of the call."""
        began = await self._limiter.enter(tokens)
        number = next(self._numbers)
        self._slots.setdefault(worker, set()).add(number)
        if worker in self._dead:  # it died while this call waited, and will not release the slot
            await self.leave(worker, number, 0.0, None, [0, 0])
        return number, began

    async def leave(
        self, worker: str, number: int, began: float, trouble: tuple[float | None, bool, bool] | None, tokens: list[int]
    ) -> None:
        """Release a slot. `trouble` is (retry_after_s, slow_down, timed_out) of a busy error."""
        slots = self._slots.get(worker, set())
        if number in slots:
            slots.remove(number)
            error = None if trouble is None else LLMBusyError("", *trouble)
            self._limiter.leave(began, error, *tokens)

    async def reserve(self, worker: str, amount_usd: float) -> tuple[int, str | None]:
        """Reserve money; return the number of the reservation, or the reason why it was refused."""
        if self._budget is None:
            raise AssertionError("reserve() needs a budget")
        try:
            await self._budget.reserve(amount_usd)
        except LLMStoppedError as stopped:
            return -1, str(stopped)
        number = next(self._numbers)
        self._reservations.setdefault(worker, {})[number] = amount_usd
        if worker in self._dead:
            await self.settle(worker, number, 0.0)
        return number, None

    async def settle(self, worker: str, number: int, used_usd: float) -> None:
        """Record the cost of a call."""
        amount = self._reservations.get(worker, {}).pop(number, None)
        if amount is not None and self._budget:
            self._budget.settle(amount, used_usd)

    async def spent(self) -> tuple[float, bool]:
        """Return what all workers have spent, and whether the budget refused a call."""
        return (self._budget.spent_usd - self._rules.spent_usd, self._budget.is_spent) if self._budget else (0.0, False)


# A worker calls the referee with the name of a method and its arguments; `Tell` does not wait for the result.
Ask = Callable[..., Awaitable[Any]]
Tell = Callable[..., None]


class DistantLimiter(Limiter):
    """A worker's proxy for the referee's limiter."""

    def __init__(self, worker: str, ask: Ask, tell: Tell, counts_tokens: bool) -> None:
        super().__init__()
        self._worker, self._ask, self._tell, self.counts_tokens = worker, ask, tell, counts_tokens
        self._numbers: dict[float, list[int]] = {}

    async def enter(self, tokens: int = 0) -> float:
        """Wait for a slot."""
        number, began = await self._ask("enter", self._worker, tokens)
        self._numbers.setdefault(began, []).append(number)
        return float(began)

    def leave(self, began: float, error: BaseException | None = None, estimated: int = 0, used: int = 0) -> None:
        """Release the slot without waiting for the referee."""
        trouble = (error.retry_after_s, error.slow_down, error.timed_out) if isinstance(error, LLMBusyError) else None
        number = (numbers := self._numbers[began]).pop()
        if not numbers:
            del self._numbers[began]
        self._tell("leave", self._worker, number, began, trouble, [estimated, used])


class DistantBudget(Budget):
    """A worker's proxy for the referee's budget."""

    def __init__(self, limit_usd: float, worker: str, ask: Ask, tell: Tell) -> None:
        super().__init__(limit_usd)
        self._worker, self._ask, self._tell = worker, ask, tell
        self._numbers: dict[float, list[int]] = {}

    async def reserve(self, amount_usd: float, estimate: Callable[[], float] | None = None) -> float:  # noqa: ARG002
        """Reserve money, or raise if the budget is used up."""
        number, refused = await self._ask("reserve", self._worker, amount_usd)
        if refused:
            raise LLMStoppedError(refused)
        self._numbers.setdefault(amount_usd, []).append(number)
        return amount_usd

    def settle(self, reserved_usd: float, used_usd: float) -> None:
        """Record the cost of a call without waiting for the referee."""
        self.spent_usd += used_usd
        self._tell("settle", self._worker, self._numbers[reserved_usd].pop(), used_usd)
