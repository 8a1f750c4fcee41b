"""Langfuse exports: traces, observations and scores of its API, its tables and its blob storage, as JSON lines or CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from ragstone.formats.messages import decode
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.spans import Span
from ragstone.formats.trace_values import contexts_in, feedback_values, first_number, history_in, make_span, mapping_of
from ragstone.formats.traces import Extras, TraceFormat
from ragstone.formats.values import as_time
from ragstone.text.lexicon import word_set

_MARKS = [
    {"htmlPath"},
    {"traceId", "startTime", "type"},
    {"trace_id", "start_time", "type", "parent_observation_id"},
    {"timestamp", "sessionId", "userId", "input", "output"},
    {"timestamp", "session_id", "user_id", "input", "output", "bookmarked"},
    {"observations", "scores"},
]
_KINDS = {"GENERATION": "LLM", "SPAN": "CHAIN", "EVENT": ""}
_ABOUT = ("name", "userId", "sessionId", "tags", "environment", "release", "version")
_NAMES = {"sessionId": "session_id", "userId": "user_id", "name": "trace_name"}
_TOTALS = {"input_tokens": "inputTokens", "output_tokens": "outputTokens", "cost_usd": "totalCost"}
# The columns of traces in tables. Other columns of an exported table are scores.
_COLUMNS = word_set(
    "id timestamp name input output sessionId userId release version environment tags metadata public bookmarked htmlPath "
    "latency totalCost observations scores projectId externalId createdAt updatedAt comments usage inputTokens outputTokens "
    "totalTokens inputCost outputCost level errorCount warningCount defaultCount debugCount observationCount scoresAvg "
    "scoreCategories _deprecation traceId startTime endTime type parentObservationId model providedModelName "
    "modelParameters usageDetails costDetails completionStartTime calculatedTotalCost timeToFirstToken observationId value "
    "stringValue dataType source comment subject statusMessage traceName traceTimestamp isRootObservation isDeleted eventTs"
)
_CAMEL = {re.sub(r"([A-Z])", lambda found: f"_{found[1].lower()}", name): name for name in _COLUMNS}
# Scores that `ragstone push` wrote are not user feedback.
OWN = "ragstone"


def _load(sources: Sequence[Source], report: Report) -> tuple[Iterable[Span], Extras]:
    """The spans of all traces; rows of all kinds may be mixed."""
    rows = _Rows()
    for source in sources:
        for row in source.rows(report):
            rows.add(_renamed(row.values), row.where, report)
    spans = list(rows.spans())
    return spans, {trace: rows.about(trace) for trace in dict.fromkeys(span.trace for span in spans)}


def _renamed(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the names of the API; empty cells are left out."""
    return {_CAMEL.get(key, key): value for key, value in row.items() if value not in (None, "")}


class _Rows:
    """The rows of an export by kind. A row that comes twice, as after a late update, counts once: the last one."""

    def __init__(self) -> None:
        self._traces: dict[str, dict[str, Any]] = {}
        self._observations: dict[tuple[str, str], dict[str, Any]] = {}
        self._roots: dict[str, dict[str, Any]] = {}
        self._scores: dict[str, dict[str, dict[str, Any]]] = {}

    def add(self, row: Mapping[str, Any], where: str, report: Report) -> None:
        """Sort a row in: a trace with or without its observations, an observation or a score."""
        inner = [one for one in _listed(row.get("observations")) if isinstance(one, Mapping)]
        for one in inner:
            self.add(_renamed(one), where, report)
        for score in _listed(row.get("scores")):
            if isinstance(score, Mapping) and "name" in score:
                self._add_score({"traceId": row.get("id"), **_renamed(score)})
        if row.get("traceId") and ("startTime" in row or "parentObservationId" in row):
            self._add_observation(dict(row))
        elif "name" in row and ("value" in row or "stringValue" in row) and ("traceId" in row or "subject" in row):
            self._add_score(row)
        elif row.get("id") and ("timestamp" in row or "input" in row or "output" in row):
            self._traces[str(row["id"])] = dict(row)
        elif not inner and not row.get("scores"):
            hint = "export traces or observations with their id and times"
            report.problem(where, "is not a trace, an observation or a score", hint=hint)

    def _add_observation(self, row: dict[str, Any]) -> None:
        trace = str(row["traceId"])
        self._observations[trace, str(row.get("id") or len(self._observations))] = row
        is_root = row.get("isRootObservation") is True or not row.get("parentObservationId")
        if is_root or trace not in self._roots:
            self._roots[trace] = row

    def _add_score(self, score: Mapping[str, Any]) -> None:
        subject = mapping_of(score.get("subject"))
        trace = score.get("traceId") or subject.get("traceId") or (subject.get("kind") == "trace" and subject.get("id"))
        if trace and OWN not in mapping_of(score.get("metadata")):
            self._scores.setdefault(str(trace), {})[str(score.get("id") or score["name"])] = dict(score)

    def spans(self) -> Iterator[Span]:
        """The spans of all traces; the row of a trace is its root."""
        starts: dict[str, str] = {}
        for (trace, _), row in self._observations.items():
            if (start := as_time(row.get("startTime"))) is not None:
                starts[trace] = min(start, starts.get(trace, start))
        for trace, row in self._traces.items():
            if span := _root(trace, row, starts.get(trace)):
                yield span
        for (trace, _), row in self._observations.items():
            if span := _observation(row, trace in self._traces):
                yield span

    def about(self, trace: str) -> dict[str, Any]:
        """Metadata, feedback, history and contexts that are stored with the trace or its root observation."""
        root = self._traces.get(trace) or self._roots[trace]
        found = {_NAMES.get(key, key): decode(root[key]) for key in _ABOUT if root.get(key) not in (None, "", [], "[]")}
        own = {key: value for key, value in mapping_of(root.get("metadata")).items() if value not in (None, "", {}, [])}
        totals = {ours: first_number(root[theirs]) or None for ours, theirs in _TOTALS.items() if root.get(theirs)}
        scores = [(str(one["name"]), _value(one), one.get("comment")) for one in self._scores.get(trace, {}).values()]
        return {
            "metadata": {**own, **found, **feedback_values([*_score_columns(root), *scores])},
            "totals": totals,
            "history": history_in(root.get("input")),
            "contexts": contexts_in(root.get("output")),
        }


def _root(trace: str, row: Mapping[str, Any], first: str | None) -> Span | None:
    time = as_time(row.get("timestamp"))
    start = min(filter(None, (time, first)), default=None)
    seconds = first_number(row.get("latency"))
    end = (datetime.fromisoformat(start) + timedelta(seconds=seconds)).isoformat() if start and seconds else None
    about = {"trace_id": trace, "name": row.get("name") or "trace", "start_time": start, "end_time": end}
    session = {"session.id": row.get("sessionId")}
    return make_span(about, session, kind="CHAIN", input=row.get("input"), output=row.get("output"))


def _observation(row: Mapping[str, Any], has_trace: bool) -> Span | None:
    usage, cost = mapping_of(row.get("usageDetails")), mapping_of(row.get("costDetails"))
    old = mapping_of(row.get("usage"))
    attributes = {
        "session.id": row.get("sessionId"),
        "llm.model_name": row.get("model") or row.get("providedModelName"),
        "llm.token_count.prompt": first_number(usage.get("input"), old.get("input"), old.get("promptTokens")),
        "llm.token_count.completion": first_number(usage.get("output"), old.get("output"), old.get("completionTokens")),
        "llm.cost.total": first_number(cost.get("total"), row.get("totalCost"), row.get("calculatedTotalCost")),
    }
    kind, first = str(row.get("type") or "").upper(), as_time(row.get("completionStartTime"))
    is_root = row.get("isRootObservation") is True
    about = {
        "trace_id": str(row["traceId"]),
        "span_id": str(row["id"]) if row.get("id") else None,
        # The row of the trace is the root, if there is one.
        "parent_id": (None if is_root else row.get("parentObservationId")) or ("trace" if has_trace else None),
        "name": row.get("name"),
        "start_time": as_time(row.get("startTime")),
        "end_time": as_time(row.get("endTime")),
    }
    found = {"input": row.get("input"), "output": row.get("output"), "first_token": first}
    return make_span(about, attributes, kind=_KINDS.get(kind, kind), **found)


def _value(score: Mapping[str, Any]) -> Any:
    """The category of a categorical score, otherwise its number."""
    if str(score.get("dataType")).upper() in ("CATEGORICAL", "TEXT", "CORRECTION") and score.get("stringValue"):
        return score["stringValue"]
    value = score.get("value")
    return value if isinstance(value, bool | str) and first_number(value) is None else first_number(value)


def _score_columns(row: Mapping[str, Any]) -> Iterator[tuple[str, Any, str | None]]:
    """The scores that exported tables have as columns or in one mapping: lists with one value per score."""
    columns = {key: value for key, value in row.items() if key not in _COLUMNS}
    columns |= {key: value for key, value in mapping_of(row.get("scores")).items() if key != "name"}
    for name, value in columns.items():
        values = decode(value)
        if isinstance(values, list) and values and all(isinstance(one, str | int | float) for one in values):
            yield name, values[-1], None


def _listed(value: Any) -> Iterable[Any]:
    value = decode(value)
    return value if isinstance(value, list) else [value] if isinstance(value, Mapping) else []


FORMAT = TraceFormat("langfuse", "Langfuse traces, observations and scores", _MARKS, _load, [{"attributes"}])
