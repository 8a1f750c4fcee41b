"""OpenInference and OpenTelemetry GenAI traces: spans as JSONL, a JSON list, a table or an OTLP export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ragstone.formats.base import Draft
from ragstone.formats.conversations import Sessions
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.span_steps import steps_of_spans
from ragstone.formats.spans import Span, parse_span, unpack_spans
from ragstone.formats.values import as_time

Number = TypeVar("Number", int, float)
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
        sessions = Sessions()
        traces = _traces(sources, report)
        steps = _steps(traces)
        for trace, spans in _in_order(traces):
            values: dict[str, Any] = {
                "id": trace,
                **_exchange(spans),
                "contexts": _contexts(spans),
                "metadata": _metadata(spans),
                "steps": steps.get(trace),
            }
            has_chunks = any(step["contexts"] is not None for step in steps.get(trace, ()))
            if all(values[name] is None for name in ("question", "answer", "contexts")) and not has_chunks:
                empty.append(trace)
                continue
            if values["contexts"] is None and not has_chunks:
                bare.append(trace)
            if before := sessions.add(values["metadata"].get("session_id"), values):
                values["history"] = before
            yield Draft(f"trace {trace}", values)
        report.note_all("traces with no documents of a retriever", bare, "they are kept, without contexts")
        report.note_all("traces with no question, answer or documents", empty, "they are left out")


def _in_order(traces: Mapping[str, list[Span]]) -> Iterator[tuple[str, list[Span]]]:
    """Traces in order of appearance, with their spans by time; the places of a session's traces go to them by time."""
    for spans in traces.values():
        spans.sort(key=lambda span: span.start)
    of_session: dict[str, list[str]] = {}
    for trace, spans in traces.items():
        if session := next((span.session for span in spans if span.session), None):
            of_session.setdefault(str(session), []).append(trace)
    moved: dict[str, str] = {}
    for names in of_session.values():
        moved |= zip(names, sorted(names, key=lambda name: traces[name][0].start), strict=True)
    for trace in traces:
        name = moved.get(trace, trace)
        yield name, traces[name]


def _traces(sources: Iterable[Source], report: Report) -> dict[str, list[Span]]:
    """All spans by trace; the spans of a trace may be anywhere in the file."""
    traces: dict[str, list[Span]] = {}
    for source in sources:
        for row in source.rows(report):
            for number, raw in enumerate(unpack_spans(row.values), start=1):
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
        span = parse_span(raw)
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
        **_seconds(spans),
        "input_tokens": _total(span.input_tokens for span in calls),
        "output_tokens": _total(span.output_tokens for span in calls),
        "cost_usd": _total(span.cost_usd for span in calls),
        "span_names": [span.name for span in spans],
    }
    return {key: value for key, value in found.items() if value is not None}


def _seconds(spans: Sequence[Span]) -> dict[str, float | None]:
    """The time of the root span, otherwise from the first start to the last end; and that until the first token."""
    timed = [span for span in spans if span.start and span.end >= span.start]
    whole = [span for span in timed if span.is_root] or timed
    if not whole:
        return {}
    start, end = min(span.start for span in whole), max(span.end for span in whole)
    first = min((span.first_token for span in spans if span.first_token >= start), default=None)
    # Large numbers are nanoseconds, microseconds or milliseconds since 1970.
    unit = next((unit for unit in (1e9, 1e6, 1e3) if start >= 1e8 * unit), 1.0)
    return {
        "latency_s": (end - start) / unit,
        "first_token_s": None if first is None else (first - start) / unit,
    }


def _total(counts: Iterable[Number | None]) -> Number | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


FORMAT = OpenInferenceFormat()
