"""Traces as samples: the spans of each trace, from any tool, become one draft."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from ragstone.formats.base import Draft
from ragstone.formats.conversations import Sessions
from ragstone.formats.reports import Report
from ragstone.formats.span_steps import steps_of_spans
from ragstone.formats.spans import Span
from ragstone.formats.values import as_time

Number = TypeVar("Number", int, float)
# Fields that a tool stores with the trace and not in its spans: history, contexts and metadata.
Extras = Mapping[str, Mapping[str, Any]]


def trace_drafts(traces: Mapping[str, list[Span]], report: Report, extras: Extras | None = None) -> Iterator[Draft]:
    """One sample per trace in order of first appearance; if a trace calls tools or searches twice, all have steps."""
    bare: list[str] = []
    empty: list[str] = []
    sessions = Sessions()
    steps = _steps(traces)
    for trace, spans in _in_order(traces):
        extra = (extras or {}).get(trace, {})
        values: dict[str, Any] = {
            "id": trace,
            **_exchange(spans),
            "contexts": _contexts(spans),
            "metadata": {**_metadata(spans), **extra.get("metadata", {})},
            "steps": steps.get(trace),
        }
        has_chunks = any(step["contexts"] is not None for step in steps.get(trace, ()))
        if values["contexts"] is None and not has_chunks:
            values["contexts"] = extra.get("contexts")
        if all(values[name] is None for name in ("question", "answer", "contexts")) and not has_chunks:
            empty.append(trace)
            continue
        if values["contexts"] is None and not has_chunks:
            bare.append(trace)
        before = sessions.add(values["metadata"].get("session_id"), values)
        if history := extra.get("history") or before:
            values["history"] = history
        yield Draft(f"trace {trace}", values)
    report.note_all("traces with no documents of a retriever", bare, "they are kept, without contexts")
    report.note_all("traces with no question, answer or documents", empty, "they are left out")


def collect_spans(spans: Iterable[Span]) -> dict[str, list[Span]]:
    """Spans by trace, sorted by time. An exporter may send a span twice: the last one with its id is used."""
    traces: dict[str, dict[Any, Span]] = {}
    for span in spans:
        known = traces.setdefault(span.trace, {})
        known[span.call.id or ("", len(known))] = span
    return {trace: sorted(known.values(), key=lambda span: span.start) for trace, known in traces.items()}


def _in_order(traces: Mapping[str, list[Span]]) -> Iterator[tuple[str, list[Span]]]:
    """Traces in order of appearance; the places of a session's traces go to them by time."""
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


def _steps(traces: Mapping[str, Sequence[Span]]) -> dict[str, list[dict[str, Any]]]:
    """The steps of every trace if one of them calls a tool or searches twice; otherwise none: contexts say it all."""
    steps = {trace: steps_of_spans([span.call for span in spans]) for trace, spans in traces.items()}
    calls_tools = any(span.kind == "TOOL" for spans in traces.values() for span in spans)
    return steps if calls_tools or any(len(found) > 1 for found in steps.values()) else {}


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
