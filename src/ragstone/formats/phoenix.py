"""Phoenix exports: spans of its API, or of a dataframe as JSON lines, Parquet or CSV, with OpenInference attributes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ragstone.data.usage import ROOT_SPAN
from ragstone.formats.messages import decode
from ragstone.formats.openinference import PHOENIX_MARKS, parse, raw_spans
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.spans import Span
from ragstone.formats.trace_values import feedback_values, mapping_of
from ragstone.formats.traces import Extras, TraceFormat
from ragstone.formats.values import plain

# The start of the identifier of annotations that `ragstone push` wrote.
OWN = "ragstone"
_EVALUATION = "eval."


def _load(sources: Sequence[Source], report: Report) -> tuple[Iterable[Span], Extras]:
    """The spans; annotations of a root span are feedback."""
    spans: list[Span] = []
    extras: dict[str, dict[str, Any]] = {}
    for where, raw in raw_spans(sources, report):
        row = {key: _cell(key, value) for key, value in raw.items()}
        if (span := parse(row, where, report)) is None:
            continue
        spans.append(span)
        if span.is_root:
            about = {ROOT_SPAN: span.id} if span.id else {}
            scores = [*_annotations(decode(row.get("annotations"))), *_evaluations(row)]
            extras[span.trace] = {"metadata": {**about, **feedback_values(scores)}}
    return spans, extras


def _cell(key: str, value: Any) -> Any:
    """The value of a cell; those of CSV are text, and empty cells are absent."""
    if (value := plain(value)) == "":
        return None
    # Texts of users stay text, even if they look like JSON; `parse` decodes them by their MIME type.
    if isinstance(value, str) and not key.endswith(("input.value", "output.value")):
        found = decode(value)
        # pandas writes lists and mappings to CSV in Python's notation.
        if isinstance(found, str) and found.startswith(("[{'", "{'")):
            with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
                return ast.literal_eval(found)
        return found
    return value


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


FORMAT = TraceFormat("phoenix", "Phoenix spans", PHOENIX_MARKS, _load)
