"""Finds the question or answer text in JSON, lists of chat messages and parts of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.data.codec import load_json

# Keys of the text in a request or reply, the more specific ones first.
_ALTERNATIVES = ("choices", "generations")
_INNER = ("kwargs", "content", "parts", "text")
_KEYS = {
    "user": ("question", "query", "user_input", "input", "prompt", "message", "messages", *_INNER),
    "assistant": ("answer", "response", "output", "result", "message", "messages", *_ALTERNATIVES, *_INNER),
}
_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant"}
_OTHER_ROLES = {"system", "developer", "tool", "function"}
# Parts of a message that are not its text.
_UNSAID = (
    *("reasoning", "thinking", "tool_call", "tool_call_response", "tool_use", "tool_result"),
    *("blob", "uri", "file", "image", "image_url", "input_image"),
)


def decode(value: Any, is_json: bool = False) -> Any:
    """The value of JSON text; other values unchanged."""
    if isinstance(value, str) and (is_json or value.lstrip()[:1] in ("{", "[")):
        try:
            return load_json(value)
        except (ValueError, RecursionError):
            return value
    return value


def find_text(value: Any, role: str) -> str | None:
    """The text of the user or the assistant; None if no known key leads to one."""
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
    """The last message of the role; without any roles, the texts of all parts."""
    roles = [_role_of(item) for item in items]
    for message, speaker in zip(reversed(items), reversed(roles), strict=True):
        if speaker == role and (text := find_text(message, role)):
            return text
    if any(roles):
        return None
    texts = [text for item in items if (text := find_text(item, role))]
    return "\n".join(texts) or None


def _role_of(message: Any) -> str | None:
    """The role of a message, also if it is wrapped once."""
    if not isinstance(message, Mapping):
        return None
    inner = next((message[key] for key in ("message", "kwargs") if isinstance(message.get(key), Mapping)), message)
    role = str(inner.get("role") or inner.get("type") or "").lower()
    return _ROLES.get(role, role if role in _OTHER_ROLES else None)
