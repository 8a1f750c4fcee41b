"""Phoenix exports: spans of its API, or of a dataframe as JSON lines, Parquet or CSV, with OpenInference attributes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragstone.formats.base import Draft
from ragstone.formats.messages import decode
from ragstone.formats.openinference import PHOENIX_MARKS, parse, raw_spans
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.spans import Span
from ragstone.formats.trace_values import feedback_values, mapping_of
from ragstone.formats.traces import collect_spans, trace_drafts
from ragstone.formats.values import plain

# The start of the identifier of annotations that `ragstone push` wrote.
OWN = "ragstone"
_EVALUATION = "eval."


class PhoenixFormat:
    """One sample per trace; annotations of its root span are feedback."""

    name = "phoenix"
    title = "Phoenix spans"
    given: tuple[str, ...] = ()

    def recognises(self, sources: Sequence[Source]) -> bool:
        """One source with the columns of Phoenix."""
        return len(sources) == 1 and any(mark <= sources[0].keys() for mark in PHOENIX_MARKS)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """The traces in order of first appearance."""
        spans: list[Span] = []
        extras: dict[str, dict[str, Any]] = {}
        for where, raw in raw_spans(sources, report):
            row = {key: _cell(key, value) for key, value in raw.items()}
            if (span := parse(row, where, report)) is None:
                continue
            spans.append(span)
            if span.is_root:
                about = {"root_span_id": span.call.id} if span.call.id else {}
                scores = [*_annotations(decode(row.get("annotations"))), *_evaluations(row)]
                extras[span.trace] = {"metadata": {**about, **feedback_values(scores)}}
        yield from trace_drafts(collect_spans(spans), report, extras)


def _cell(key: str, value: Any) -> Any:
    """The value of a cell; those of CSV are text, and empty cells are absent."""
    value = plain(value)
    if value == "":
        return None
    # Texts of users stay text, even if they look like JSON; `parse` decodes them by their MIME type.
    if isinstance(value, str) and not key.endswith(("input.value", "output.value")):
        found = decode(value)
        return _literal(found) if isinstance(found, str) else found
    return value


def _literal(text: str) -> Any:
    """A list or mapping as pandas writes it to CSV, in Python's notation; other texts unchanged."""
    if not text.startswith(("[{'", "{'")):
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return text


def _annotations(found: Any) -> Iterator[tuple[str, Any, str | None]]:
    """Name, score or label, and explanation of annotations, without those that Ragstone wrote."""
    for one in found if isinstance(found, list) else ():
        if not isinstance(one, Mapping) or str(one.get("identifier") or "").startswith(OWN):
            continue
        result = mapping_of(one.get("result"))
        value = result.get("score") if result.get("score") is not None else result.get("label")
        yield str(one.get("name")), value, result.get("explanation")


def _evaluations(row: Mapping[str, Any]) -> Iterator[tuple[str, Any, str | None]]:
    """The columns `eval.NAME.score` of tables of evaluated spans."""
    for key, value in row.items():
        name = key.removeprefix(_EVALUATION)
        if name != key and name.endswith(".score") and value is not None:
            yield name.removesuffix(".score"), value, None


FORMAT = PhoenixFormat()
