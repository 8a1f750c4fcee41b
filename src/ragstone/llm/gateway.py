"""What all models of a run share, and the stack of wrappers through which every call goes."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragstone.errors import UsageError
from ragstone.http.client import HttpClient
from ragstone.llm.base import LLM
from ragstone.llm.budget import Budget, Budgeted, Deadline, price_for
from ragstone.llm.cache import Cache
from ragstone.llm.caching import Cached
from ragstone.llm.limits import Limited, Limiter
from ragstone.llm.models import Model, open_model
from ragstone.llm.prices import Prices, load_prices
from ragstone.llm.quoting import Quoting
from ragstone.llm.recording import Recorded
from ragstone.llm.retrying import Patience, Retrying


@dataclass(frozen=True)
class GatewaySettings:
    """What a user may choose about calls."""

    concurrency: int = 16
    # For one attempt.
    timeout_s: float = 120.0
    # For all calls together.
    deadline_s: float | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    cache: Cache | None = None
    budget: Budget | None = None
    prices: Prices = field(default_factory=load_prices)
    base_url: str | None = field(default=None, repr=False)
    patience: Patience = field(default_factory=Patience)

    def __post_init__(self) -> None:
        limits = (
            ("the number of calls at once", self.concurrency),
            ("the timeout", self.timeout_s),
            ("the deadline", self.deadline_s),
            ("the number of requests per minute", self.requests_per_minute),
            ("the number of tokens per minute", self.tokens_per_minute),
        )
        for what, value in limits:
            if value is not None and not value > 0:
                raise UsageError(f"{what} must be more than 0, not {value:g}")


class Gateway:
    """Opens models for one run. With `quoting` no call is made: replies are guesses, and calls are counted."""

    def __init__(self, settings: GatewaySettings, quoting: bool = False) -> None:
        self._settings = settings
        self._quoting = quoting
        self._client = HttpClient(settings.concurrency)
        self._limiter = Limiter(settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute)
        self._deadline = Deadline(settings.deadline_s)
        self._opened: list[LLM] = []

    def open_llm(self, model: Model) -> LLM:
        """A model with cache, budget, retries, limits and recording around it."""
        settings = self._settings
        opened = open_model(model, self._client, settings.timeout_s, settings.base_url)
        llm = opened.llm
        if self._quoting:
            llm = Quoting(llm.name, llm.signature, price_for(llm.name, settings.prices, settings.budget))
        else:
            opened.check()
            llm = Retrying(Limited(llm, self._limiter), settings.patience)
            llm = Budgeted(llm, settings.prices, settings.budget, self._deadline)
        if settings.cache is not None:
            llm = Cached(llm, settings.cache, opened.address, read_only=self._quoting)
        llm = Recorded(llm)
        self._opened.append(llm)
        return llm

    async def close(self) -> None:
        """Close all models and connections; called once, at the end of a run."""
        for llm in self._opened:
            await llm.close()
        self._opened.clear()
        await self._client.close()
