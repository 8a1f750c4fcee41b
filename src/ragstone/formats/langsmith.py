"""LangSmith exports: runs as JSON lines, a JSON list or a table, from the API, the SDK or a bulk export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragstone.formats.messages import decode
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.spans import Span
from ragstone.formats.trace_values import contexts_in, feedback_values, first_number, history_in, make_span, mapping_of
from ragstone.formats.traces import Extras, TraceFormat
from ragstone.formats.values import as_time

_MARKS = [{"run_type", "inputs"}, {"run_type", "outputs"}, {"run_type", "dotted_order"}]
_KINDS = ("LLM", "CHAIN", "PROMPT", "RETRIEVER", "TOOL", "EMBEDDING")
_TOTALS = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "cost_usd": "total_cost"}
# Metadata keys of a conversation, in LangSmith's order. Its own session_id is the project.
_THREADS = ("session_id", "thread_id", "conversation_id")


def _load(sources: Sequence[Source], report: Report) -> tuple[Iterable[Span], Extras]:
    """The runs as spans; the root run gives question, answer and feedback."""
    spans: list[Span] = []
    roots: dict[str, Mapping[str, Any]] = {}
    for row in (row for source in sources for row in source.rows(report)):
        for run in _with_children(row.values):
            trace = _trace(run)
            if trace is None:
                report.problem(row.where, "has no id", "id", "a run has an id and a trace_id")
                continue
            if _parent(run) is None or trace not in roots:
                roots[trace] = run
            if span := _span(trace, run):
                spans.append(span)
    return spans, {trace: _extra(run) for trace, run in roots.items()}


def _with_children(run: Mapping[str, Any], trace: str | None = None) -> Iterator[Mapping[str, Any]]:
    """A run and the runs within it, as the SDK loads them."""
    name = _trace(run) or trace
    yield {**run, "trace_id": name}
    for child in decode(run.get("child_runs")) or ():
        if isinstance(child, Mapping):
            yield from _with_children({"parent_run_id": run.get("id"), "trace_id": name, **child}, name)


def _trace(run: Mapping[str, Any]) -> str | None:
    name = run.get("trace_id") or (run.get("id") if _parent(run) is None else None)
    return str(name) if name else None


def _parent(run: Mapping[str, Any]) -> str | None:
    parents = decode(run.get("parent_run_ids"))
    last = parents[-1] if isinstance(parents, list) and parents else None
    name = run.get("parent_run_id") or last
    return str(name) if name else None


def _span(trace: str, run: Mapping[str, Any]) -> Span | None:
    metadata = _metadata(run)
    about = {
        "trace_id": trace,
        "span_id": str(run["id"]) if run.get("id") else None,
        "parent_id": _parent(run),
        "name": run.get("name"),
        "start_time": as_time(run.get("start_time")),
        "end_time": as_time(run.get("end_time")),
    }
    kind = next((kind for kind in _KINDS if kind == str(run.get("run_type")).upper()), "")
    # Only model calls: other runs repeat the sums of the runs below them.
    is_call = kind in ("LLM", "EMBEDDING")
    attributes = {
        "session.id": run.get("thread_id") or next((metadata[key] for key in _THREADS if metadata.get(key)), None),
        "llm.model_name": metadata.get("ls_model_name") if is_call else None,
        "llm.token_count.prompt": first_number(run.get("prompt_tokens")) if is_call else None,
        "llm.token_count.completion": first_number(run.get("completion_tokens")) if is_call else None,
        "llm.cost.total": first_number(run.get("total_cost")) if is_call else None,
    }
    first = as_time(run.get("first_token_time"))
    return make_span(
        about, attributes, kind=kind, input=run.get("inputs"), output=run.get("outputs"), first_token=first
    )


def _metadata(run: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**mapping_of(mapping_of(run.get("extra")).get("metadata")), **mapping_of(run.get("metadata"))}


def _extra(root: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata, feedback, history and contexts of the root run. Times and project are needed to write feedback back."""
    user = {key: value for key, value in _metadata(root).items() if not key.startswith(("ls_", "langgraph_"))}
    found = {
        **{key: value for key, value in user.items() if key not in _THREADS and value is not None},
        "trace_name": root.get("name"),
        "tags": decode(root.get("tags")) or None,
        "error": root.get("error"),
        "langsmith_project": root.get("session_id") or root.get("project_id"),
        "langsmith_start_time": root.get("start_time"),
        **feedback_values(_feedback(mapping_of(root.get("feedback_stats")))),
    }
    return {
        "metadata": {key: value for key, value in found.items() if value is not None},
        "totals": {ours: first_number(root.get(theirs)) or None for ours, theirs in _TOTALS.items()},
        "history": history_in(root.get("inputs")),
        "contexts": contexts_in(root.get("outputs")),
    }


def _feedback(stats: Mapping[str, Any]) -> Iterator[tuple[str, Any, str | None]]:
    """The mean of numeric feedback, otherwise its most frequent value."""
    for name, entry in stats.items():
        if not isinstance(entry, Mapping):
            continue
        values = mapping_of(entry.get("values"))
        counted = {key: count for key, count in values.items() if isinstance(count, int | float)}
        given = entry.get("comments")
        comments = [one for one in given if isinstance(one, str) and one] if isinstance(given, list) else []
        value = first_number(entry.get("avg"))
        if value is None and counted:
            value = max(counted, key=lambda key: counted[key])  # type: ignore[assignment]
        yield str(name), value, "\n".join(comments) or None


FORMAT = TraceFormat("langsmith", "LangSmith runs", _MARKS, _load)
