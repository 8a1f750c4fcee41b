"""OpenInference and OpenTelemetry GenAI traces: spans as JSONL, a JSON list, a table or an OTLP export.

Exports write attributes in four ways: flat dotted names, nested mappings, table columns that start with `attributes.`, and
OTLP's list of typed key-value pairs. All are converted to one nested mapping first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ragstone.formats.base import Draft
from ragstone.formats.messages import decode, find_text
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.span_steps import SpanCall, steps_of_spans
from ragstone.formats.tool_calls import chunks_of, query_of
from ragstone.formats.values import as_time

_KINDS = {"CHAIN", "AGENT", "LLM", "RETRIEVER", "RERANKER", "EMBEDDING", "TOOL", "GUARDRAIL", "EVALUATOR", "PROMPT"}
_OPERATIONS = {
    "chat": "LLM",
    "generate_content": "LLM",
    "text_completion": "LLM",
    "invoke_agent": "AGENT",
    "invoke_workflow": "CHAIN",
    "retrieval": "RETRIEVER",
    "embeddings": "EMBEDDING",
    "execute_tool": "TOOL",
}
_WITHOUT_ANSWER = {"RETRIEVER", "RERANKER", "EMBEDDING", "TOOL"}
_TRACE = ("context.trace_id", "trace_id", "traceId")
_PARENT = ("parent_id", "parentSpanId", "parent_span_id")
_START = ("start_time", "startTimeUnixNano", "start_time_unix_nano")
_END = ("end_time", "endTimeUnixNano", "end_time_unix_nano")
_SPAN = ("context.span_id", "span_id", "spanId")
_TOOLS = ("tool.name", "gen_ai.tool.name")
_ARGUMENTS = ("input.value", "tool.parameters", "gen_ai.tool.call.arguments")
_RESULTS = ("output.value", "gen_ai.tool.call.result")
_QUESTIONS = (
    "input.value",
    "gen_ai.input.messages",
    "llm.input_messages",
    "gen_ai.retrieval.query.text",
    "reranker.query",
)
_ANSWERS = ("output.value", "gen_ai.output.messages", "llm.output_messages")
_DOCUMENTS = ("reranker.output_documents", "retrieval.documents", "gen_ai.retrieval.documents")
_VALUES = ("stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue")


@dataclass(frozen=True, slots=True)
class Span:
    """The parts of a span that are needed for a sample."""

    trace: str
    name: str
    kind: str
    start: float
    is_root: bool
    question: str | None
    answer: str | None
    # None if the span has no list of documents; empty if none were found.
    documents: list[dict[str, Any]] | None
    model: str | None
    session: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    call: SpanCall


def _unpack_spans(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The spans of a row: the row itself, or those in an OTLP export."""
    if "resourceSpans" not in row:
        yield row
        return
    for resource in _listed(row["resourceSpans"]):
        for scope in _listed(resource.get("scopeSpans")):
            yield from _listed(scope.get("spans"))


def _parse_span(row: Mapping[str, Any]) -> Span | None:
    """The span of a row; None if it has no trace id."""
    row = _nest({**row, "attributes": _untyped(row["attributes"])} if isinstance(row.get("attributes"), list) else row)
    attributes = row.get("attributes") or {}
    trace = _first(row, _TRACE)
    if not isinstance(trace, str) or not trace.strip("0"):
        return None
    documents = _documents(attributes)
    kind = _kind(row, attributes, documents is not None)
    parent = _first(row, _PARENT)
    return Span(
        trace=trace,
        name=str(row.get("name") or kind.lower() or "span"),
        kind=kind,
        start=_time(_first(row, _START)),
        is_root=not (isinstance(parent, str) and parent.strip("0")),
        question=_text(attributes, _QUESTIONS, "user"),
        answer=None if kind in _WITHOUT_ANSWER else _text(attributes, _ANSWERS, "assistant"),
        documents=documents,
        model=_first(attributes, ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model")),
        session=_first(attributes, ("session.id", "gen_ai.conversation.id")),
        prompt_tokens=_count(_first(attributes, ("llm.token_count.prompt", "gen_ai.usage.input_tokens"))),
        completion_tokens=_count(_first(attributes, ("llm.token_count.completion", "gen_ai.usage.output_tokens"))),
        call=_call(row, attributes, kind, documents),
    )


def _call(
    row: Mapping[str, Any], attributes: Mapping[str, Any], kind: str, documents: list[dict[str, Any]] | None
) -> SpanCall:
    is_tool = kind == "TOOL"
    span, parent = _first(row, _SPAN), _first(row, _PARENT)
    output = _first(attributes, _RESULTS) if is_tool else None
    named = _first(attributes, _TOOLS) if is_tool else None
    return SpanCall(
        id=span if isinstance(span, str) else None,
        parent=parent if isinstance(parent, str) else None,
        kind=kind,
        tool=str(named or row.get("name") or kind.lower()),
        query=query_of(_first(attributes, _ARGUMENTS)) if is_tool else _text(attributes, _QUESTIONS, "user"),
        start=_time(_first(row, _START)),
        end=_time(_first(row, _END)),
        documents=documents,
        output=None if output is None else chunks_of(output),
    )


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
    }


def _untyped(pairs: list[Any]) -> dict[str, Any]:
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
        values = _listed(value.get("values") if isinstance(value, Mapping) else None)
        return _untyped(values) if kind == "kvlistValue" else [_value(item) for item in values]
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
            branch = (
                below if isinstance(below, dict) else {}
            )  # if a name has a value and names below it, the value wins
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


def _listed(value: Any) -> list[Any]:
    """The mappings in a list; a single mapping as a list."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, Mapping)]


def _count(value: Any) -> int | None:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _time(value: Any) -> float:
    """The start of a span in the unit of its export; 0 keeps the order of the file."""
    try:
        if isinstance(value, str) and not value.isdecimal():
            value = datetime.fromisoformat(value)
        return value.timestamp() if isinstance(value, datetime) else float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0


_MARKS = [
    {"resourceSpans"},
    {"trace_id", "attributes"},
    {"traceId", "attributes"},
    {"context", "attributes", "parent_id"},
    {"context.trace_id"},
]


class OpenInferenceFormat:
    """One sample per trace; if a trace calls tools or searches more than once, also the steps of each trace."""

    name = "openinference"
    title = "OpenInference or OpenTelemetry GenAI spans"
    given: tuple[str, ...] = ()

    def recognises(self, sources: Sequence[Source]) -> bool:
        """One source whose rows are spans."""
        return len(sources) == 1 and any(mark <= sources[0].keys() for mark in _MARKS)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """The traces in order of first appearance."""
        bare: list[str] = []
        empty: list[str] = []
        traces = _traces(sources, report)
        steps = _steps(traces)
        for trace, spans in traces.items():
            values = {"id": trace, **_exchange(spans), "contexts": _contexts(spans), "metadata": _metadata(spans)}
            values["steps"] = steps.get(trace)
            has_chunks = any(step["contexts"] is not None for step in steps.get(trace, ()))
            if all(values[name] is None for name in ("question", "answer", "contexts")) and not has_chunks:
                empty.append(trace)
                continue
            if values["contexts"] is None and not has_chunks:
                bare.append(trace)
            yield Draft(f"trace {trace}", values)
        report.note_all("traces with no documents of a retriever", bare, "they are kept, without contexts")
        report.note_all("traces with no question, answer or documents", empty, "they are left out")


def _traces(sources: Iterable[Source], report: Report) -> dict[str, list[Span]]:
    """All spans by trace; the spans of a trace may be anywhere in the file."""
    traces: dict[str, list[Span]] = {}
    for source in sources:
        for row in source.rows(report):
            for number, raw in enumerate(_unpack_spans(row.values), start=1):
                where = row.where if raw is row.values else f"{row.where}, span {number}"
                if span := _parse(raw, where, report):
                    traces.setdefault(span.trace, []).append(span)
    for spans in traces.values():
        spans.sort(key=lambda span: span.start)
    return traces


def _steps(traces: Mapping[str, Sequence[Span]]) -> dict[str, list[dict[str, Any]]]:
    """The steps of every trace if one of them calls a tool or searches twice; otherwise none: contexts say it all."""
    steps = {trace: steps_of_spans([span.call for span in spans]) for trace, spans in traces.items()}
    calls_tools = any(span.kind == "TOOL" for spans in traces.values() for span in spans)
    return steps if calls_tools or any(len(found) > 1 for found in steps.values()) else {}


def _parse(raw: Mapping[str, Any], where: str, report: Report) -> Span | None:
    try:
        span = _parse_span(raw)
    except RecursionError:
        report.problem(where, "is nested too deeply")
        return None
    if span is None:
        hint = "a span has a trace_id, traceId or context.trace_id"
        report.problem(where, "has no trace id", "trace_id", hint)
    return span


def _exchange(spans: Sequence[Span]) -> dict[str, str | None]:
    """Question and answer of the root, otherwise of the first chain or agent, otherwise of a model call.

    The question is that of the first model call, the answer that of the last one.
    """
    roots = [span for span in spans if span.is_root]
    chains = [span for span in spans if span.kind in ("CHAIN", "AGENT")]
    calls = [span for span in spans if span.kind == "LLM"]
    lookups = [span for span in spans if span.kind in ("RETRIEVER", "RERANKER")]
    questions = (span.question for span in (*roots, *chains, *calls, *lookups))
    answers = (span.answer for span in (*roots, *chains, *reversed(calls)))
    return {"question": next(filter(None, questions), None), "answer": next(filter(None, answers), None)}


def _contexts(spans: Sequence[Span]) -> list[dict[str, Any]] | None:
    """The documents of the last reranker that has any, otherwise those of all retrievers by time."""
    rerankers = [span.documents for span in spans if span.kind == "RERANKER" and span.documents]
    if rerankers:
        return rerankers[-1]
    found = [span.documents for span in spans if span.kind == "RETRIEVER" and span.documents is not None]
    return [chunk for documents in found for chunk in documents] if found else None


def _metadata(spans: Sequence[Span]) -> dict[str, Any]:
    # Chains may repeat the token counts of the calls below them.
    calls = [span for span in spans if span.kind == "LLM"] or spans
    found = {
        "time": as_time(min(span.start for span in spans)),
        "session_id": next((span.session for span in spans if span.session), None),
        "model": next((span.model for span in reversed(calls) if span.model), None),
        "prompt_tokens": _total(span.prompt_tokens for span in calls),
        "completion_tokens": _total(span.completion_tokens for span in calls),
        "span_names": [span.name for span in spans],
    }
    return {key: value for key, value in found.items() if value is not None}


def _total(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


FORMAT = OpenInferenceFormat()
