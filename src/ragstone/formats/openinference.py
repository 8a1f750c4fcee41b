"""OpenInference and OpenTelemetry GenAI traces: spans as JSONL, a JSON list, a table or an OTLP export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragstone.data.usage import ROOT_SPAN
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.spans import Span, parse_span, unpack_spans
from ragstone.formats.traces import Extras, TraceFormat

_MARKS = [
    {"resourceSpans"},
    {"trace_id", "attributes"},
    {"traceId", "attributes"},
    {"context", "attributes", "parent_id"},
    {"context.trace_id"},
]
# The spans of Phoenix, from its API and as a table, have a format of their own.
PHOENIX_MARKS = [{"context", "span_kind", "status_code"}, {"context.trace_id", "context.span_id", "span_kind"}]


def _load(sources: Sequence[Source], report: Report) -> tuple[Iterable[Span], Extras]:
    spans = [span for where, raw in raw_spans(sources, report) if (span := parse(raw, where, report))]
    return spans, {span.trace: {"metadata": {ROOT_SPAN: span.id}} for span in spans if span.is_root and span.id}


def raw_spans(sources: Iterable[Source], report: Report) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All spans with their positions; the spans of a trace may be anywhere in the file."""
    for source in sources:
        for row in source.rows(report):
            for number, raw in enumerate(unpack_spans(row.values), start=1):
                yield row.where if raw is row.values else f"{row.where}, span {number}", raw


def parse(raw: Mapping[str, Any], where: str, report: Report) -> Span | None:
    """The span of a row; a problem if it has no trace id."""
    try:
        span = parse_span(raw)
    except RecursionError:
        report.problem(where, "is nested too deeply")
        return None
    if span is None:
        hint = "a span has a trace_id, traceId or context.trace_id"
        report.problem(where, "has no trace id", "trace_id", hint)
    return span


FORMAT = TraceFormat("openinference", "OpenInference or OpenTelemetry GenAI spans", _MARKS, _load, PHOENIX_MARKS)
