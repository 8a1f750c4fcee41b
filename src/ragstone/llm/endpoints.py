"""Servers that speak OpenAI's protocol: where they are, which key they want, and how they want it.

Keys are read from the environment when a model is opened. They are never part of a name, a repr or a message.
"""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, urlsplit

from ragstone.errors import UsageError
from ragstone.http.addresses import Address, read_address
from ragstone.llm.hiding import hide_secrets


@dataclass(frozen=True)
class Endpoint:
    """One model at one address."""

    # As the user named it, provider and all.
    name: str
    # As the server knows it; None where the address already says it.
    model: str | None
    # Up to the last part, which says what is asked for: `chat/completions` or `embeddings`.
    base: str = field(repr=False)
    query: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    # For messages: the address without secrets, and the variables that decide.
    shown: str
    key_variable: str
    address_variable: str
    lacks_key: bool = False

    def check_key(self) -> None:
        """Complain before the first call if a key is needed and there is none."""
        if self.lacks_key:
            raise UsageError(f"{self.name} needs a key: set {self.key_variable}.")

    def url(self, what: str) -> str:
        """The address for one kind of request."""
        return f"{self.base}/{what}{'?' if self.query else ''}{self.query}"

    def hide_keys(self, text: str) -> str:
        """A server's words without the keys that it may quote."""
        return hide_secrets(text, self.secrets)


@dataclass(frozen=True)
class _Server:
    """How to find one kind of server. The first variable that is set counts."""

    addresses: tuple[str, ...]
    keys: tuple[str, ...]
    default: str = ""
    needs_key: bool = False


_SERVERS = {
    "openai": _Server(
        ("OPENAI_BASE_URL", "OPENAI_API_BASE"), ("OPENAI_API_KEY",), "https://api.openai.com/v1", needs_key=True
    ),
    "azure": _Server(
        ("AZURE_API_BASE", "AZURE_OPENAI_ENDPOINT"), ("AZURE_API_KEY", "AZURE_OPENAI_API_KEY"), needs_key=True
    ),
    "dial": _Server(("DIAL_URL",), ("DIAL_API_KEY",), needs_key=True),
    "ollama": _Server(("OLLAMA_API_BASE", "OLLAMA_HOST"), ("OLLAMA_API_KEY",), "http://localhost:11434/v1"),
    "vllm": _Server(("VLLM_API_BASE",), ("VLLM_API_KEY",), "http://localhost:8000/v1"),
    "llamacpp": _Server(("LLAMACPP_API_BASE",), ("LLAMACPP_API_KEY",), "http://localhost:8080/v1"),
    "litellm_proxy": _Server(
        ("LITELLM_PROXY_API_BASE",), ("LITELLM_PROXY_API_KEY", "LITELLM_PROXY_KEY"), "http://localhost:4000/v1"
    ),
}
SERVERS = tuple(_SERVERS)
_AZURE_VERSION = "2024-10-21"
_DIAL_VERSION = "2024-10-21"


def find_endpoint(provider: str, model: str, base_url: str | None = None) -> Endpoint:
    """The endpoint of a model, from `--base-url` or the environment. A key may be missing until a call is made."""
    server = _SERVERS[provider]
    address = _find_address(provider, server, base_url)
    key = _first_set(server.keys)
    make = {"azure": _azure, "dial": _dial}.get(provider, _plain)
    base, query, headers = make(address, model, key)
    return Endpoint(
        name=f"{provider}/{model}",
        model=None if provider in ("azure", "dial") else model,
        base=base,
        query=query,
        headers=headers,
        secrets=_secrets(address, query, (key or "", *headers.values())),
        shown=address.shown,
        key_variable=server.keys[0],
        address_variable=server.addresses[0],
        # Servers on this machine or in the house mostly want none.
        lacks_key=server.needs_key and not headers and base.startswith("https:"),
    )


def _secrets(address: Address, query: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """All that a server could quote back and nobody should read."""
    scheme, _, token = (address.authorization or "").partition(" ")
    found = {*values, token}
    if scheme == "Basic":
        found.add(b64decode(token).decode().partition(":")[2])
    found |= {value for name, value in parse_qsl(query) if name != "api-version"}
    return tuple(found)


def _find_address(provider: str, server: _Server, base_url: str | None) -> Address:
    text = base_url or _first_set(server.addresses) or server.default
    if not text:
        raise UsageError(f"{provider}/ needs an address: set {server.addresses[0]}, or give --base-url.")
    # OLLAMA_HOST is often a bare host and port.
    return read_address(text if "://" in text else f"http://{text}")


_Parts = tuple[str, str, Mapping[str, str]]


def _plain(address: Address, model: str, key: str | None) -> _Parts:  # noqa: ARG001  (one shape for all kinds)
    base, query = _split(address)
    if not urlsplit(base).path:
        base = f"{base}/v1"
    bearer = f"Bearer {key}" if key else None
    # Credentials within the address were meant for this server; one header holds only one of both.
    authorization = address.authorization or bearer
    return base, query, {"Authorization": authorization} if authorization else {}


def _azure(address: Address, model: str, key: str | None) -> _Parts:
    base, query = _split(address)
    version = os.environ.get("AZURE_API_VERSION") or os.environ.get("OPENAI_API_VERSION") or _AZURE_VERSION
    root = base.partition("/openai")[0]
    headers = {"api-key": key} if key else {}
    return f"{root}/openai/deployments/{quote(model, safe='')}", _versioned(query, version), _with(address, headers)


def _dial(address: Address, model: str, key: str | None) -> _Parts:
    base, query = _split(address)
    version = os.environ.get("DIAL_API_VERSION") or _DIAL_VERSION
    headers = {"Api-Key": key} if key else {}
    return f"{base}/openai/deployments/{quote(model, safe='')}", _versioned(query, version), _with(address, headers)


def _with(address: Address, headers: dict[str, str]) -> dict[str, str]:
    return {**headers, "Authorization": address.authorization} if address.authorization else headers


def _versioned(query: str, version: str) -> str:
    return query if "api-version=" in query else f"{query}{'&' if query else ''}api-version={quote(version)}"


def _split(address: Address) -> tuple[str, str]:
    base, _, query = address.url.partition("?")
    return base.rstrip("/"), query


def _first_set(names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := os.environ.get(name, "").strip())), None)
