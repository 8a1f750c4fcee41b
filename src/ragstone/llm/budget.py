"""Prices, the budget and the deadline of a run. The estimated maximum cost of a call is reserved before it is made."""

from __future__ import annotations

import asyncio
import math
import os
import re
import time
import tomllib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import resources
from typing import Any

from ragstone.errors import UsageError
from ragstone.llm.base import LLM, LLMStoppedError, LLMWrapper, Reply, Request, estimate_request

VARIABLE = "RAGSTONE_PRICES"
# In the reason of every cell that failed because the budget was spent.
SPENT = "usd is spent"
_FREE = ("ollama", "vllm", "llamacpp", "llama", "function", "command", "fake")
# Providers that resell or forward models under the same names.
_RESELLERS = ("azure", "dial", "litellm_proxy")
_RELEASE = re.compile(r"[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")
_MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens."""

    input_usd: float
    output_usd: float

    def cost_usd(self, input_tokens: float, output_tokens: float) -> float:
        """Return the cost of these tokens."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / _MILLION

    def times(self, factor: float) -> Price:
        """Return this price times a factor."""
        return Price(self.input_usd * factor, self.output_usd * factor)


@dataclass(frozen=True)
class Prices:
    """Prices by `provider/model`."""

    models: Mapping[str, Price] = field(default_factory=dict)
    # Date of the shipped table.
    date: str = ""
    # By provider: the price of a batch divided by the price of calls.
    batch: Mapping[str, float] = field(default_factory=dict)

    def find(self, name: str) -> Price | None:
        """Return the price of a model, ignoring a release date in its name, or None if unknown."""
        if (price := self.models.get(name)) is not None:
            return price
        provider, _, model = name.partition("/")
        if provider in _FREE or not model:
            return Price(0.0, 0.0) if provider in _FREE else None
        undated = _RELEASE.sub("", model)
        candidates = [f"{provider}/{undated}"]
        if provider in _RESELLERS:
            candidates += [model, undated, f"openai/{model}", f"openai/{undated}"]
        return next((self.models[candidate] for candidate in candidates if candidate in self.models), None)

    def for_batches(self) -> Prices:
        """Return the prices of batches."""
        factors = {name: self.batch.get(name.partition("/")[0], 1.0) for name in self.models}
        return replace(self, models={name: price.times(factors[name]) for name, price in self.models.items()})


def load_prices() -> Prices:
    """Load the shipped prices, overridden by the file in RAGSTONE_PRICES."""
    shipped = _shipped_prices()
    path = os.environ.get(VARIABLE)
    if not path:
        return shipped
    models, batch = _read_user_file(path)
    return Prices({**shipped.models, **models}, shipped.date, {**shipped.batch, **batch})


def _advise_price(name: str) -> str:
    return f"""Write a file prices.toml with the lines

  [models]
  "{name}" = [0.15, 0.6]  # US dollars per million tokens, input and output

and set {VARIABLE}=prices.toml"""


@cache
def _shipped_prices() -> Prices:
    table = tomllib.loads((resources.files("ragstone.llm") / "prices.toml").read_text(encoding="utf-8"))
    return Prices({name: Price(*pair) for name, pair in table["models"].items()}, table["date"], table["batch"])


def _read_user_file(path: str) -> tuple[dict[str, Price], dict[str, float]]:
    try:
        with open(path, "rb") as stream:
            table = tomllib.load(stream)
    except OSError as error:
        raise UsageError(f"cannot read {path} ({VARIABLE}): {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} ({VARIABLE}) is not TOML: {error}") from None
    models, batch = table.get("models"), table.get("batch", {})
    if not isinstance(models, dict):
        raise UsageError(f"{path} ({VARIABLE}) has no table [models]. {_advise_price('openai/gpt-4o-mini')}")
    if not (isinstance(batch, dict) and all(map(_is_amount, batch.values()))):
        raise UsageError(f"{path} ({VARIABLE}): [batch] must have one number per provider, such as openai = 0.5")
    for name, pair in models.items():
        if not (isinstance(pair, list) and len(pair) == 2 and all(map(_is_amount, pair))):
            raise UsageError(f"{path}: the price of '{name}' must be two numbers, [input, output], not {pair!r}")
    return {name: Price(float(sent), float(received)) for name, (sent, received) in models.items()}, batch


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


_AMOUNT = re.compile(r"(?:\$\s*)?(\d+(?:\.\d+)?|\.\d+)\s*(?:usd|\$|dollars?)?", re.IGNORECASE)
# Maximum length of a reply without max_tokens: this, three times the guess, or 1.25 times the longest reply so far.
_LIKELY_MOST_TOKENS = 1024
_GUESS_MARGIN = 3
_LONGEST_MARGIN = 1.25
# After this many replies to a prompt, the maximum is this many times the longest of them, and never above max_tokens.
_REPLIES_NEEDED = 8
_LEARNED_MARGIN = 2
# Margin for the error of the token estimate.
_INPUT_MARGIN = 1.3


class Budget:
    """An amount of money that is not exceeded unless a call costs more than its reservation. Tracks what is spent and what is reserved for running calls."""

    def __init__(self, limit_usd: float, spent_usd: float = 0.0) -> None:
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self.calls = 0
        self._reserved = 0.0
        self._is_spent = False
        self._settled: asyncio.Event | None = None

    @property
    def is_spent(self) -> bool:
        """Whether a call was refused because it could exceed the limit."""
        return self._is_spent

    async def reserve(self, amount_usd: float, estimate: Callable[[], float] | None = None) -> float:
        """Reserve money and return the amount. Waits while running calls may release enough; raises if it is used up.

        `estimate` gives the amount after a wait: replies in the meantime may have changed it.
        """
        while not self.try_reserve(amount_usd):
            self._settled = self._settled or asyncio.Event()
            await self._settled.wait()
            amount_usd = estimate() if estimate else amount_usd
        return amount_usd

    def try_reserve(self, amount_usd: float) -> bool:
        """Reserve money if enough is free, and return whether it is. Raises if the budget is used up."""
        if self._is_spent or self.spent_usd + amount_usd > self.limit_usd:
            self._is_spent = True
            self._wake()
            raise LLMStoppedError(self._message())
        if self.spent_usd + self._reserved + amount_usd > self.limit_usd:
            return False
        self._reserved += amount_usd
        return True

    def settle(self, reserved_usd: float, used_usd: float) -> None:
        """Record the cost of a call and release the rest of its reservation."""
        self._reserved -= reserved_usd
        self.spent_usd += used_usd
        self.calls += used_usd > 0
        self._wake()

    def add(self, spent_usd: float, is_spent: bool) -> None:
        """Count what other processes have spent, and whether a call of theirs was refused."""
        self._is_spent |= is_spent
        self.settle(0.0, spent_usd)

    def _wake(self) -> None:
        event, self._settled = self._settled, None
        if event is not None:
            event.set()

    def _message(self) -> str:
        return (
            f"the budget of {self.limit_usd:g} {SPENT}: {self.spent_usd:.4f} usd so far, "
            "and the next call could exceed it. Run again with a larger --budget: replies so far are cached."
        )


def parse_budget(amount: str | float | Budget) -> Budget:
    """Parse `5usd`, `5 USD`, `$5`, `0.5` or a number of US dollars. A Budget is returned unchanged."""
    if isinstance(amount, Budget):
        return amount
    match = _AMOUNT.fullmatch(amount.strip()) if isinstance(amount, str) else None
    limit_usd = float(match[1] if match else amount if isinstance(amount, int | float) else 0)
    if not 0 < limit_usd < math.inf:
        raise UsageError(f"'{amount}' is not a budget. Write an amount of US dollars, for example 5usd or 0.50usd.")
    return Budget(limit_usd)


class Deadline:
    """The time at which all calls of a run end."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._end = None if seconds is None else clock() + seconds

    @property
    def left_s(self) -> float:
        """The seconds that are left; infinite without a deadline."""
        return math.inf if self._end is None else self._end - self._clock()

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Cancel the block at the deadline; raise at once if the deadline has passed."""
        if self._end is None:
            yield
            return
        left = self._end - self._clock()
        if left <= 0:
            raise LLMStoppedError(self._message())
        try:
            async with asyncio.timeout(left) as limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            stopped = LLMStoppedError(self._message())
            stopped.attempts = 1
            raise stopped from None

    def _message(self) -> str:
        return f"the deadline of {self._seconds:g} s has passed. Run again to continue: replies so far are cached."


class Budgeted(LLMWrapper):
    """Adds the cost to replies and stops when the budget or the deadline is used up."""

    def __init__(
        self, llm: LLM, prices: Prices, budget: Budget | None = None, deadline: Deadline | None = None
    ) -> None:
        super().__init__(llm)
        self._price = price_for(llm.name, prices, budget)
        self._budget = budget
        self._deadline = deadline or Deadline(None)
        self._longest_reply = 0
        # Per prompt: the number of replies and the tokens of the longest.
        self._replies: dict[str, tuple[int, int]] = {}

    async def complete(self, request: Request) -> Reply:
        """Return the reply with its cost."""
        async with self._deadline.watch():
            return await self._complete(request)

    async def _complete(self, request: Request) -> Reply:
        if self._budget is None or self._price is None:
            return self.add_cost(request, await self._llm.complete(request))
        estimate = partial(self.maximum_usd, request)
        reserved = await self._budget.reserve(estimate(), estimate)
        used = 0.0
        try:
            reply = self.add_cost(request, await self._llm.complete(request))
            used = reply.cost_usd or 0.0
        except asyncio.CancelledError:
            # The server may continue and charge for the call.
            used = reserved
            raise
        finally:
            self._budget.settle(reserved, used)
        return reply

    def maximum_usd(self, request: Request) -> float:
        """Return the estimated maximum cost of a call; 0 if the price is unknown."""
        if self._price is None:
            return 0.0
        sent, guessed = estimate_request(request)
        most = request.max_tokens or max(
            _LIKELY_MOST_TOKENS, _GUESS_MARGIN * guessed, round(_LONGEST_MARGIN * self._longest_reply)
        )
        replies, longest = self._replies.get(request.prompt, (0, 0))
        if replies >= _REPLIES_NEEDED:
            most = min(most, max(_LEARNED_MARGIN * longest, guessed))
        return self._price.cost_usd(_INPUT_MARGIN * sent, most)

    def add_cost(self, request: Request, reply: Reply) -> Reply:
        """Return a reply with its cost, and learn its length."""
        if self._price is None or reply.cost_usd is not None:
            return reply
        sent, received = reply.input_tokens, reply.output_tokens
        if (sent is None or received is None) and self._price != Price(0.0, 0.0):
            estimated, guessed = estimate_request(replace(request, guess=reply.text))
            sent, received = sent or estimated, received or guessed
        self._longest_reply = max(self._longest_reply, received or 0)
        replies, longest = self._replies.get(request.prompt, (0, 0))
        self._replies[request.prompt] = replies + 1, max(longest, received or 0)
        return replace(reply, cost_usd=self._price.cost_usd(sent or 0, received or 0))


def price_for(name: str, prices: Prices, budget: Budget | None) -> Price | None:
    """Return the price of a model. Raises if a budget is set and the price is unknown."""
    price = prices.find(name)
    if price is None and budget is not None:
        raise UsageError(f"the price of {name} is unknown, so the budget cannot be enforced. {_advise_price(name)}")
    return price
