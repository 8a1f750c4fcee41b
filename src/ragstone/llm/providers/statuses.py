"""What a status other than 200 means: ask again later, ask for less, give up on this request, or end the run."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from ragstone.http.addresses import show_address
from ragstone.http.client import HttpReply
from ragstone.llm.base import Request
from ragstone.llm.endpoints import Endpoint
from ragstone.llm.failures import LLMAccessError, LLMBusyError, LLMRefusedError, UnsupportedFormatError

_MOST_SHOWN = 200
_MOST_READ = 10_000
_OUT_OF_MONEY = ("insufficient_quota", "insufficient_credits", "billing_hard_limit", "exceeded your current quota")
_TOO_LONG = (
    *("context_length", "context length", "context size", "context window", "maximum context", "too many tokens"),
    *("prompt is too long", "input is too long", "exceeds the maximum number of tokens", "max_model_len"),
)
_FILTERED = ("content_filter", "content management policy", "moderation", "flagged", "safety", "responsibleai")
_FORMAT = ("response_format", "json_schema", "json_object", "json mode", "structured output", "guided", "grammar")


def explain_status(reply: HttpReply, endpoint: Endpoint, request: Request | None = None) -> Exception:
    """The error for a status, in words that hold no key."""
    code, words = server_words(reply)
    # Keys are taken out before the text is cut: half a key is one too.
    said = _short(endpoint.hide_keys(words))
    status = f"{endpoint.name} answered {reply.status}{f': {said}' if said else ''}"
    told = f"{code} {words}".lower()
    if reply.status in (402,) or (reply.status in (403, 429) and any(word in told for word in _OUT_OF_MONEY)):
        return LLMAccessError(f"{status}. The account behind {endpoint.key_variable} has no money or quota left.")
    if reply.status in (400, 403, 422, 451) and any(word in told for word in _FILTERED):
        return LLMRefusedError(f"the content filter refused the request: {status}")
    if 300 <= reply.status < 400 or reply.status in (401, 403, 404, 405):
        return LLMAccessError(f"{status}{'' if status.endswith('.') else '.'} {_advice(reply, endpoint)}")
    if reply.status in (408, 409, 425, 429) or reply.status >= 500:
        return _busy(reply, status, told, request)
    if any(word in told for word in _TOO_LONG) or reply.status == 413:
        return LLMRefusedError(f"the prompt is longer than the model's context: {status}")
    if _is_about_format(told, request):
        return UnsupportedFormatError(f"replies as {request.reply_format if request else 'JSON'} are refused: {status}")
    return LLMRefusedError(status)


def server_words(reply: HttpReply) -> tuple[str, str]:
    """The error's code and its text, on one line; servers agree on neither the shape nor the names."""
    try:
        data = json.loads(reply.body)
    except (ValueError, RecursionError):
        return "", _line(reply.body[:_MOST_READ].decode("utf-8", "replace")) if _is_plain(reply) else ""
    error: Any = data.get("error", data) if isinstance(data, Mapping) else data
    if isinstance(error, list) and error:
        error = error[0]
    if not isinstance(error, Mapping):
        return "", _line(str(error))
    code = " ".join(str(error[key]) for key in ("code", "type") if error.get(key))
    words = next((str(error[key]) for key in ("message", "detail", "error", "msg") if error.get(key)), "")
    return code, _line(words)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long the server asks to wait: in milliseconds, in seconds, or until a date."""
    if (ms := _number(headers.get("retry-after-ms"))) is not None:
        return max(0.0, ms / 1000)
    text = headers.get("Retry-After")
    if text is None:
        return None
    if (seconds := _number(text)) is not None:
        return max(0.0, seconds)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _busy(reply: HttpReply, status: str, told: str, request: Request | None) -> Exception:
    if reply.status == 500 and _is_about_format(told, request):
        # Some servers fail where they should refuse.
        return UnsupportedFormatError(f"replies in the format that was asked for are refused: {status}")
    wait_s = retry_after_s(reply.headers)
    slow_down = reply.status in (429, 529) or (reply.status == 503 and wait_s is not None)
    return LLMBusyError(status, wait_s, slow_down=slow_down, timed_out=reply.status in (408, 504))


def _is_about_format(told: str, request: Request | None) -> bool:
    return request is not None and request.reply_format != "text" and any(word in told for word in _FORMAT)


def _advice(reply: HttpReply, endpoint: Endpoint) -> str:
    if reply.status in (401, 403):
        return f"Check {endpoint.key_variable} and the address {endpoint.shown} ({endpoint.address_variable})."
    if 300 <= reply.status < 400:
        target = show_address(reply.headers.get("Location", "elsewhere"))
        return f"The address {endpoint.shown} sends on to {target}: set {endpoint.address_variable} to that."
    return (
        f"Check the model's name, and that {endpoint.shown} ({endpoint.address_variable} or --base-url) "
        "is the address up to and with /v1."
    )


def _is_plain(reply: HttpReply) -> bool:
    return "html" not in reply.headers.get("Content-Type", "").lower()


def _line(text: str) -> str:
    return " ".join(text[:_MOST_READ].split())


def _short(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
