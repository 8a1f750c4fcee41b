"""Chat completions over HTTP, as OpenAI, Azure, DIAL, vLLM, Ollama, llama.cpp and LiteLLM's proxy offer them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from mimetypes import guess_type
from typing import Any

from ragstone.http.client import HttpClient, HttpReply
from ragstone.llm.base import Message, Reply, Request
from ragstone.llm.endpoints import Endpoint
from ragstone.llm.failures import LLMBusyError, LLMRefusedError
from ragstone.llm.providers.statuses import explain_status, server_words
from ragstone.llm.providers.transport import Transport

_WHAT = "chat/completions"
# Some models refuse a parameter that all others want: it is left out from then on, or called by its newer name.
_NEWER_NAMES = {"max_tokens": "max_completion_tokens"}
_OPTIONAL = ("temperature", "max_tokens", "top_logprobs", "logprobs", "seed")
# The most that OpenAI's servers give.
ALTERNATIVES = 20


class OpenAIChat:
    """A model behind an endpoint that speaks OpenAI's chat protocol."""

    def __init__(self, endpoint: Endpoint, client: HttpClient, timeout_s: float = 120.0) -> None:
        self._endpoint = endpoint
        self._transport = Transport(endpoint, client, timeout_s)
        self._unwanted: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The model's name with its provider."""
        return self._endpoint.name

    @property
    def signature(self) -> str:
        """The name: the same model at another address is the same model."""
        return self._endpoint.name

    def __repr__(self) -> str:
        return f"OpenAIChat({self.name!r} at {self._endpoint.shown!r})"

    async def complete(self, request: Request) -> Reply:
        """One request, repeated only where the server refuses a parameter that can be left out."""
        while True:
            unwanted = self._unwanted
            started = time.perf_counter()
            reply = await self._transport.post(_WHAT, self._body(request, unwanted))
            latency_s = time.perf_counter() - started
            if reply.status == 200:
                return _read(reply.body, self.name, latency_s)
            if (refused := _refused_parameter(reply, unwanted)) is None:
                raise explain_status(reply, self._endpoint, request)
            self._unwanted = unwanted | {refused}

    async def close(self) -> None:
        """Nothing to give back: the client is the gateway's."""

    def _body(self, request: Request, unwanted: frozenset[str]) -> dict[str, Any]:
        wanted: dict[str, Any] = {"temperature": request.temperature}
        if request.max_tokens is not None:
            wanted["max_tokens"] = request.max_tokens
        if request.logprobs and "logprobs" not in unwanted:
            wanted["logprobs"] = True
            wanted["top_logprobs"] = ALTERNATIVES
        if request.repeat:
            # The same seed and temperature would give the same reply again.
            wanted["seed"] = request.repeat
        body: dict[str, Any] = {} if self._endpoint.model is None else {"model": self._endpoint.model}
        body["messages"] = [_message(message) for message in request.messages]
        for name, value in wanted.items():
            if name not in unwanted:
                body[name] = value
            elif name in _NEWER_NAMES:
                body[_NEWER_NAMES[name]] = value
        if request.reply_format != "text":
            body["response_format"] = response_format(request)
        return body


def _message(message: Message) -> dict[str, Any]:
    """A turn as servers take it; documents go where DIAL's applications look for them."""
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.documents:
        attachments = [
            {
                "type": guess_type(url)[0] or "application/octet-stream",
                "title": url.rpartition("/")[2] or url,
                "url": url,
            }
            for url in message.documents
        ]
        plain["custom_content"] = {"attachments": attachments}
    return plain


def response_format(request: Request) -> dict[str, Any]:
    """The format of a reply in OpenAI's words."""
    if request.reply_format == "json_object" or request.schema is None:
        return {"type": "json_object"}
    title = str(request.schema.get("title", "reply"))
    name = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in title)[:64] or "reply"
    return {"type": "json_schema", "json_schema": {"name": name, "schema": dict(request.schema), "strict": True}}


def _refused_parameter(reply: HttpReply, unwanted: frozenset[str]) -> str | None:
    """The optional parameter that a 400 complains about and that was sent, if it is about one."""
    if reply.status not in (400, 422):
        return None
    code, words = server_words(reply)
    if not any(word in f"{code} {words}".lower() for word in ("unsupported", "not support", "unknown", "unrecognized")):
        return None
    return next((name for name in _OPTIONAL if name in words and name not in unwanted), None)


def _read(body: bytes, name: str, latency_s: float) -> Reply:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise LLMBusyError(f"{name} sent a reply that is not JSON") from None
    return read_choice(data, name, latency_s)


def read_choice(data: Any, name: str, latency_s: float) -> Reply:
    """The first choice of a reply; a reply that has none is worth another try."""
    try:
        choice = data["choices"][0]
        message = choice["message"]
        text = _text(message.get("content"))
    except (KeyError, IndexError, TypeError, AttributeError):
        raise LLMBusyError(f"{name} sent a reply that is no chat completion") from None
    finish_reason = str(choice.get("finish_reason") or "stop")
    if refusal := message.get("refusal"):
        raise LLMRefusedError(f"{name} refused: {str(refusal)[:200]}")
    if finish_reason == "content_filter" and not text:
        raise LLMRefusedError(f"the content filter of {name} held the reply back")
    usage = data.get("usage")
    return Reply(
        text=text,
        model=name,
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        finish_reason=finish_reason,
        logprobs=_logprobs(choice.get("logprobs")),
        alternatives=_alternatives(choice.get("logprobs")),
        latency_s=latency_s,
        attachments=_attachments(message.get("custom_content")),
    )


def _attachments(beside: Any) -> tuple[Mapping[str, Any], ...]:
    found = beside.get("attachments") if isinstance(beside, Mapping) else None
    return tuple(item for item in found if isinstance(item, Mapping)) if isinstance(found, list) else ()


def _text(content: Any) -> str:
    """The content as one text; servers with several kinds of content send it in parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else str(part.get("text") or "") for part in content)


def _count(usage: Any, key: str) -> int | None:
    value = usage.get(key) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _logprobs(found: Any) -> tuple[tuple[str, float], ...] | None:
    tokens = found.get("content") if isinstance(found, Mapping) else None
    if not isinstance(tokens, list):
        return None
    try:
        return tuple((str(token["token"]), float(token["logprob"])) for token in tokens)
    except (KeyError, TypeError, ValueError):
        return None


def _alternatives(found: Any) -> tuple[tuple[tuple[str, float], ...], ...] | None:
    tokens = found.get("content") if isinstance(found, Mapping) else None
    if not isinstance(tokens, list):
        return None
    try:
        return tuple(
            tuple((str(other["token"]), float(other["logprob"])) for other in token["top_logprobs"]) for token in tokens
        )
    except (KeyError, TypeError, ValueError):
        return None
