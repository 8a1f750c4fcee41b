"""From a model's name to the provider that answers for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ragstone.errors import UsageError
from ragstone.http.addresses import show_address
from ragstone.http.client import HttpClient
from ragstone.llm.base import LLM
from ragstone.llm.endpoints import SERVERS, Endpoint, find_endpoint
from ragstone.llm.loading import split_file_name

Model = str | Callable[[list[str]], Any] | LLM


class Opened(NamedTuple):
    """A provider, and the address at which it asks (without secrets); empty where there is none or only one."""

    llm: LLM
    address: str = ""
    # Complains about what is missing for a real call: a key, a package. A quote needs neither.
    check: Callable[[], None] = lambda: None


def open_model(model: Model, client: HttpClient, timeout_s: float, base_url: str | None = None) -> Opened:
    """The provider of a model that is given by name, as a function, or as an LLM already."""
    if isinstance(model, LLM):
        return Opened(model)
    if not isinstance(model, str):
        from ragstone.llm.providers.function import FunctionLLM  # noqa: PLC0415

        return Opened(FunctionLLM(model))
    if found := split_file_name(model):
        from ragstone.llm.providers.function import load_function  # noqa: PLC0415

        return Opened(load_function(found.path, found.name))
    provider, name = split_name(model)
    if provider in SERVERS:
        from ragstone.llm.providers.openai import OpenAIChat  # noqa: PLC0415

        endpoint = find_endpoint(provider, name, base_url)
        return Opened(OpenAIChat(endpoint, client, timeout_s), endpoint.shown, endpoint.check_key)
    from ragstone.llm.providers.litellm import LiteLLM  # noqa: PLC0415

    llm = LiteLLM(model, timeout_s, base_url)
    return Opened(llm, show_address(base_url or ""), llm.check_installed)


def find_embedding_endpoint(name: str, base_url: str | None = None) -> Endpoint:
    """The endpoint of a model of embeddings."""
    return _find_server(name, base_url, f"embeddings of '{name}' cannot be asked for", "local is a model")


def find_scoring_endpoint(name: str, base_url: str | None = None) -> Endpoint:
    """The endpoint of a model that says how likely texts are."""
    return _find_server(
        name, base_url, f"probabilities of '{name}' cannot be asked for", "local/NAME and hf/NAME are models"
    )


def _find_server(name: str, base_url: str | None, trouble: str, here: str) -> Endpoint:
    provider, model = split_name(name)
    if provider not in SERVERS:
        known = ", ".join(f"{server}/" for server in SERVERS)
        raise UsageError(f"{trouble}. Names begin with {known}; {here} on this machine.")
    return find_endpoint(provider, model, base_url)


def split_name(model: str) -> tuple[str, str]:
    """Provider and model of a name such as `openai/gpt-4o-mini`."""
    provider, slash, name = model.strip().partition("/")
    if not slash or not provider or not name:
        hint = f"openai/{model}" if model and "/" not in model else "openai/gpt-4o-mini"
        raise UsageError(
            f"'{model}' does not say who serves the model. Write provider/model, such as {hint} or ollama/llama3.1; "
            "or file.py:function for a function of your own."
        )
    return provider, name
