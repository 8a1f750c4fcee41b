"""OpenInference and OpenTelemetry GenAI traces: spans as JSONL, as a JSON list, as a table, or as an OTLP export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragstone.formats.base import Draft
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.spans import Span, parse_span, unpack
from ragstone.formats.times import as_time

_MARKS = [
    {"resourceSpans"},
    {"trace_id", "attributes"},
    {"traceId", "attributes"},
    {"context", "attributes", "parent_id"},
    {"context.trace_id"},
]


class OpenInferenceFormat:
    """A sample a trace."""

    name = "openinference"
    title = "OpenInference or OpenTelemetry GenAI spans"
    given: tuple[str, ...] = ()

    def recognises(self, sources: Sequence[Source]) -> bool:
        """One source whose rows are spans."""
        return len(sources) == 1 and any(mark <= sources[0].keys() for mark in _MARKS)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """The traces in the order in which they first appear."""
        bare: list[str] = []
        empty: list[str] = []
        for trace, spans in _traces(sources, report).items():
            spans.sort(key=lambda span: span.start)
            values = {"id": trace, **_exchange(spans), "contexts": _contexts(spans), "metadata": _metadata(spans)}
            if all(values[name] is None for name in ("question", "answer", "contexts")):
                empty.append(trace)
                continue
            if values["contexts"] is None:
                bare.append(trace)
            yield Draft(f"trace {trace}", values)
        report.note_all("traces with no documents of a retriever", bare, "they are kept, without contexts")
        report.note_all("traces with no question, answer or documents", empty, "they are left out")


def _traces(sources: Iterable[Source], report: Report) -> dict[str, list[Span]]:
    """All spans by trace, since those of one trace may stand anywhere in the file."""
    traces: dict[str, list[Span]] = {}
    for source in sources:
        for row in source.rows(report):
            for number, raw in enumerate(unpack(row.values), start=1):
                where = row.where if raw is row.values else f"{row.where}, span {number}"
                if span := _parse(raw, where, report):
                    traces.setdefault(span.trace, []).append(span)
    return traces


def _parse(raw: Mapping[str, Any], where: str, report: Report) -> Span | None:
    try:
        span = parse_span(raw)
    except RecursionError:
        report.problem(where, "is nested too deeply")
        return None
    if span is None:
        hint = "a span has a trace_id, traceId or context.trace_id"
        report.problem(where, "belongs to no trace", "trace_id", hint)
    return span


def _exchange(spans: Sequence[Span]) -> dict[str, str | None]:
    """Question and answer: of the root where it has them, else of the first chain or agent, else of a model call.

    The first model call may rewrite the question and the last one gives the answer, so the ends of a trace count.
    """
    roots = [span for span in spans if span.is_root]
    chains = [span for span in spans if span.kind in ("CHAIN", "AGENT")]
    calls = [span for span in spans if span.kind == "LLM"]
    lookups = [span for span in spans if span.kind in ("RETRIEVER", "RERANKER")]
    questions = (span.question for span in (*roots, *chains, *calls, *lookups))
    answers = (span.answer for span in (*roots, *chains, *reversed(calls)))
    return {"question": next(filter(None, questions), None), "answer": next(filter(None, answers), None)}


def _contexts(spans: Sequence[Span]) -> list[dict[str, Any]] | None:
    """The documents of the last reranker that has some, else those of all retrievers in time order."""
    rerankers = [span.documents for span in spans if span.kind == "RERANKER" and span.documents]
    if rerankers:
        return rerankers[-1]
    found = [span.documents for span in spans if span.kind == "RETRIEVER" and span.documents is not None]
    return [chunk for documents in found for chunk in documents] if found else None


def _metadata(spans: Sequence[Span]) -> dict[str, Any]:
    # Chains may repeat the sums of the calls below them.
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
