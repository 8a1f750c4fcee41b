"""The text that people mean within what programs pass around: JSON, lists of chat messages, parts of a message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# Where a request or a reply keeps its text, the more particular names first.
_KEYS = {
    "user": (
        "question",
        "query",
        "user_input",
        "input",
        "prompt",
        "message",
        "messages",
        "kwargs",
        "content",
        "parts",
        "text",
    ),
    "assistant": (
        "answer",
        "response",
        "output",
        "result",
        "message",
        "messages",
        "choices",
        "generations",
        "kwargs",
        "content",
        "parts",
        "text",
    ),
}
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant"}
_OTHER_ROLES = {"system", "developer", "tool", "function"}
# Parts of a message that nobody reads as its text.
_UNSAID = ("reasoning", "thinking", "tool_call", "tool_call_response", "tool_use", "tool_result")
_ALTERNATIVES = ("choices", "generations")


def decode(value: Any, is_json: bool = False) -> Any:
    """JSON text as what it stands for; any other value as it is."""
    if isinstance(value, str) and (is_json or value.lstrip()[:1] in ("{", "[")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def find_text(value: Any, role: str) -> str | None:
    """What the user asked or the assistant said; nothing if no known name leads to a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return _in_list(value, role)
    if not isinstance(value, Mapping) or value.get("type") in _UNSAID:
        return None
    for key in _KEYS[role]:
        inner = value.get(key)
        if key in _ALTERNATIVES and isinstance(inner, list):
            inner = inner[0] if inner else None
        if inner is not None and (text := find_text(inner, role)):
            return text
    return None


def _in_list(items: list[Any], role: str) -> str | None:
    """The last message of the role; where nobody speaks, the texts of all parts."""
    speakers = [_speaker(item) for item in items]
    said = [item for item, speaker in zip(items, speakers, strict=True) if speaker == role]
    for message in reversed(said):
        if text := find_text(message, role):
            return text
    if any(speakers):
        return None
    texts = [text for item in items if (text := find_text(item, role))]
    return "\n".join(texts) or None


def _speaker(message: Any) -> str | None:
    """Who says a message, also where it is wrapped once."""
    if not isinstance(message, Mapping):
        return None
    inner = next((message[key] for key in ("message", "kwargs") if isinstance(message.get(key), Mapping)), message)
    said = str(inner.get("role") or inner.get("type") or "").lower()
    return _ROLES.get(said, said if said in _OTHER_ROLES else None)
