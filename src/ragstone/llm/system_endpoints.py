"""Addresses of systems that speak OpenAI's chat protocol: `http://host:8000/v1#model`, or a DIAL deployment's."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

from ragstone.http.addresses import read_address
from ragstone.llm.endpoints import Endpoint, find_endpoint

KEY_VARIABLE = "RAGSTONE_SYSTEM_KEY"
_DEPLOYMENT = re.compile(r"(?P<root>.*)/openai/deployments/(?P<name>[^/]+)")
_LAST = re.compile(r"/chat/completions/?$")
_UNNAMED = "default"


def find_system_endpoint(spec: str) -> Endpoint | None:
    """The endpoint at an address; None where the text is no address but a model's name."""
    parts = urlsplit(spec.strip())
    if parts.scheme not in ("http", "https"):
        return None
    path = _LAST.sub("", parts.path).rstrip("/")
    bare = parts._replace(path=path, fragment="")
    if found := _DEPLOYMENT.fullmatch(path):
        return find_endpoint("dial", unquote(found["name"]), bare._replace(path=found["root"]).geturl())
    return _plain_endpoint(bare.geturl(), unquote(parts.fragment) or _UNNAMED)


def _plain_endpoint(url: str, model: str) -> Endpoint:
    address = read_address(url)
    base, _, query = address.url.partition("?")
    key = os.environ.get(KEY_VARIABLE, "").strip()
    authorization = address.authorization or (f"Bearer {key}" if key else None)
    base = base.rstrip("/")
    return Endpoint(
        name=f"endpoint/{model}",
        model=model,
        base=base if urlsplit(base).path else f"{base}/v1",
        query=query,
        headers={"Authorization": authorization} if authorization else {},
        secrets=tuple(secret for secret in (key, authorization or "") if secret),
        shown=address.shown,
        key_variable=KEY_VARIABLE,
        address_variable="--system",
    )
