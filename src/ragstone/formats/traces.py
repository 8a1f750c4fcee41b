"""Traces as samples: the spans of each trace, from any tool, become one draft; searches and calls of tools are its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from ragstone.data.usage import SPAN_NAMES
from ragstone.formats.base import Draft
from ragstone.formats.conversations import Sessions
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.spans import Span
from ragstone.formats.values import as_time

# Fields that a tool stores with the trace and not in its spans: history, contexts, metadata, and totals of tokens and price.
Extras = Mapping[str, Mapping[str, Any]]
Number = int | float
# Spans that call a model. All have a price, but only tokens of language models are counted.
_MODELS = ("LLM", "EMBEDDING", "RERANKER")
_FIELDS = ("input_tokens", "output_tokens", "cost_usd")
_STEPS = ("TOOL", "RETRIEVER")


@dataclass(frozen=True)
class TraceFormat:
    """A format of spans, with one sample per trace. A file with all names of one of the `marks` has this format.

    `load` reads the spans of all sources, and the extras of their traces. With a name of `others`, it is another format.
    """

    name: str
    title: str
    marks: Sequence[Set[str]]
    load: Callable[[Sequence[Source], Report], tuple[Iterable[Span], Extras]]
    others: Sequence[Set[str]] = ()
    given: tuple[str, ...] = ()

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Whether there is one source and its rows have the names of a mark."""
        keys = sources[0].keys() if len(sources) == 1 else frozenset()
        return any(mark <= keys for mark in self.marks) and not any(mark <= keys for mark in self.others)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """The traces in order of first appearance; the spans of a trace may be anywhere in the file."""
        spans, extras = self.load(sources, report)
        yield from trace_drafts(collect_spans(spans), report, extras)


def trace_drafts(traces: Mapping[str, list[Span]], report: Report, extras: Extras) -> Iterator[Draft]:
    """One sample per trace in order of first appearance; if a trace calls tools or searches twice, all have steps."""
    bare: list[str] = []
    empty: list[str] = []
    sessions = Sessions()
    steps = {trace: steps_of_spans(spans) for trace, spans in traces.items()}
    calls_tools = any(span.kind == "TOOL" for spans in traces.values() for span in spans)
    if not calls_tools and all(len(found) < 2 for found in steps.values()):
        steps = {}  # contexts are enough
    for trace, spans in _in_order(traces):
        extra = extras.get(trace, {})
        values: dict[str, Any] = {
            "id": trace,
            **_exchange(spans),
            "contexts": _contexts(spans),
            "metadata": {**_metadata(spans, extra.get("totals", {})), **extra.get("metadata", {})},
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
        known[span.id or ("", len(known))] = span
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
    """The documents of the last reranker that has any, otherwise those of all retrievers by time; then images of messages."""
    rerankers = [span.documents for span in spans if span.kind == "RERANKER" and span.documents]
    found = rerankers[-1:] or [
        span.documents for span in spans if span.kind == "RETRIEVER" and span.documents is not None
    ]
    chunks = [chunk for documents in found for chunk in documents or ()]
    known = {chunk.get("image") for chunk in chunks}
    images = dict.fromkeys(image for span in spans for image in span.images if image not in known)
    return [*chunks, *({"text": "", "image": image} for image in images)] if found or images else None


def _metadata(spans: Sequence[Span], totals: Mapping[str, Any]) -> dict[str, Any]:
    calls = [span for span in spans if span.kind == "LLM"] or spans
    found = {
        "time": as_time(min(span.start for span in spans)),
        "session_id": next((span.session for span in spans if span.session), None),
        "model": next((span.model for span in reversed(calls) if span.model), None),
        **_seconds(spans),
        **_usage(spans, totals),
        SPAN_NAMES: [span.name for span in spans],
    }
    return {key: value for key, value in found.items() if value is not None}


def steps_of_spans(spans: Sequence[Span]) -> list[dict[str, Any]]:
    """One step per outermost TOOL or RETRIEVER span, by time.

    Its chunks are its own documents, otherwise those of the retrievers within it, otherwise what the tool returned.
    """
    by_id = _by_id(spans)
    within: dict[Span, list[Span]] = {}
    for span in spans:
        if span.kind in _STEPS:
            outermost = next((one for one in reversed(_around(span, by_id)) if one.kind in _STEPS), span)
            within.setdefault(outermost, []).append(span)
    return [_step(span, within[span]) for span in spans if span in within]


def _step(span: Span, within: Sequence[Span]) -> dict[str, Any]:
    inner = [one for one in within if one is not span and one.kind == "RETRIEVER"]
    found = [one.documents for one in inner if one.documents is not None]
    chunks = span.documents
    if chunks is None:
        chunks = [chunk for documents in found for chunk in documents] if found else span.output
    query = span.query or next((one.query for one in inner if one.query), None)
    seconds = round((span.end - span.start) / _unit(span.start), 6) if 0 < span.start <= span.end else None
    return {"tool": span.tool, "query": query, "contexts": chunks, "seconds": seconds}


def _by_id(spans: Sequence[Span]) -> dict[str, Span]:
    return {span.id: span for span in reversed(spans) if span.id is not None}


def _around(span: Span, by_id: Mapping[str, Span]) -> list[Span]:
    """The spans around a span, the nearest first; none if its parents form a circle."""
    around, at = {span: None}, span
    while (parent := by_id.get(at.parent or "")) is not None:
        if parent in around:
            return []
        around[parent], at = None, parent
    return list(around)[1:]


def _unit(time: float) -> float:
    """Large numbers are nanoseconds, microseconds or milliseconds since 1970: how many are a second."""
    return next((unit for unit in (1e9, 1e6, 1e3) if time >= 1e8 * unit), 1.0)


def _seconds(spans: Sequence[Span]) -> dict[str, float | None]:
    """The time of the root span, otherwise from the first start to the last end; and that until the first token."""
    timed = [span for span in spans if span.start and span.end >= span.start]
    whole = [span for span in timed if span.is_root] or timed
    if not whole:
        return {}
    start, end = min(span.start for span in whole), max(span.end for span in whole)
    first = min((span.first_token for span in spans if span.first_token >= start), default=None)
    unit = _unit(start)
    return {"latency_s": (end - start) / unit, "first_token_s": None if first is None else (first - start) / unit}


def _usage(spans: Sequence[Span], totals: Mapping[str, Any]) -> dict[str, Number | None]:
    """Tokens and price of all model calls; `totals` are those that a platform stores with the trace.

    A model span within a model span, such as a client within a framework, counts once.
    """
    by_id = _by_id(spans)
    return {name: _sum(spans, by_id, name, totals.get(name)) for name in _FIELDS}


def _sum(spans: Sequence[Span], by_id: Mapping[str, Span], name: str, total: Number | None) -> Number | None:
    values = _outer_values([span for span in spans if span.kind == "LLM"], by_id, name)
    for kind in _MODELS[1:] if name == "cost_usd" else ():
        found = _outer_values([span for span in spans if span.kind == kind], by_id, name)
        values += [value for value in found if value is not None]
    if (result := _combine(total, values)) is not None:
        return result
    # Chains repeat the usage of the calls below them, so they count only if no call has it.
    return _combine(
        None, _outer_values([span for span in spans if not values or span.kind not in _MODELS], by_id, name)
    )


def _outer_values(spans: Sequence[Span], by_id: Mapping[str, Span], name: str) -> list[Number | None]:
    """The usage of each of these spans that is not within another one."""
    around = {span: _around(span, by_id) for span in spans}
    inner: dict[Span | None, list[Number | None]] = {}
    for span in sorted(spans, key=lambda span: -len(around[span])):
        value = _combine(getattr(span, name), inner.pop(span, []))
        outer = next((one for one in around[span] if one in around), None)
        inner.setdefault(outer, []).append(value)
    return inner.get(None, [])


def _combine(own: Number | None, inner: Sequence[Number | None]) -> Number | None:
    """The usage of a span with spans inside: their sum, because they called the model.

    If one of them has no usage or 0, as after a failed call, the sum may be too small: then the larger of both.
    """
    known = [value for value in inner if value]
    if not known:
        return own if own is not None else next((value for value in inner if value is not None), None)
    return sum(known) if own is None or len(known) == len(inner) else max(own, sum(known))
