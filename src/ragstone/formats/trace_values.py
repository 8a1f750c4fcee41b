"""Parts of traces that Langfuse and LangSmith share: inputs and outputs of any form, documents, history, user feedback."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ragstone.data.usage import number_of
from ragstone.formats.conversations import read_turns, split_last, with_speech
from ragstone.formats.messages import decode
from ragstone.formats.spans import Span, parse_span
from ragstone.formats.tool_calls import chunks_of

# Keys of retrieved documents in the output of a chain.
_RETRIEVED = ("contexts", "context", "documents", "source_documents", "retrieved_contexts", "retrieved_documents")
_EARLIER = ("chat_history", "history")
_DOCUMENT_TEXTS = ("page_content", "content", "text")
# Feedback with these names is a rating by the user: 1 is a like, 0 and -1 are a dislike.
_RATING = re.compile(r"(?:user|human|end_user)?_?(?:feedback|score|rating|thumbs?|thumbs?_up|like|liked)")
_LIKES = {"1", "1.0", "true", "up", "like", "good", "positive", "thumbs_up"}
_DISLIKES = {"0", "0.0", "-1", "-1.0", "false", "down", "dislike", "bad", "negative", "thumbs_down"}


def make_span(row: Mapping[str, Any], attributes: Mapping[str, Any], **values: Any) -> Span | None:
    """A span from its input, output and documents; None if it has no trace id.

    `row` has trace_id, span_id, parent_id, name, start_time and end_time. Values are `kind`, `input`, `output` and
    `first_token`, the time of the first token. Inputs and outputs that are nested too deeply are left out.
    """
    try:
        return _make_span(row, attributes, values)
    except RecursionError:
        return _make_span(row, attributes, {**values, "input": None, "output": None})


def _make_span(row: Mapping[str, Any], attributes: Mapping[str, Any], values: Mapping[str, Any]) -> Span | None:
    kind, output = values.get("kind"), decode(values.get("output"))
    documents = chunks_of(output) if kind == "RETRIEVER" and output is not None else documents_in(output)
    if documents is not None and kind in ("CHAIN", ""):
        kind = "RETRIEVER"
    found = {
        "openinference.span.kind": kind,
        "input.value": _as_text(values.get("input")),
        "output.value": _as_text(output),
        **attributes,
    }
    if kind == "RETRIEVER" and documents is not None:
        found["retrieval.documents"] = [
            {"document": {"content": one["text"], **one, "metadata": {"source": one["source"]}}} for one in documents
        ]
    events = [{"name": "first token", "timestamp": first}] if (first := values.get("first_token")) else []
    known = {name: value for name, value in found.items() if value is not None}
    return parse_span({**row, "attributes": known, "events": events})


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def documents_in(output: Any) -> list[dict[str, Any]] | None:
    """The chunks of an output that is a list of documents, or has nothing else than such a list; otherwise None."""
    if isinstance(output, Mapping) and len(output) == 1:
        output = next(iter(output.values()))
    if not isinstance(output, list) or not output or not all(map(_is_document, output)):
        return None
    return chunks_of(output)


def _is_document(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return False
    inner = next((item[key] for key in ("kwargs", "document") if isinstance(item.get(key), Mapping)), item)
    if inner.get("role") or inner.get("tool_calls") or str(inner.get("type")) in ("human", "ai", "text"):
        return False  # a message, or a part of one
    return any(isinstance(inner.get(key), str) for key in _DOCUMENT_TEXTS)


def contexts_in(output: Any) -> list[dict[str, Any]] | None:
    """The chunks that a chain returned with its answer; None if it returned none."""
    output = decode(output)
    if not isinstance(output, Mapping):
        return None
    found = next((output[key] for key in _RETRIEVED if isinstance(output.get(key), list)), None)
    try:
        return None if found is None else chunks_of(found)
    except RecursionError:
        return None


def history_in(given: Any) -> list[dict[str, Any]] | None:
    """The earlier turns of the conversation in an input; None if it has none."""
    given = decode(given)
    if isinstance(given, Mapping):
        earlier = next((given[key] for key in _EARLIER if isinstance(given.get(key), list)), None)
        if earlier is not None:
            return with_speech(read_turns(earlier))
        given = given.get("messages")
    while isinstance(given, list) and len(given) == 1 and isinstance(given[0], list):
        given = given[0]  # LangChain writes a batch of one
    try:
        return split_last(read_turns(given))[1]
    except RecursionError:
        return None


def feedback_values(scores: Iterable[tuple[str, Any, str | None]]) -> dict[str, Any]:
    """Metadata from names, values and comments of scores: `feedback`, `feedback_comments` and the user's rating."""
    values: dict[str, Any] = {}
    comments: dict[str, str] = {}
    for name, value, comment in scores:
        if value is not None:
            values[name] = value
        if comment:
            comments[name] = comment
    found: dict[str, Any] = {"feedback": values or None, "feedback_comments": comments or None}
    ratings = (value for name, value in values.items() if _RATING.fullmatch(re.sub(r"[\s.-]+", "_", name.lower())))
    if rating := next(filter(None, map(_like, ratings)), None):
        found["signals"] = {rating: 1}
    return {name: value for name, value in found.items() if value is not None}


def _like(value: Any) -> str | None:
    word = str(value).strip().lower()
    return "like" if word in _LIKES else "dislike" if word in _DISLIKES else None


def first_number(*values: Any) -> float | int | None:
    """The first value that is a number; whole numbers as integers."""
    for value in values:
        if (number := number_of(value)) is not None:
            return int(number) if number.is_integer() else number
    return None


def mapping_of(value: Any) -> Mapping[str, Any]:
    """A mapping, also from JSON text; empty for other values."""
    value = decode(value)
    return value if isinstance(value, Mapping) else {}
