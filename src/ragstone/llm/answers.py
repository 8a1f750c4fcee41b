"""What a user's system may return, and the one form that all of it is brought into."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ragstone.data.types import Chunk
from ragstone.llm.failures import LLMError

# The names that systems and frameworks use, the first one that is there counts.
_TEXT = ("answer", "text", "response", "result", "output", "content")
_CONTEXTS = ("contexts", "context", "source_documents", "source_nodes", "chunks", "passages", "documents")
_CHUNK_TEXT = ("text", "page_content", "content")
_CHUNK_ID = ("id", "chunk_id", "doc_id", "node_id")
# What chains give back of what they were asked.
_ECHOES = ("question", "query", "input", "chat_history")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system answered, and what it retrieved for it; None where it does not say."""

    text: str
    contexts: list[Chunk] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def read_answer(value: Any, name: str) -> Answer:
    """An answer from a text, a pair of text and chunks, a mapping, an Answer, or what chains and query engines return."""
    if isinstance(value, Answer):
        return value
    if isinstance(value, str):
        return Answer(value)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return Answer(value[0], _read_chunks(value[1], name))
    if isinstance(value, Mapping):
        return _read_mapping(value, name)
    if hasattr(value, "response") and hasattr(value, "source_nodes"):
        return Answer(str(value.response or ""), _read_chunks(value.source_nodes, name))
    if isinstance(content := getattr(value, "content", None), str):
        return Answer(content)
    raise LLMError(
        f"{name} must return a text, (text, chunks), a mapping with 'answer', or an Answer, not {type(value).__name__}"
    )


def _read_mapping(value: Mapping[str, Any], name: str) -> Answer:
    key = next((key for key in _TEXT if value.get(key) is not None), None)
    if key is None:
        raise LLMError(f"{name} returned a mapping without 'answer'; it has {', '.join(map(str, value)) or 'nothing'}")
    place = next((key for key in _CONTEXTS if value.get(key) is not None), None)
    text = value[key] if isinstance(value[key], str) else read_answer(value[key], name).text
    taken = {key, place, "metadata", *_ECHOES}
    rest = {str(other): item for other, item in value.items() if other not in taken and item is not None}
    more = value.get("metadata")
    metadata = {**rest, **(more if isinstance(more, Mapping) else {})}
    return Answer(text, None if place is None else _read_chunks(value[place], name), _plain(metadata))


def _read_chunks(value: Any, name: str) -> list[Chunk] | None:
    if value is None:
        return None
    if isinstance(value, str):
        return [Chunk(value)]
    if not isinstance(value, Sequence):
        raise LLMError(f"{name} must return its chunks as a list, not {type(value).__name__}")
    return [_read_chunk(item, name) for item in value]


def _read_chunk(item: Any, name: str) -> Chunk:
    if isinstance(item, Chunk):
        return item
    if isinstance(item, str):
        return Chunk(item)
    if isinstance(item, Mapping):
        return _chunk_of(item, name)
    node = getattr(item, "node", item)
    more = getattr(node, "metadata", None) or {}
    text = node.get_content() if hasattr(node, "get_content") else getattr(node, "page_content", None)
    parts = {
        "text": text,
        "id": getattr(node, "node_id", None) or getattr(node, "id", None) or more.get("id"),
        "score": getattr(item, "score", None),
        "source": more.get("source") or more.get("file_name"),
    }
    return _chunk_of(parts, name)


def _chunk_of(parts: Mapping[str, Any], name: str) -> Chunk:
    text = next((parts[key] for key in _CHUNK_TEXT if isinstance(parts.get(key), str)), None)
    if text is None:
        raise LLMError(f"{name} returned a chunk without a text; it has {', '.join(map(str, parts)) or 'nothing'}")
    more = parts.get("metadata")
    more = more if isinstance(more, Mapping) else {}
    known = next((found for key in _CHUNK_ID if (found := parts.get(key, more.get(key))) is not None), None)
    source = parts.get("source", more.get("source"))
    score = parts.get("score")
    return Chunk(
        text,
        None if known is None else str(known),
        float(score) if isinstance(score, int | float) and math.isfinite(score) else None,
        None if source is None else str(source),
    )


def _plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as JSON can hold it."""
    plain: dict[str, Any] = json.loads(json.dumps(metadata, default=str))
    return plain


def write_answer(answer: Answer) -> str:
    """An answer as JSON, as the cache keeps it."""
    chunks = None if answer.contexts is None else [asdict(chunk) for chunk in answer.contexts]
    return json.dumps({"answer": answer.text, "contexts": chunks, "metadata": answer.metadata}, default=str)
