"""What all models of a run share, and the stack of wrappers through which every call goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragstone.errors import UsageError
from ragstone.http.client import HttpClient
from ragstone.llm.base import LLM
from ragstone.llm.budget import Budget, Budgeted, Deadline, price_for
from ragstone.llm.cache import Cache
from ragstone.llm.caching import Cached
from ragstone.llm.limits import Limited, Limiter
from ragstone.llm.models import Model, Opened, find_embedding_endpoint, find_scoring_endpoint, open_model
from ragstone.llm.offline import Offline
from ragstone.llm.prices import Prices, load_prices
from ragstone.llm.quoting import Quoting
from ragstone.llm.recording import Recorded
from ragstone.llm.retrying import Patience, Retrying

if TYPE_CHECKING:
    from ragstone.llm.embeddings import Embedder
    from ragstone.llm.endpoints import Endpoint
    from ragstone.llm.scoring import RemoteScorer


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
    # Only what is in the cache is answered.
    offline: bool = False
    # The limits of others, where this gateway is one of many.
    limiter: Limiter | None = None

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
        self._limiter = settings.limiter or Limiter(
            settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute
        )
        self._deadline = Deadline(settings.deadline_s)
        self._llms: dict[str | int, LLM] = {}
        self._embedders: list[Embedder] = []

    def open_llm(self, model: Model, version: str = "") -> LLM:
        """A model with cache, budget, retries, limits and recording around it; the same one for the same model.

        `version` tells one state of what answers under the name from the next: replies of another one are not used.
        """
        key = f"{model} {version}" if isinstance(model, str) else id(model)
        if key not in self._llms:
            settings = self._settings
            opened = open_model(model, self._client, settings.timeout_s, settings.base_url)
            self._llms[key] = self._keep(_of_version(opened, version))
        return self._llms[key]

    def open_endpoint(self, endpoint: Endpoint, version: str = "") -> LLM:
        """The model at an address that was found already, with the same around it."""
        key = f"{endpoint.name} at {endpoint.shown} {version}"
        if key not in self._llms:
            from ragstone.llm.providers.openai import OpenAIChat  # noqa: PLC0415

            provider = OpenAIChat(endpoint, self._client, self._settings.timeout_s)
            self._llms[key] = self._keep(_of_version(Opened(provider, endpoint.shown, endpoint.check_key), version))
        return self._llms[key]

    def open_embedder(self, name: str) -> Embedder:
        """A model of embeddings with the same around it."""
        from ragstone.llm.embeddings import BatchedEmbedder  # noqa: PLC0415  (numpy waits until it is wanted)
        from ragstone.llm.providers.embeddings import OpenAIEmbeddings  # noqa: PLC0415

        settings = self._settings
        endpoint = find_embedding_endpoint(name, settings.base_url)
        model = self._wrap(OpenAIEmbeddings(endpoint, self._client, settings.timeout_s), endpoint.check_key)
        embedder = BatchedEmbedder(model, settings.cache, endpoint.shown, settings.concurrency, self._quoting)
        self._embedders.append(embedder)
        return embedder

    def open_scorer(self, name: str) -> RemoteScorer:
        """A model that says how likely texts are, with the same around it."""
        from ragstone.llm.providers.completions import OpenAICompletions  # noqa: PLC0415
        from ragstone.llm.scoring import RemoteScorer  # noqa: PLC0415

        endpoint = find_scoring_endpoint(name, self._settings.base_url)
        provider = OpenAICompletions(endpoint, self._client, self._settings.timeout_s)
        key = f"scorer {name}"
        if key not in self._llms:
            self._llms[key] = self._keep(Opened(provider, f"{endpoint.shown} completions", endpoint.check_key))
        return RemoteScorer(self._llms[key])

    def _keep(self, opened: Opened) -> LLM:
        settings = self._settings
        llm = self._wrap(opened.llm, opened.check)
        if settings.cache is not None:
            llm = Cached(llm, settings.cache, opened.address, read_only=self._quoting)
        return Recorded(llm)

    def _wrap(self, llm: LLM, check: Callable[[], None]) -> LLM:
        """A model behind limits, retries and budget, or its quoting double."""
        settings = self._settings
        if self._quoting:
            return Quoting(llm.name, llm.signature, price_for(llm.name, settings.prices, settings.budget))
        if settings.offline:
            return Offline(llm)
        check()
        retrying = Retrying(Limited(llm, self._limiter), settings.patience)
        return Budgeted(retrying, settings.prices, settings.budget, self._deadline)

    @property
    def timeout_s(self) -> float:
        """How long one attempt may take."""
        return self._settings.timeout_s

    @property
    def problem(self) -> str | None:
        """What went wrong beside the calls and does not fail a run: replies that could not be kept."""
        return self._settings.cache.problem if self._settings.cache else None

    async def close(self) -> None:
        """Close all models and connections; called once, at the end of a run."""
        for llm in self._llms.values():
            await llm.close()
        for embedder in self._embedders:
            await embedder.close()
        self._llms.clear()
        self._embedders.clear()
        await self._client.close()


def _of_version(opened: Opened, version: str) -> Opened:
    return opened._replace(address=f"{opened.address} version {version}") if version else opened
