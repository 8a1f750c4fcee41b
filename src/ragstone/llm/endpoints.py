"""Servers that implement OpenAI's protocol: addresses, keys and headers.

Keys are read from the environment when a model is opened. They never appear in names, reprs or messages; servers and
libraries may quote keys in errors, so these are redacted.
"""

from __future__ import annotations

import os
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from ragstone.data.codec import storable
from ragstone.errors import UsageError
from ragstone.http.addresses import Address, read_address

_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|key)[-_][A-Za-z0-9_\-]{8,}")
_SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL")
_MASK = "***"
# Shorter secrets are not masked, because they would mask ordinary words.
_SHORTEST_SECRET = 6
# Servers refuse longer headers.
_LONGEST_KEY = 8_000


def hide_secrets(text: str, known: Iterable[str] = ()) -> str:
    """Redact the known secrets, those in environment variables, and anything that looks like a key."""
    from_environment = (value for name, value in os.environ.items() if _SECRET_VARIABLE.search(name.upper()))
    secrets = {secret for secret in (*known, *from_environment) if len(secret) >= _SHORTEST_SECRET}
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, _MASK)
    return storable(_KEY_LIKE.sub(_MASK, text))


@dataclass(frozen=True)
class Endpoint:
    """One model at one address."""

    # As the user wrote it, with the provider.
    name: str
    # The server's name of the model; None if the address contains it.
    model: str | None
    # Without the last part: `chat/completions`, `embeddings` or `completions`.
    base: str = field(repr=False)
    query: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    # For messages: the address without secrets, and the environment variables that set it.
    shown: str
    key_variable: str
    address_variable: str
    lacks_key: bool = False
    # Further fields of every request body.
    body: Mapping[str, Any] = field(default_factory=dict)

    def check_key(self) -> None:
        """Raise before the first call if a required key is missing, or if a key cannot be sent in a header."""
        if self.lacks_key:
            raise UsageError(f"{self.name} needs a key: set {self.key_variable}.")
        for value in self.headers.values():
            if len(value) > _LONGEST_KEY:
                raise UsageError(
                    f"the key in {self.key_variable} has {len(value):,} characters. That is too long for a key."
                )
            if not (value.isascii() and value.isprintable()):
                raise UsageError(
                    f"the key in {self.key_variable} contains a line break or another character that no key has. "
                    "Copy it again, as one line."
                )

    def url(self, what: str) -> str:
        """Return the URL for one kind of request."""
        return f"{self.base}/{what}{'?' if self.query else ''}{self.query}"

    def hide_keys(self, text: str) -> str:
        """Redact keys in a server's message."""
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
    # Batches only; calls go through LiteLLM.
    "anthropic": _Server(
        ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"),
        ("ANTHROPIC_API_KEY",),
        "https://api.anthropic.com/v1",
        needs_key=True,
    ),
    # A system at an address of its own.
    "endpoint": _Server(("--system",), ("RAGSTONE_SYSTEM_KEY",)),
}
SERVERS = tuple(name for name in _SERVERS if name not in ("anthropic", "endpoint"))
_API_VERSION = "2024-10-21"


# One address, several servers of one model, or a file with their addresses, one per line.
BaseURL = str | Sequence[str] | None


def list_addresses(base_url: BaseURL) -> list[str]:
    """The addresses of a list, of which some may be files of addresses, or of one file; empty for one address or none."""
    found = []
    for text in [base_url] if isinstance(base_url, str) else base_url or ():
        if "://" not in text and os.path.isfile(text):
            with open(text, encoding="utf-8-sig", errors="replace") as stream:
                found += [address for line in stream if (address := line.partition("#")[0].strip())]
            if not found:
                raise UsageError(f"{text} has no addresses: write one per line.")
        elif not isinstance(base_url, str):
            found.append(text)
    return list(dict.fromkeys(found))


def find_endpoints(provider: str, model: str, base_url: BaseURL = None) -> list[Endpoint]:
    """Find the endpoints of a model at one address or at several."""
    addresses: list[Any] = list_addresses(base_url) or [base_url if isinstance(base_url, str) else None]
    return [find_endpoint(provider, model, address) for address in addresses]


def find_endpoint(provider: str, model: str, base_url: str | None = None) -> Endpoint:
    """Find the endpoint of a model from `--base-url` or the environment. A missing key is reported at the first call."""
    server = _SERVERS[provider]
    text = base_url or _first_set(server.addresses) or server.default
    if not text:
        raise UsageError(f"{provider}/ needs an address: set {server.addresses[0]} or --base-url.")
    # OLLAMA_HOST is often only a host and a port.
    address = read_address(text if "://" in text else f"http://{text}")
    key = _first_set(server.keys)
    make = {"azure": _azure, "dial": _dial, "anthropic": _anthropic}.get(provider, _plain)
    base, query, headers = make(address, model, key)
    # All secrets that a server could quote.
    scheme, _, token = (address.authorization or "").partition(" ")
    secrets = {key or "", *headers.values(), token}
    if scheme == "Basic":
        secrets.add(b64decode(token).decode().partition(":")[2])
    secrets |= {value for name, value in parse_qsl(query) if name != "api-version"}
    return Endpoint(
        name=f"{provider}/{model}",
        model=None if provider in ("azure", "dial") else model,
        base=base,
        query=query,
        headers=headers,
        secrets=tuple(secrets),
        shown=address.shown,
        key_variable=server.keys[0],
        address_variable=server.addresses[0],
        # Local servers over http usually need no key.
        lacks_key=server.needs_key and not headers and base.startswith("https:"),
    )


_Parts = tuple[str, str, Mapping[str, str]]


def _plain(address: Address, model: str, key: str | None) -> _Parts:  # noqa: ARG001  (the signature of all three)
    base, query = _split(address)
    if not urlsplit(base).path:
        base = f"{base}/v1"
    bearer = f"Bearer {key}" if key else None
    # Credentials in the address take precedence over the key.
    authorization = address.authorization or bearer
    return base, query, {"Authorization": authorization} if authorization else {}


def _anthropic(address: Address, model: str, key: str | None) -> _Parts:
    base, query, headers = _plain(address, model, None)
    return base, query, {**headers, **({"x-api-key": key} if key else {})}


def _azure(address: Address, model: str, key: str | None) -> _Parts:
    version = os.environ.get("AZURE_API_VERSION") or os.environ.get("OPENAI_API_VERSION")
    base, query = _split(address)
    return _deployment(address, (base.partition("/openai")[0], query), model, {"api-key": key} if key else {}, version)


def _dial(address: Address, model: str, key: str | None) -> _Parts:
    version = os.environ.get("DIAL_API_VERSION")
    return _deployment(address, _split(address), model, {"Api-Key": key} if key else {}, version)


def _deployment(
    address: Address, parts: tuple[str, str], model: str, headers: dict[str, str], version: str | None
) -> _Parts:
    base, query = parts
    if "api-version=" not in query:
        query = f"{query}{'&' if query else ''}api-version={quote(version or _API_VERSION)}"
    if address.authorization:
        headers = {**headers, "Authorization": address.authorization}
    return f"{base}/openai/deployments/{quote(model, safe='')}", query, headers


def _split(address: Address) -> tuple[str, str]:
    base, _, query = address.url.partition("?")
    return base.rstrip("/"), query


def _first_set(names: tuple[str, ...]) -> str | None:
    return next((value for name in names if (value := os.environ.get(name, "").strip())), None)
