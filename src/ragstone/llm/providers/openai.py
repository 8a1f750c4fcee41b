"""Chat completions over HTTP: OpenAI, Azure, DIAL, vLLM, Ollama, llama.cpp and the LiteLLM proxy."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from mimetypes import guess_type
from typing import Any

from ragstone.http.addresses import show_address
from ragstone.http.client import HttpClient, HttpError, HttpReply
from ragstone.http.retry import is_busy, read_retry_after
from ragstone.llm.base import (
    LLMAccessError,
    LLMBusyError,
    LLMGoneError,
    LLMRefusedError,
    LLMUnreachableError,
    Message,
    Reply,
    Request,
    SentImage,
    UnsupportedFormatError,
    read_logprobs,
)
from ragstone.llm.endpoints import Endpoint

_MOST_SHOWN = 200
_MOST_READ = 10_000
_OUT_OF_MONEY = ("insufficient_quota", "insufficient_credits", "billing_hard_limit", "exceeded your current quota")
_TOO_LONG = (
    *("context_length", "context length", "context size", "context window", "maximum context", "too many tokens"),
    *("prompt is too long", "input is too long", "exceeds the maximum number of tokens", "max_model_len"),
)
_FILTERED = ("content_filter", "content management policy", "moderation", "flagged", "safety", "responsibleai")
_FORMAT = (
    *("response_format", "json_schema", "json_object", "json mode", "structured output", "guided", "grammar"),
    *("output_config", "output_format"),
)


# Some models refuse a parameter. It is omitted from then on, or sent under its newer name.
_NEWER_NAMES = {"max_tokens": "max_completion_tokens"}
_OPTIONAL = ("temperature", "max_tokens", "top_logprobs", "logprobs", "seed")
# The maximum of OpenAI's servers.
ALTERNATIVES = 20
# What they send as the log-probability of a token that cannot occur.
_NEVER = -9999.0


class OpenAIEndpoint:
    """Base of the models behind an endpoint that implements OpenAI's protocol."""

    def __init__(self, endpoint: Endpoint, client: HttpClient, timeout_s: float = 120.0) -> None:
        # The same model at another address has the same signature.
        self.name = self.signature = endpoint.name
        self._endpoint = endpoint
        self._client = client
        self._timeout_s = timeout_s
        self._has_answered = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self._endpoint.shown!r})"

    async def close(self) -> None:
        """Do nothing: the gateway owns the client."""

    async def _post(self, what: str, body: dict[str, Any]) -> HttpReply:
        """Return the server's reply with any status, or raise an error that says whether to retry."""
        endpoint = self._endpoint
        model = {} if endpoint.model is None else {"model": endpoint.model}
        try:
            url = endpoint.url(what)
            fields = {**model, **body, **endpoint.body}
            reply = await self._client.post_json(url, fields, endpoint.headers, self._timeout_s)
        except HttpError as error:
            raise self._explain(error) from None
        self._has_answered = True
        return reply

    def _explain(self, error: HttpError) -> Exception:
        message = str(error)
        if error.kind == "certificate":
            return LLMAccessError(message)
        if error.kind == "size":
            return LLMRefusedError(message)
        if error.kind == "connect" and self._has_answered:
            return LLMGoneError(message)
        if error.kind == "connect":
            advice = f" The address comes from {self._endpoint.address_variable} or --base-url."
            return LLMUnreachableError(f"{message}{advice}")
        return LLMBusyError(message, timed_out=error.kind == "timeout")


class OpenAIChat(OpenAIEndpoint):
    """A chat model."""

    _unwanted: frozenset[str] = frozenset()

    def batch_body(self, request: Request) -> dict[str, Any]:
        """Return a request for a batch, without the parameters that the server refused in calls."""
        return {"model": self._endpoint.model, **chat_body(request, self._unwanted)}

    async def complete(self, request: Request) -> Reply:
        """Send one request; repeat it only if the server refuses an optional parameter."""
        while True:
            unwanted = self._unwanted
            started = time.perf_counter()
            reply = await self._post("chat/completions", chat_body(request, unwanted))
            latency_s = time.perf_counter() - started
            if reply.status == 200:
                if (data := reply.json()) is None:
                    raise LLMBusyError(f"{self.name} sent a reply that is not JSON")
                return read_choice(data, self.name, latency_s)
            if (refused := _refused_parameter(reply, unwanted)) is None:
                raise explain_status(reply, self._endpoint, request)
            self._unwanted = unwanted | {refused}


def chat_body(request: Request, unwanted: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return a request in OpenAI format, without the parameters that the server refuses."""
    optional: dict[str, Any] = {"temperature": request.temperature}
    if request.max_tokens is not None:
        optional["max_tokens"] = request.max_tokens
    if request.logprobs and "logprobs" not in unwanted:
        optional |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
    if request.repeat:
        # The same seed and temperature would give the same reply again.
        optional["seed"] = request.repeat
    body: dict[str, Any] = {"messages": [_message(message) for message in request.messages]}
    for name, value in optional.items():
        if name not in unwanted:
            body[name] = value
        elif name in _NEWER_NAMES:
            body[_NEWER_NAMES[name]] = value
    if request.template:
        body["chat_template_kwargs"] = dict(request.template)
    if request.reply_format != "text":
        body["response_format"] = response_format(request)
    return body


def write_image(image: SentImage) -> dict[str, Any]:
    """Return an image in OpenAI format. The detail is fixed, because the number of tokens depends on it."""
    return {"type": "image_url", "image_url": {"url": image.url, "detail": "high"}}


def _message(message: Message) -> dict[str, Any]:
    """Return a message in OpenAI format. Documents become attachments, as DIAL applications expect."""
    plain: dict[str, Any] = {"role": message.role, "content": message.parts(write_image)}
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
    """Return the reply format in OpenAI format."""
    if request.reply_format == "json_object" or request.schema is None:
        return {"type": "json_object"}
    title = str(request.schema.get("title", "reply"))
    name = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in title)[:64] or "reply"
    return {"type": "json_schema", "json_schema": {"name": name, "schema": dict(request.schema), "strict": True}}


def _refused_parameter(reply: HttpReply, unwanted: frozenset[str]) -> str | None:
    """Return the optional parameter that the server refuses, if the error is about one."""
    if reply.status not in (400, 422):
        return None
    code, words = _server_message(reply)
    if not any(word in f"{code} {words}".lower() for word in ("unsupported", "not support", "unknown", "unrecognized")):
        return None
    return next((name for name in _OPTIONAL if name in words and name not in unwanted), None)


def read_choice(data: Any, name: str, latency_s: float) -> Reply:
    """Return the first choice of a reply. A reply without a choice is worth a retry."""
    try:
        choice = data["choices"][0]
        message = choice["message"]
        text = _text(message.get("content"))
    except (KeyError, IndexError, TypeError, AttributeError):
        raise LLMBusyError(f"{name} sent a reply that is not a chat completion") from None
    finish_reason = str(choice.get("finish_reason") or "stop")
    if refusal := message.get("refusal"):
        raise LLMRefusedError(f"{name} refused: {str(refusal)[:200]}")
    if finish_reason == "content_filter" and not text:
        raise LLMRefusedError(f"the content filter of {name} blocked the reply")
    usage = data["usage"] if isinstance(data.get("usage"), Mapping) else {}
    logprobs, alternatives = _logprobs(choice.get("logprobs"))
    content = message.get("custom_content")
    items = content.get("attachments") if isinstance(content, Mapping) else None
    return Reply(
        text=text,
        model=name,
        input_tokens=usage.get("prompt_tokens"),
        output_tokens=usage.get("completion_tokens"),
        finish_reason=finish_reason,
        logprobs=logprobs,
        alternatives=alternatives,
        latency_s=latency_s,
        attachments=tuple(item for item in items if isinstance(item, Mapping)) if isinstance(items, list) else (),
    )


def _text(content: Any) -> str:
    """Join the content into one text; some servers send it in parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else str(part.get("text") or "") for part in content)


def _logprobs(
    data: Any,
) -> tuple[tuple[tuple[str, float], ...] | None, tuple[tuple[tuple[str, float], ...], ...] | None]:
    """Return the log-probabilities of the tokens and of their alternatives; None if missing or malformed."""
    tokens = data.get("content") if isinstance(data, Mapping) else None
    if not isinstance(tokens, list):
        return None, None
    try:
        logprobs = _pairs(tokens)
    except (KeyError, TypeError, ValueError):
        logprobs = None
    try:
        return logprobs, tuple(_pairs(token["top_logprobs"]) for token in tokens)
    except (KeyError, TypeError, ValueError):
        return logprobs, None


def _pairs(tokens: Any) -> tuple[tuple[str, float], ...]:
    return read_logprobs(
        (token["token"], _NEVER if token["logprob"] == -math.inf else token["logprob"]) for token in tokens
    )


def explain_status(reply: HttpReply, endpoint: Endpoint, request: Request | None = None) -> Exception:
    """Return the error for a status other than 200, without keys in its message."""
    code, words = _server_message(reply)
    # Keys are removed before the text is cut, because half a key is a secret too.
    safe = endpoint.hide_keys(words)
    shown = safe if len(safe) <= _MOST_SHOWN else f"{safe[:_MOST_SHOWN]}…"
    status = f"{endpoint.name} answered {reply.status}{f': {shown}' if shown else ''}"
    details = f"{code} {words}".lower()
    if reply.status == 402 or (reply.status in (403, 429) and any(word in details for word in _OUT_OF_MONEY)):
        return LLMAccessError(f"{status}. The account behind {endpoint.key_variable} has no credit or quota left.")
    if reply.status in (400, 403, 422, 451) and any(word in details for word in _FILTERED):
        return LLMRefusedError(f"the content filter refused the request: {status}")
    if 300 <= reply.status < 400 or reply.status in (401, 403, 404, 405):
        return LLMAccessError(f"{status}{'' if status.endswith('.') else '.'} {_advice(reply, endpoint)}")
    if is_busy(reply.status) or reply.status == 409:
        if reply.status == 500 and _is_about_format(details, request):
            # Some servers return 500 instead of 400.
            return UnsupportedFormatError(
                f"replies as {request.reply_format if request else 'JSON'} are not supported: {status}"
            )
        wait_s = read_retry_after(reply.headers)
        slow_down = reply.status in (429, 529) or (reply.status == 503 and wait_s is not None)
        return LLMBusyError(status, wait_s, slow_down=slow_down, timed_out=reply.status in (408, 504))
    if any(word in details for word in _TOO_LONG) or reply.status == 413:
        return LLMRefusedError(f"the prompt is longer than the model's context window: {status}")
    if _is_about_format(details, request):
        return UnsupportedFormatError(
            f"replies as {request.reply_format if request else 'JSON'} are not supported: {status}"
        )
    return LLMRefusedError(status)


def _server_message(reply: HttpReply) -> tuple[str, str]:
    """Return the error code and the message on one line. Servers use different shapes and names."""
    if (data := reply.json()) is None:
        is_html = "html" in reply.headers.get("Content-Type", "").lower()
        return "", _line(reply.body[:_MOST_READ].decode("utf-8", "replace")) if not is_html else ""
    error: Any = data.get("error", data) if isinstance(data, Mapping) else data
    if isinstance(error, list) and error:
        error = error[0]
    if not isinstance(error, Mapping):
        return "", _line(str(error))
    code = " ".join(str(error[key]) for key in ("code", "type") if error.get(key))
    words = next((str(error[key]) for key in ("message", "detail", "error", "msg") if error.get(key)), "")
    return code, _line(words)


def _is_about_format(details: str, request: Request | None) -> bool:
    return request is not None and request.reply_format != "text" and any(word in details for word in _FORMAT)


def _advice(reply: HttpReply, endpoint: Endpoint) -> str:
    if reply.status in (401, 403):
        return f"Check {endpoint.key_variable} and the address {endpoint.shown} ({endpoint.address_variable})."
    if 300 <= reply.status < 400:
        target = show_address(reply.headers.get("Location", "elsewhere"))
        return f"The address {endpoint.shown} redirects to {target}: set {endpoint.address_variable} to that."
    return (
        f"Check the model's name, and that {endpoint.shown} ({endpoint.address_variable} or --base-url) "
        "is the base address that ends with /v1."
    )


def _line(text: str) -> str:
    return " ".join(text[:_MOST_READ].split())
