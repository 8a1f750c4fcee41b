"""Converts the return value of a user's system to an Answer."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ragstone.data.types import Chunk, is_image
from ragstone.llm.base import LLMError, Reply, finite

# Keys that systems and frameworks use; the first one present counts.
_TEXT = ("answer", "text", "response", "result", "output", "content")
_CONTEXTS = ("contexts", "context", "source_documents", "source_nodes", "chunks", "passages", "documents")
_CHUNK_TEXT = ("text", "page_content", "content")
_CHUNK_ID = ("id", "chunk_id", "doc_id", "node_id")
# Inputs that chains return unchanged.
_ECHOES = ("question", "query", "input", "chat_history")


@dataclass(frozen=True, slots=True)
class Answer:
    """A system's answer and the chunks that it retrieved; None if unknown."""

    text: str
    contexts: list[Chunk] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def read_answer(value: Any, name: str) -> Answer:
    """Convert a text, (text, chunks), a mapping, an Answer, or the result of a chain or query engine."""
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
        f"{name} must return a str, (str, chunks), a mapping with 'answer', or an Answer, not {'nothing' if value is None else type(value).__name__}"
    )


def _read_mapping(value: Mapping[str, Any], name: str) -> Answer:
    key = next((key for key in _TEXT if value.get(key) is not None), None)
    if key is None:
        raise LLMError(f"{name} returned a mapping without 'answer'; it has {', '.join(map(str, value)) or 'nothing'}")
    contexts_key = next((key for key in _CONTEXTS if value.get(key) is not None), None)
    text = value[key] if isinstance(value[key], str) else read_answer(value[key], name).text
    used = {key, contexts_key, "metadata", *_ECHOES}
    rest = {str(other): item for other, item in value.items() if other not in used and item is not None}
    more = value.get("metadata")
    metadata = {**rest, **(more if isinstance(more, Mapping) else {})}
    contexts = None if contexts_key is None else _read_chunks(value[contexts_key], name)
    # Only what JSON can represent: neither objects nor nan.
    known = json.loads(json.dumps(metadata, default=str), parse_constant=lambda _: None)
    return Answer(text, contexts, {name: item for name, item in known.items() if item is not None})


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
        return Chunk("", image=item) if is_image(item) else Chunk(item)
    if isinstance(item, Mapping):
        return _chunk_from(item, name)
    node = getattr(item, "node", item)
    more = getattr(node, "metadata", None) or {}
    text = node.get_content() if hasattr(node, "get_content") else getattr(node, "page_content", None)
    parts = {
        "text": text,
        "id": getattr(node, "node_id", None) or getattr(node, "id", None) or more.get("id"),
        "score": getattr(item, "score", None),
        "source": more.get("source") or more.get("file_name"),
        "metadata": more,
    }
    return _chunk_from(parts, name)


def _chunk_from(parts: Mapping[str, Any], name: str) -> Chunk:
    text = next((parts[key] for key in _CHUNK_TEXT if isinstance(parts.get(key), str)), None)
    more = parts.get("metadata")
    more = more if isinstance(more, Mapping) else {}
    image, page = (parts.get(key, more.get(key)) for key in ("image", "page"))
    if text is None and not isinstance(image, str):
        raise LLMError(f"{name} returned a chunk without a text; it has {', '.join(map(str, parts)) or 'nothing'}")
    chunk_id = next((value for key in _CHUNK_ID if (value := parts.get(key, more.get(key))) is not None), None)
    source = parts.get("source", more.get("source"))
    return Chunk(
        text or "",
        None if chunk_id is None else str(chunk_id),
        finite(parts.get("score")),
        None if source is None else str(source),
        image if isinstance(image, str) else None,
        str(page) if isinstance(page, str | int) else None,
    )


def write_answer(answer: Answer) -> str:
    """Return an answer as JSON, as the cache stores it."""
    chunks = None if answer.contexts is None else [asdict(chunk) for chunk in answer.contexts]
    return json.dumps({"answer": answer.text, "contexts": chunks, "metadata": answer.metadata}, default=str)


def reply_with(answer: Answer, name: str, started: float) -> Reply:
    """Return an answer as a model's reply, with the cost that its metadata may contain."""
    return Reply(
        write_answer(answer), name, cost_usd=answer.metadata.get("cost_usd"), latency_s=time.perf_counter() - started
    )
