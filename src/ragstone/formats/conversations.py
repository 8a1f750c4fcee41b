"""Conversations as samples: one per user message with a reply, with the earlier messages as its history."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ragstone.data.codec import canonical_json
from ragstone.formats.common_fields import unpack
from ragstone.formats.messages import find_text
from ragstone.formats.values import plain

_ROLES = {
    **dict.fromkeys(("user", "human", "customer"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "agent", "gpt", "bot", "chatbot"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
_SPEAKERS = ("role", "speaker", "type", "from")
_TEXTS = ("text", "value")
_RETRIEVED = ("contexts", "retrieved_contexts", "retrieved_context", "documents")
_CHUNK_NAMES = {"document_id": "id", "doc_id": "id", "content": "text", "page_content": "text", "passage": "text"}
_CHUNK_PARTS = ("text", "id", "score", "source")


def read_turns(messages: Any) -> list[dict[str, Any]]:
    """Messages of any of the usual forms as turns with our names; those without a known role or a text are left out."""
    items = unpack(messages)
    return [turn for item in items if (turn := _turn(item))] if isinstance(items, list | tuple) else []


def _turn(message: Any) -> dict[str, Any] | None:
    message = plain(message)
    if not isinstance(message, Mapping):
        return None
    inner = next((message[key] for key in ("message", "kwargs") if isinstance(message.get(key), Mapping)), message)
    role = next((_ROLES[word] for key in _SPEAKERS if (word := str(inner.get(key)).lower()) in _ROLES), None)
    text = next((inner[key] for key in _TEXTS if isinstance(inner.get(key), str)), None)
    if text is None:
        content = inner.get("content")
        text = find_text(content if content is not None else inner.get("parts"), "assistant")
    if role is None or not isinstance(text, str) or not text.strip():
        return None
    contexts = read_chunks(next((inner[key] for key in _RETRIEVED if isinstance(inner.get(key), list)), None))
    return {"role": role, "text": text, **({} if contexts is None else {"contexts": contexts})}


def read_chunks(value: Any) -> Any:
    """Chunks with our names for their parts, without other parts."""
    items = unpack(value)
    if not isinstance(items, list | tuple):
        return items
    return [_chunk(item) for item in items]


def _chunk(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    named = {_CHUNK_NAMES.get(key, key): part for key, part in item.items()}
    known = {key: named[key] for key in _CHUNK_PARTS if named.get(key) is not None}
    return {"text": "", **known} if known else item


def exchanges(turns: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Question, answer, contexts and history of each user message that is answered.

    The answer is the last message of the assistant before the next user message. Texts of tools on the way are contexts.
    """
    asked = [at for at, turn in enumerate(turns) if turn["role"] == "user"]
    for start, end in pairwise([*asked, len(turns)]):
        replies = [turn for turn in turns[start + 1 : end] if turn["role"] == "assistant"]
        if not replies:
            continue
        row: dict[str, Any] = {"question": turns[start]["text"], "answer": replies[-1]["text"]}
        if (contexts := _contexts(turns[start:end])) is not None:
            row["contexts"] = contexts
        if history := with_speech(turns[:start]):
            row["history"] = history
        yield row


def _contexts(turns: Sequence[Mapping[str, Any]]) -> list[Any] | None:
    """The chunks of the messages, otherwise the texts of tools; None if no message says what was retrieved."""
    lists = [turn["contexts"] for turn in turns if turn.get("contexts") is not None]
    tools = [{"text": turn["text"]} for turn in turns if turn["role"] == "tool"]
    found = [chunk for chunks in lists for chunk in chunks] or tools
    return found if found or lists else None


def with_speech(turns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """The turns as a history; None if no user or assistant says anything in them."""
    return list(map(dict, turns)) if any(turn["role"] in ("user", "assistant") for turn in turns) else None


def conversation_rows(turns: Sequence[Mapping[str, Any]], name: Any) -> list[dict[str, Any]]:
    """The exchanges with ids such as `c7#2`, the conversation and the number of the turn."""
    known = plain(name)
    label = str(known) if known not in (None, "") else _digest(turns)
    return [
        {"id": f"{label}#{number}", "conversation": label, "turn": number, **row}
        for number, row in enumerate(exchanges(turns), start=1)
    ]


def _digest(turns: Sequence[Mapping[str, Any]]) -> str:
    content = canonical_json([[turn["role"], turn["text"]] for turn in turns])
    return f"c-{hashlib.blake2b(content.encode(), digest_size=5).hexdigest()}"


def split_last(turns: Sequence[Mapping[str, Any]]) -> tuple[str | None, list[dict[str, Any]] | None]:
    """The last user message and the history before it; an answer after it does not belong to either."""
    last = max((at for at, turn in enumerate(turns) if turn["role"] == "user"), default=None)
    return (None, None) if last is None else (turns[last]["text"], with_speech(turns[:last]))


class Sessions:
    """Histories of exchanges that come one by one, by the name of their session."""

    def __init__(self) -> None:
        self._turns: dict[str, list[dict[str, Any]]] = {}

    def add(self, session: Any, values: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        """Take in an exchange and return the earlier turns of its session; None if there are none."""
        if session in (None, ""):
            return None
        turns = self._turns.setdefault(str(session), [])
        before = list(turns)
        question, answer, contexts = (values.get(name) for name in ("question", "answer", "contexts"))
        if isinstance(question, str):
            turns.append({"role": "user", "text": question})
        if isinstance(answer, str):
            chunks = {"contexts": contexts} if isinstance(contexts, list) else {}
            turns.append({"role": "assistant", "text": answer, **chunks})
        return before or None
