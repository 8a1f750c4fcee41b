"""Whether verdicts of a model are read from the probabilities of tokens or from JSON."""

from __future__ import annotations

import ipaddress
import re
from typing import Any
from urllib.parse import urlsplit

from ragstone.llm.endpoints import SERVERS, find_endpoint
from ragstone.tools.llama import is_llama

# Servers that run a model on the user's own machines.
_OWN_SERVERS = ("ollama", "llamacpp", "vllm")
_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)b(?![a-z])", re.IGNORECASE)
# Billions of parameters of a small model.
_SMALL = 9.0


def choose_verdicts(wanted: str, model: Any, base_url: str | None, repeats: int = 1) -> str:
    """`tokens`, `json`, or `auto`: tokens, and JSON where the server turns out to return no probabilities.

    `auto` is for models that are local or small. An openai/ name on this machine may be a proxy of a large one, so its
    size counts. Repeats ask for JSON, because they measure how far sampled replies agree.
    """
    if wanted != "auto":
        return wanted
    if is_llama(model):
        return "tokens"
    return "auto" if repeats == 1 and isinstance(model, str) and _is_local_or_small(model, base_url) else "json"


def _is_local_or_small(model: str, base_url: str | None) -> bool:
    provider, _, name = model.strip().partition("/")
    if provider not in SERVERS or not name:
        return False
    sizes = [float(size) for size in _SIZE.findall(name)]
    if sizes:
        return max(sizes) <= _SMALL
    return provider in _OWN_SERVERS and _is_loopback(find_endpoint(provider, name, base_url).base)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
