"""One span of a trace, from the four ways in which exports write attributes.

Flat dotted names, nested mappings, table columns that start with `attributes.`, and OTLP's list of typed key-value pairs: all
are converted to one nested mapping first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ragstone.data.usage import number_of
from ragstone.formats.chunk_parts import further_parts, images_inside
from ragstone.formats.messages import decode, find_text
from ragstone.formats.tool_calls import chunks_of, query_of

_KINDS = {"CHAIN", "AGENT", "LLM", "RETRIEVER", "RERANKER", "EMBEDDING", "TOOL", "GUARDRAIL", "EVALUATOR", "PROMPT"}
_OPERATIONS = {
    **dict.fromkeys(("chat", "generate_content", "text_completion"), "LLM"),
    "invoke_agent": "AGENT",
    "invoke_workflow": "CHAIN",
    "execute_tool": "TOOL",
    "retrieval": "RETRIEVER",
    "embeddings": "EMBEDDING",
}
_WITHOUT_ANSWER = {"RETRIEVER", "RERANKER", "EMBEDDING", "TOOL"}
_TRACE = ("context.trace_id", "trace_id", "traceId")
_PARENT = ("parent_id", "parentSpanId", "parent_span_id")
_START = ("start_time", "startTimeUnixNano", "start_time_unix_nano")
_END = ("end_time", "endTimeUnixNano", "end_time_unix_nano")
_EVENT_TIME = ("timestamp", "timeUnixNano", "time_unix_nano")
_SPAN = ("context.span_id", "span_id", "spanId")
_TOOLS = ("tool.name", "gen_ai.tool.name")
_ARGUMENTS = ("input.value", "tool.parameters", "gen_ai.tool.call.arguments")
_RESULTS = ("output.value", "gen_ai.tool.call.result")
_MESSAGES = ("input.value", "gen_ai.input.messages", "llm.input_messages")
_QUESTIONS = (*_MESSAGES, "gen_ai.retrieval.query.text", "reranker.query")
_ANSWERS = ("output.value", "gen_ai.output.messages", "llm.output_messages")
_DOCUMENTS = ("reranker.output_documents", "retrieval.documents", "gen_ai.retrieval.documents")
_VALUES = ("stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue")


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """The parts of a span that are needed for a sample."""

    trace: str
    id: str | None
    parent: str | None
    name: str
    kind: str
    start: float
    end: float
    first_token: float
    is_root: bool
    question: str | None
    answer: str | None
    # None if the span has no list of documents; empty if none were found.
    documents: list[dict[str, Any]] | None
    model: str | None
    session: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    # Of a call of a tool: its name, the query, and what it returned as chunks.
    tool: str
    query: str | None
    output: list[dict[str, Any]] | None
    # Images in the messages that a model was given.
    images: tuple[str, ...] = ()


def unpack_spans(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The spans of a row: the row itself, or those in an OTLP export."""
    if "resourceSpans" not in row:
        yield row
        return
    for resource in listed(row["resourceSpans"]):
        for scope in listed(resource.get("scopeSpans")):
            yield from listed(scope.get("spans"))


def parse_span(row: Mapping[str, Any]) -> Span | None:
    """The span of a row; None if it has no trace id."""
    row = _nest({**row, "attributes": untyped(row["attributes"])} if isinstance(row.get("attributes"), list) else row)
    attributes = row.get("attributes") or {}
    trace = _first(row, _TRACE)
    if not isinstance(trace, str) or not trace.strip("0"):
        return None
    documents = _documents(attributes)
    kind = _kind(row, attributes, documents is not None)
    span, parent = _first(row, _SPAN), _first(row, _PARENT)
    question = _text(attributes, _QUESTIONS, "user")
    of_tool = attributes if kind == "TOOL" else {}
    output = _first(of_tool, _RESULTS)
    return Span(
        trace=trace,
        id=span if isinstance(span, str) else None,
        parent=parent if isinstance(parent, str) else None,
        name=str(row.get("name") or kind.lower() or "span"),
        kind=kind,
        start=_time(_first(row, _START)),
        end=_time(_first(row, _END)),
        first_token=_first_token(row.get("events")),
        is_root=not (isinstance(parent, str) and parent.strip("0")),
        question=question,
        answer=None if kind in _WITHOUT_ANSWER else _text(attributes, _ANSWERS, "assistant"),
        documents=documents,
        model=_first(attributes, ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model")),
        session=_first(attributes, ("session.id", "gen_ai.conversation.id")),
        input_tokens=_count(_first(attributes, ("llm.token_count.prompt", "gen_ai.usage.input_tokens"))),
        output_tokens=_count(_first(attributes, ("llm.token_count.completion", "gen_ai.usage.output_tokens"))),
        cost_usd=number_of(_first(attributes, ("llm.cost.total", "gen_ai.usage.cost"))),
        tool=str(_first(of_tool, _TOOLS) or row.get("name") or kind.lower()),
        query=query_of(_first(of_tool, _ARGUMENTS)) if of_tool else question,
        output=None if output is None else chunks_of(output),
        images=_images(attributes),
    )


def _images(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    given = (_at(attributes, path) for path in _MESSAGES)
    decoded = (decode(value) if not isinstance(value, str) or "image" in value else None for value in given)
    return tuple(dict.fromkeys(image for value in decoded for image in images_inside(value)))


def _first_token(events: Any) -> float:
    """The time of the event of the first token; 0 if there is none."""
    times = [
        _time(_first(event, _EVENT_TIME))
        for event in listed(decode(events))
        if "first token" in str(event.get("name")).lower()
    ]
    return min(times, default=0.0)


def _kind(row: Mapping[str, Any], attributes: Mapping[str, Any], has_documents: bool) -> str:
    """CHAIN, LLM, RETRIEVER and so on; empty if unknown."""
    for kind in (_at(attributes, "openinference.span.kind"), row.get("span_kind")):
        if isinstance(kind, str) and kind.upper() in _KINDS:
            return kind.upper()
    operation = _OPERATIONS.get(str(_at(attributes, "gen_ai.operation.name")), "")
    return operation or ("RETRIEVER" if has_documents else "")


def _text(attributes: Mapping[str, Any], paths: tuple[str, ...], role: str) -> str | None:
    """The first text of a role in the attributes, otherwise the first attribute as it is."""
    values = [(path, value) for path in paths if (value := _at(attributes, path)) is not None]
    for path, value in values:
        is_json = _at(attributes, path.replace(".value", ".mime_type")) == "application/json"
        if text := find_text(decode(value, is_json), role):
            return text
    return next((value for _, value in values if isinstance(value, str) and value), None)


def _documents(attributes: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The documents that a span returned, as chunks."""
    for path in _DOCUMENTS:
        documents = decode(_at(attributes, path))
        if isinstance(documents, list):
            items = (item.get("document", item) for item in documents if isinstance(item, Mapping))
            return [_chunk(item) for item in items if isinstance(item, Mapping)]
    return None


def _chunk(document: Mapping[str, Any]) -> dict[str, Any]:
    text = next((document[key] for key in ("content", "text") if isinstance(document.get(key), str)), "")
    metadata = decode(document.get("metadata"))
    source = metadata.get("source") if isinstance(metadata, Mapping) else None
    return {
        "text": text,
        "id": document.get("id"),
        "score": document.get("score"),
        "source": source if isinstance(source, str) else None,
        **further_parts(document, metadata),
    }


def untyped(pairs: list[Any]) -> dict[str, Any]:
    """OTLP's list of keys and typed values as a mapping."""
    named = (pair for pair in pairs if isinstance(pair, Mapping) and isinstance(pair.get("key"), str))
    return {pair["key"]: _value(pair.get("value")) for pair in named}


def _value(typed: Any) -> Any:
    if not isinstance(typed, Mapping):
        return typed
    kind = next((kind for kind in _VALUES if kind in typed), None)
    value = typed.get(kind) if kind else None
    if kind == "intValue":
        return _count(value)  # OTLP writes 64-bit numbers as text
    if kind in ("arrayValue", "kvlistValue"):
        values = listed(value.get("values") if isinstance(value, Mapping) else None)
        return untyped(values) if kind == "kvlistValue" else [_value(item) for item in values]
    return value


def _nest(value: Any) -> Any:
    """Converts dotted names to nested mappings, and mappings with keys 0, 1, 2 to lists."""
    if isinstance(value, list):
        return [_nest(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    tree: dict[str, Any] = {}
    for key, item in value.items():
        *folders, last = str(key).split(".")
        branch = tree
        for folder in folders:
            below = branch.setdefault(folder, {})
            # If a name has a value and names below it, the value wins.
            branch = below if isinstance(below, dict) else {}
        nested = _nest(item)
        if isinstance(nested, dict) and isinstance(branch.get(last), dict):
            branch[last].update(nested)
        elif nested is not None:
            branch.setdefault(last, nested)
    return _numbered(tree)


def _numbered(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isdecimal() for key in tree):
        return [_numbered(tree[key]) for key in sorted(tree, key=int)]
    return {key: _numbered(item) for key, item in tree.items()}


def _at(tree: Mapping[str, Any], path: str) -> Any:
    node: Any = tree
    for key in path.split("."):
        if not isinstance(node, Mapping):
            return None
        node = node.get(key)
    return node


def _first(tree: Mapping[str, Any], paths: tuple[str, ...]) -> Any:
    return next((value for path in paths if (value := _at(tree, path)) is not None), None)


def listed(value: Any) -> list[Any]:
    """The mappings in a list; a single mapping as a list."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, Mapping)]


def _count(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        number = number_of(value)  # tables write 100.0
        return int(number) if number is not None else None


def _time(value: Any) -> float:
    """The start of a span in the unit of its export; 0 keeps the order of the file."""
    try:
        if isinstance(value, str) and not value.isdecimal():
            value = datetime.fromisoformat(value)
        return value.timestamp() if isinstance(value, datetime) else float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
