"""The searches and calls of tools in a trace, as steps in time order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_STEPS = ("TOOL", "RETRIEVER")
# Above these numbers a time is in nanoseconds, microseconds, milliseconds.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))


@dataclass(frozen=True, slots=True, eq=False)
class SpanCall:
    """The parts of a span that a step is made of."""

    id: str | None
    parent: str | None
    kind: str
    tool: str
    query: str | None
    start: float
    end: float
    documents: list[dict[str, Any]] | None
    # What a tool returned, as chunks.
    output: list[dict[str, Any]] | None


def steps_of_spans(calls: Sequence[SpanCall]) -> list[dict[str, Any]]:
    """One step per outermost TOOL or RETRIEVER span, by time.

    Its chunks are its own documents, otherwise those of the retrievers within it, otherwise what the tool returned.
    """
    by_id = {call.id: call for call in reversed(calls) if call.id is not None}
    within: dict[SpanCall, list[SpanCall]] = {}
    for call in calls:
        if call.kind in _STEPS:
            within.setdefault(_outermost(call, by_id), []).append(call)
    return [_step(call, within[call]) for call in calls if call in within]


def _outermost(call: SpanCall, by_id: Mapping[str, SpanCall]) -> SpanCall:
    """The outermost TOOL or RETRIEVER span around a span, or itself. If parents form a circle, no span is the outermost."""
    found, seen = call, {call}
    at = by_id.get(call.parent or "")
    while at is not None:
        if at in seen:
            return call
        seen.add(at)
        if at.kind in _STEPS:
            found = at
        at = by_id.get(at.parent or "")
    return found


def _step(call: SpanCall, within: Sequence[SpanCall]) -> dict[str, Any]:
    inner = [one for one in within if one is not call and one.kind == "RETRIEVER"]
    found = [one.documents for one in inner if one.documents is not None]
    chunks = call.documents
    if chunks is None:
        chunks = [chunk for documents in found for chunk in documents] if found else call.output
    query = call.query or next((one.query for one in inner if one.query), None)
    return {"tool": call.tool, "query": query, "contexts": chunks, "seconds": _seconds(call.start, call.end)}


def _seconds(start: float, end: float) -> float | None:
    """The duration; None if a time is missing or the end is before the start."""
    if not 0 < start <= end:
        return None
    unit = next((unit for least, unit in _UNITS if start > least), 1.0)
    return round((end - start) / unit, 6)
