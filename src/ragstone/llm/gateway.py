"""The gateway: from a model name to a provider inside the stack of wrappers that all models of a run share.

Token probabilities of texts by a model behind the gateway.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ragstone.errors import UsageError
from ragstone.http.addresses import show_address
from ragstone.http.client import HttpClient
from ragstone.http.retry import Patience
from ragstone.llm.base import LLM, Message, Request
from ragstone.llm.batch_calls import Batched
from ragstone.llm.batches import BatchAPI, BatchSettings
from ragstone.llm.budget import Budget, Budgeted, Deadline, Prices, load_prices, price_for
from ragstone.llm.cache import Cache, Cached, speed_name
from ragstone.llm.concurrency import gather_then_raise
from ragstone.llm.endpoint_pool import EndpointPool
from ragstone.llm.endpoints import SERVERS, BaseURL, Endpoint, find_endpoint, find_endpoints, list_addresses
from ragstone.llm.limits import Limited, Limiter
from ragstone.llm.user_code import split_file_name
from ragstone.llm.wrappers import Offline, Quoting, Recorded, Retrying

if TYPE_CHECKING:
    from ragstone.llm.embeddings import BatchedEmbedder
    from ragstone.llm.providers.openai import OpenAIEndpoint


Model = str | Callable[[list[str]], Any] | LLM
_MOST_BATCH_BYTES = 2 * 1024**3


class _Opened(NamedTuple):
    """A provider and its address without secrets, which is empty if there is none."""

    llm: LLM
    address: str = ""
    # Raises if a key or a package is missing. Not called for quotes.
    check: Callable[[], None] = lambda: None
    # The batch API, if batches are wanted.
    batches: BatchAPI | None = None


def _open_model(
    model: Model, client: HttpClient, timeout_s: float, base_url: BaseURL = None, body: Mapping[str, Any] | None = None
) -> _Opened:
    """Open the provider of a model that is a name, a function or an LLM. `body` has further fields of its requests."""
    if isinstance(model, LLM):
        return _Opened(model)
    if not isinstance(model, str):
        from ragstone.llm.providers.python_function import FunctionLLM  # noqa: PLC0415

        return _Opened(FunctionLLM(model))
    if in_file := split_file_name(model):
        from ragstone.llm.providers.python_function import load_function  # noqa: PLC0415

        return _Opened(load_function(*in_file))
    provider, name = _split_name(model)
    if provider in SERVERS:
        from ragstone.llm.providers.openai import OpenAIChat  # noqa: PLC0415

        endpoints = [replace(one, body=body or {}) for one in find_endpoints(provider, name, base_url)]
        return _open_servers(OpenAIChat, endpoints, base_url, client, timeout_s)
    if body:
        names = ", ".join(f"{server}/" for server in SERVERS)
        raise UsageError(f"{model} takes no parameters. They are passed to functions, commands, addresses and {names}.")
    from ragstone.llm.providers.litellm import LiteLLM  # noqa: PLC0415

    llm = LiteLLM(model, timeout_s, address := _only_address(base_url, model))
    return _Opened(llm, show_address(address or ""), llm.check_installed)


def _open_servers(
    kind: type[OpenAIEndpoint], endpoints: Sequence[Endpoint], base_url: BaseURL, client: HttpClient, timeout_s: float
) -> _Opened:
    """Open a model at one address, or at several: these are not part of the cache key, because any of them may reply."""
    llms: list[Any] = [kind(endpoint, client, timeout_s) for endpoint in endpoints]
    if not list_addresses(base_url):
        return _Opened(llms[0], endpoints[0].shown, endpoints[0].check_key)
    pool = EndpointPool(list(zip((endpoint.shown for endpoint in endpoints), llms, strict=True)))
    # They have the same key, which only some of the addresses need.
    return _Opened(pool, check=max(endpoints, key=lambda endpoint: endpoint.lacks_key).check_key)


def _only_address(base_url: BaseURL, model: str) -> str | None:
    if len(addresses := list_addresses(base_url)) > 1:
        raise UsageError(f"{model} takes one address: name one --base-url.")
    return addresses[0] if addresses else str(base_url) if base_url else None


def open_batches(model: str, base_url: BaseURL, folder: str | None, client: HttpClient, timeout_s: float) -> _Opened:
    """Open a model and its batch API; with a folder, files in place of the API."""
    provider, name = _split_name(model)
    base_url = _only_address(base_url, f"{model} in batches")
    if provider == "anthropic" and folder is None:
        from ragstone.llm.providers.anthropic import VERSION, AnthropicBatches, AnthropicChat  # noqa: PLC0415

        endpoint = find_endpoint(provider, name, base_url)
        endpoint = replace(endpoint, headers={**endpoint.headers, **VERSION})
        messages = AnthropicChat(endpoint, client, timeout_s)
        batches: BatchAPI = AnthropicBatches(messages, endpoint, client, timeout_s)
        # The address is that of LiteLLM's calls, so that both find each other's replies in the cache.
        return _Opened(messages, show_address(base_url or ""), endpoint.check_key, batches)
    if provider == "openai" or (folder is not None and provider in SERVERS):
        from ragstone.llm.providers.openai import OpenAIChat  # noqa: PLC0415
        from ragstone.llm.providers.openai_batches import BatchFiles, OpenAIBatches  # noqa: PLC0415

        endpoint = find_endpoint(provider, name, base_url)
        if endpoint.model is not None:
            chat = OpenAIChat(endpoint, client, timeout_s)
            if folder is not None:
                return _Opened(chat, endpoint.shown, batches=BatchFiles(chat, endpoint, folder))
            batches = OpenAIBatches(chat, endpoint, client, timeout_s)
            return _Opened(chat, endpoint.shown, endpoint.check_key, batches)
    raise UsageError(
        f"{model} has no batches. --batch needs a model of openai/ or anthropic/; --batch-folder writes files for "
        "vllm/ and other servers with OpenAI's protocol. Repeat the command without it."
    )


def _find_servers(name: str, base_url: BaseURL, output: str, local: str) -> list[Endpoint]:
    """Find the endpoints of a model of embeddings or token probabilities."""
    provider, model = _split_name(name)
    if provider not in SERVERS:
        prefixes = ", ".join(f"{server}/" for server in SERVERS)
        raise UsageError(f"'{name}' has no {output}. Names begin with {prefixes}; {local} run on this machine.")
    return find_endpoints(provider, model, base_url)


def _split_name(model: str) -> tuple[str, str]:
    """Split a name such as `openai/gpt-4o-mini` into provider and model."""
    provider, slash, name = model.strip().partition("/")
    if not slash or not provider or not name:
        hint = f"openai/{model}" if model and "/" not in model else "openai/gpt-4o-mini"
        raise UsageError(
            f"'{model}' has no provider. Write provider/model, for example {hint} or ollama/llama3.1, "
            "or file.py:function for your own function."
        )
    return provider, name


@dataclass(frozen=True)
class GatewaySettings:
    """Options for model calls."""

    concurrency: int = 16
    # Per attempt.
    timeout_s: float = 120.0
    # For all calls of the run.
    deadline_s: float | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    cache: Cache | None = None
    budget: Budget | None = None
    prices: Prices = field(default_factory=load_prices)
    base_url: BaseURL = field(default=None, repr=False)
    patience: Patience = field(default_factory=Patience)
    # Return cached replies only.
    offline: bool = False
    # Limits shared with other gateways.
    limiter: Limiter | None = None
    # Ask language models in batches.
    batch: BatchSettings | None = None

    def __post_init__(self) -> None:
        limits = (
            ("the number of concurrent calls", self.concurrency),
            ("the timeout", self.timeout_s),
            ("the deadline", self.deadline_s),
            ("the number of requests per minute", self.requests_per_minute),
            ("the number of tokens per minute", self.tokens_per_minute),
        )
        for option, value in limits:
            if value is not None and not value > 0:
                raise UsageError(f"{option} must be more than 0, not {value:g}")


class Gateway:
    """Opens models for one run. With `quoting`, no call is made: replies are guesses, and calls are counted."""

    def __init__(self, settings: GatewaySettings, quoting: bool = False) -> None:
        self._settings = settings
        self._quoting = quoting
        self.timeout_s = settings.timeout_s
        self._client = HttpClient(settings.concurrency)
        # Results of batches are large.
        self._batch_client = HttpClient(settings.concurrency, _MOST_BATCH_BYTES)
        self._limiter = settings.limiter or Limiter(
            settings.concurrency, settings.requests_per_minute, settings.tokens_per_minute
        )
        self._deadline = Deadline(settings.deadline_s)
        self._llms: dict[str | int, LLM] = {}
        self._embedders: list[BatchedEmbedder] = []
        self._pools: list[EndpointPool] = []

    def open_llm(self, model: Model, version: str = "", body: Mapping[str, Any] | None = None) -> LLM:
        """Open a model with cache, budget, retries, limits and recording; the same object for the same model.

        `version` is part of the cache key, so that replies of another version are not used. `body` has further fields of its
        requests; the version must name them.
        """
        key = f"{model} {version}" if isinstance(model, str) else id(model)
        if key not in self._llms:
            settings = self._settings
            if settings.batch and isinstance(model, str) and not split_file_name(model):
                folder = settings.batch.folder
                opened = open_batches(model, settings.base_url, folder, self._batch_client, settings.timeout_s)
            else:
                opened = _open_model(model, self._client, settings.timeout_s, settings.base_url, body)
            self._llms[key] = self._keep(opened, version)
        return self._llms[key]

    def open_endpoint(self, endpoint: Endpoint, version: str = "") -> LLM:
        """Open the model at an endpoint, with the same wrappers."""
        key = f"{endpoint.name} at {endpoint.shown} {version}"
        if key not in self._llms:
            from ragstone.llm.providers.openai import OpenAIChat  # noqa: PLC0415

            chat = _open_servers(OpenAIChat, [endpoint], None, self._client, self.timeout_s)
            self._llms[key] = self._keep(chat, version)
        return self._llms[key]

    def open_embedder(self, name: str) -> BatchedEmbedder:
        """Open an embedding model with the same wrappers."""
        from ragstone.llm.embeddings import BatchedEmbedder  # noqa: PLC0415  (numpy is slow to import)
        from ragstone.llm.providers.openai_vectors import OpenAIEmbeddings  # noqa: PLC0415

        settings = self._settings
        endpoints = _find_servers(name, settings.base_url, "embeddings", "local and local/NAME")
        opened = _open_servers(OpenAIEmbeddings, endpoints, settings.base_url, self._client, settings.timeout_s)
        model = self._wrap(opened.llm, opened.check)
        embedder = BatchedEmbedder(model, settings.cache, opened.address, settings.concurrency, self._quoting)
        self._embedders.append(embedder)
        return embedder

    def open_scorer(self, name: str) -> RemoteScorer:
        """Open a model of token probabilities with the same wrappers."""
        from ragstone.llm.providers.openai_vectors import OpenAICompletions  # noqa: PLC0415

        settings = self._settings
        endpoints = _find_servers(name, settings.base_url, "token probabilities", "local/NAME and hf/NAME")
        key = f"scorer {name}"
        if key not in self._llms:
            opened = _open_servers(OpenAICompletions, endpoints, settings.base_url, self._client, settings.timeout_s)
            self._llms[key] = self._keep(opened._replace(address=f"{opened.address} completions".strip()))
        return RemoteScorer(self._llms[key])

    def _keep(self, opened: _Opened, version: str = "") -> LLM:
        address = f"{opened.address} version {version}" if version else opened.address
        llm = self._wrap(opened.llm, opened.check, address, in_batches=opened.batches is not None)
        if opened.batches and not self._quoting and not self._settings.offline:
            llm = self._batch(llm, opened.batches, address)
        if self._settings.cache is not None:
            llm = Cached(llm, self._settings.cache, address, read_only=self._quoting)
        return Recorded(llm)

    def _batch(self, llm: LLM, batches: BatchAPI, address: str) -> LLM:
        """Put a model that makes calls behind its batch API."""
        settings = self._settings
        if settings.batch is None or settings.cache is None:
            raise UsageError("batches need the cache for their replies: repeat the command without --no-cache.")
        meter = Budgeted(llm, settings.prices.for_batches(), settings.budget)
        limits = (settings.budget, self._deadline, settings.patience)
        return Batched(llm, batches, settings.cache, address, settings.batch, meter, *limits)

    def _wrap(self, llm: LLM, check: Callable[[], None], address: str = "", in_batches: bool = False) -> LLM:
        """Wrap a model in limits, retries and budget, or for a quote."""
        settings = self._settings
        if isinstance(llm, EndpointPool):
            self._pools.append(llm)
        if self._quoting:
            speed = settings.cache.read_speed(speed_name(llm, address)) if settings.cache else None
            price = price_for(llm.name, settings.prices, settings.budget)
            return Quoting(llm, price, speed, settings.prices.for_batches().find(llm.name) if in_batches else None)
        if settings.offline:
            return Offline(llm)
        check()
        retrying = Retrying(Limited(llm, self._limiter), settings.patience)
        return Budgeted(retrying, settings.prices, settings.budget, self._deadline)

    @property
    def problem(self) -> str | None:
        """A problem that does not fail the run: replies that could not be stored, or servers that failed."""
        found = [getattr(self._settings.cache, "problem", None), *(pool.problem for pool in self._pools)]
        return "; ".join(filter(None, found)) or None

    async def close(self) -> None:
        """Close all models and connections. Called once, at the end of a run."""
        for llm in self._llms.values():
            await llm.close()
        for embedder in self._embedders:
            await embedder.close()
        self._llms.clear()
        self._embedders.clear()
        await self._client.close()
        await self._batch_client.close()


# Separates the text from what precedes it, as with local models.
_BREAK = "\n"
# Characters that are sent of the text and of what precedes it; as many as local models read.
_MOST_TEXT, _MOST_BEFORE = 2_000, 6_000


class RemoteScorer:
    """Scores texts with a model that returns the log-probabilities of a given text."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self.name, self.signature = llm.name, llm.signature

    async def log_probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[list[float]]:
        """Return the natural-log probability of each token, one list per text."""
        return await gather_then_raise(self._score(before, text) for before, text in pairs)

    async def _score(self, before: str, text: str) -> list[float]:
        if not text:
            return []
        messages = (Message("user", before[:_MOST_BEFORE] + _BREAK), Message("assistant", text[:_MOST_TEXT]))
        reply = await self._llm.complete(Request(messages, prompt="probabilities", max_tokens=1, logprobs=True))
        # A quote has no log-probabilities.
        return [value for _, value in reply.logprobs] if reply.logprobs is not None else [-1.0]
