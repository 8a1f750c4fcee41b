"""Conversations as samples: one per user message with a reply, with the earlier messages as its history."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ragstone.data.codec import canonical_json
from ragstone.formats.chunk_parts import further_parts, images_of
from ragstone.formats.column_names import read_name
from ragstone.formats.common_fields import unpack
from ragstone.formats.loose_contexts import text_of_chunk
from ragstone.formats.messages import find_text
from ragstone.formats.values import plain

ROLES = {
    **dict.fromkeys(
        ("user", "human", "customer", "client", "visitor", "prompter", "kunde", "nutzer", "usuario"), "user"
    ),
    **dict.fromkeys(
        ("assistant", "ai", "model", "agent", "gpt", "bot", "chatbot", "support", "assistent"), "assistant"
    ),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
}
# Roles of messages that are not part of the conversation: calls of tools and their raw results.
_LEFT_OUT = ("", "function_call", "function_response", "tool_call", "tool_response", "observation", "ipython")
CONVERSATION_NAMES = (
    *("conversation_id", "conversation", "session_id", "session", "chat_id", "chat", "thread_id", "thread"),
    *("dialog_id", "dialogue_id", "dialogue"),
)
SPEAKERS = ("role", "speaker", "type", "from", "sender", "author", "author_role", "message_role")
_MOST_ROLES = 6
_NAMED = ("role", "from", "speaker")  # speakers that must be known
TEXTS = ("text", "value", "message", "content", "utterance", "body", "message_text")
_RETRIEVED = ("contexts", "retrieved_contexts", "retrieved_context", "documents")
_CHUNK_NAMES = {"document_id": "id", "doc_id": "id", "content": "text", "page_content": "text", "passage": "text"}
_LONG_CHUNK = 5  # words
_CHUNK_PARTS = ("text", "id", "score", "source", "table")


def read_turns(messages: Any, field: str | None = None, roles: Mapping[str, str] = ROLES) -> list[dict[str, Any]]:
    """Messages of any of the usual forms as turns with our names; those without a known role or a text are left out.

    `field` is the name of their chunks, if it is not one of the usual ones.
    """
    items = unpack(messages)
    return [turn for item in items if (turn := _turn(item, roles, field))] if isinstance(items, list | tuple) else []


def _turn(message: Any, roles: Mapping[str, str] = ROLES, field: str | None = None) -> dict[str, Any] | None:
    message = plain(message)
    if not isinstance(message, Mapping):
        return None
    inner = next((message[key] for key in ("message", "kwargs") if isinstance(message.get(key), Mapping)), message)
    role = next((roles[word] for key in SPEAKERS if (word := str(inner.get(key)).lower()) in roles), None)
    text = next((inner[key] for key in TEXTS if isinstance(inner.get(key), str) and inner[key].strip()), None)
    if text is None:
        content = inner.get("content")
        text = find_text(content if content is not None else inner.get("parts"), "assistant")
    images = images_of(unpack(inner.get("content")))
    if role is None or (not (isinstance(text, str) and text.strip()) and not (images and role in ("user", "tool"))):
        return None
    contexts = read_chunks(
        next((found for key in (*_RETRIEVED, field) if isinstance(found := unpack(inner.get(key)), list)), None)
    )
    shown: dict[str, Any] = {"images": images} if images else {}
    if role == "assistant":
        every = {"message_id" if key == "id" else str(key): part for key, part in {**inner, **message}.items()}
        names = [key for key in every if key.endswith(("_id", "Id")) and key not in CONVERSATION_NAMES]
        shown["ids"] = {key: every[key] for key in names if isinstance(every[key], int | str)}
    return {"role": role, "text": text or "", **shown, **({} if contexts is None else {"contexts": contexts})}


def speaker_names(messages: Any) -> list[str]:
    """The speakers of a conversation, as its messages name them, without calls and raw results of tools."""
    items = unpack(messages)
    ones = [one for one in items if isinstance(one, Mapping)] if isinstance(items, list | tuple) else []
    names = [next((one[key] for key in _NAMED if key in one), None) for one in ones]
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and name.lower() not in _LEFT_OUT))


def is_message(item: Any, roles: Mapping[str, str] = ROLES) -> bool:
    """Whether a value is one message: it has a known role and a text, or calls a tool."""
    return isinstance(item, Mapping) and (_turn(item, roles) is not None or {"role", "tool_calls"} <= item.keys())


def read_roles(messages: Sequence[Mapping[str, Any]], assistant: str = "") -> dict[str, str]:
    """The known roles, and those of other words: all are users if the assistant is named.

    Of two words, the assistant is the one that is not known, or the one with chunks.
    """
    name = assistant.lower()
    every = [dict.fromkeys(str(one[key]).lower() for one in messages if one.get(key)) for key in SPEAKERS]
    likely = [list(words) for words in every if 1 < len(words) <= _MOST_ROLES or name in words]
    words = max(likely, key=lambda words: (name in words, not ROLES.keys().isdisjoint(words)), default=[])
    new = [word for word in words if word not in (*ROLES, *_LEFT_OUT)]
    named = [word for word in words if word == name]
    if not named and len(words) == 2:
        fields = (*_RETRIEVED, chunk_field(messages) or "")
        found = [one for one in messages if any(unpack(one.get(field)) for field in fields)]
        with_chunks = {str(one.get(key)).lower() for one in found for key in SPEAKERS} & {*new}
        named = new if "user" in map(ROLES.get, words) else list(with_chunks) if len(new) == len(words) else []
    return {**dict.fromkeys(new, "user"), **ROLES, named[0]: "assistant"} if len(named) == 1 else dict(ROLES)


def chunk_field(messages: Iterable[Mapping[str, Any]]) -> str | None:
    """The field of messages with lists of texts that are the chunks, by its name or because they are long and do not ask.

    None if a field has one of the usual names.
    """
    lists: dict[str, list[str]] = {}
    for message in filter(lambda one: isinstance(one, Mapping), messages):
        for key, value in message.items():
            items = unpack(value)
            if key in _RETRIEVED and isinstance(items, list):
                return None
            texts = [text_of_chunk(item) for item in items] if isinstance(items, list) else [None]
            if key not in (*TEXTS, "parts") and all(texts):
                lists.setdefault(key, []).extend(filter(None, texts))
    named = {key: read_name(key) for key, texts in lists.items() if texts}
    by_name = [key for key, name in named.items() if name and name.field == "contexts"]
    by_content = [key for key, name in named.items() if name is None and _read_as_chunks(lists[key])]
    return next(iter([*by_name, *by_content]), None)


def _read_as_chunks(texts: Sequence[str]) -> bool:
    """Whether texts are long and are not questions, as suggested replies are."""
    is_long = sum(len(text.split()) for text in texts) >= _LONG_CHUNK * len(texts)
    return is_long and 2 * sum(text.rstrip().endswith("?") for text in texts) < len(texts)


def read_chunks(value: Any) -> Any:
    """Chunks with our names for their parts in addition to their own."""
    items = unpack(value)
    return [_chunk(item) for item in items] if isinstance(items, list | tuple) else items


def _chunk(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return item
    named = {_CHUNK_NAMES.get(key, key): part for key, part in item.items()}
    known = {key: named[key] for key in _CHUNK_PARTS if named.get(key) is not None}
    known |= further_parts(item, item.get("metadata"))
    return {**item, "text": "", **known} if known else item


def exchanges(turns: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Number, question, answer, contexts and history of each user message that is answered.

    The answer is the last message of the assistant before the next user message. Texts of tools on the way are contexts.
    """
    asked = [at for at, turn in enumerate(turns) if turn["role"] == "user"]
    for number, (start, end) in enumerate(pairwise([*asked, len(turns)]), start=1):
        replies = [turn for turn in turns[start + 1 : end] if turn["role"] == "assistant"]
        if not replies:
            continue
        row: dict[str, Any] = {"turn": number, "question": turns[start]["text"], "answer": replies[-1]["text"]}
        row = {**replies[-1].get("ids", {}), **row}
        if (contexts := _contexts(turns[start:end])) is not None:
            row["contexts"] = contexts
        if history := with_speech(turns[:start]):
            row["history"] = history
        yield row


def _contexts(turns: Sequence[Mapping[str, Any]]) -> list[Any] | None:
    """The chunks of the messages, otherwise the texts of tools, then images; None if no message has any."""
    lists = [turn["contexts"] for turn in turns if turn.get("contexts") is not None]
    tools = [{"text": turn["text"]} for turn in turns if turn["role"] == "tool" and turn["text"]]
    images = [{"text": "", "image": image} for turn in turns for image in turn.get("images", ())]
    found = [*([chunk for chunks in lists for chunk in chunks] or tools), *images]
    return found if found or lists else None


def with_speech(turns: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """The turns as a history; None without a message of the user or the assistant."""
    known = [{key: part for key, part in turn.items() if key not in ("images", "ids")} for turn in turns]
    return known if any(turn["role"] in ("user", "assistant") for turn in turns) else None


def conversation_rows(turns: Sequence[Mapping[str, Any]], name: Any, made: Counter[str]) -> list[dict[str, Any]]:
    """The exchanges with ids such as `c7#2`, the conversation and the number of the turn.

    A conversation without a name gets one made from its content; `made` counts these, so that a repeated one is numbered.
    """
    label = "" if (known := plain(name)) is None else str(known)
    if not label:
        content = canonical_json([[turn["role"], turn["text"]] for turn in turns])
        label = f"c-{hashlib.blake2b(content.encode(), digest_size=5).hexdigest()}"
        made[label] += 1
        label = f"{label}-{made[label]}" if made[label] > 1 else label
    return [{"id": f"{label}#{row['turn']}", "conversation": label, **row} for row in exchanges(turns)]


def split_last(turns: Sequence[Mapping[str, Any]]) -> tuple[str | None, list[dict[str, Any]] | None]:
    """The last user message and the history before it; an answer after it does not belong to either."""
    last = max((at for at, turn in enumerate(turns) if turn["role"] == "user"), default=None)
    return (None, None) if last is None else (turns[last]["text"], with_speech(turns[:last]))


class Sessions:
    """Histories of exchanges that come one by one, by the name of their session."""

    def __init__(self) -> None:
        self._turns: dict[str, list[dict[str, Any]]] = {}

    def add(self, session: Any, values: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        """Add an exchange and return the earlier turns of its session; None if there are none."""
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
