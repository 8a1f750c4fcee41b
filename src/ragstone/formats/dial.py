"""DIAL rag-eval: a table of ground truth and a table of answers, joined on the set of documents and the question."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone._version import __version__
from ragstone.errors import StorageError, UsageError
from ragstone.formats.base import Draft, RowFormat
from ragstone.formats.coercion import Unfit, coerce
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.storage.places import Place, open_place, read_json

Key = tuple[frozenset[str], str]
_SIDECAR = ".metadata.json"
_TRUTH, _ANSWERS, _MERGED = "ground_truth", "answers", "merged"
_STATISTICS = {_TRUTH: "Ground truth size", _ANSWERS: "Answers size"}


def _with_metadata(row: dict[str, Any]) -> dict[str, Any]:
    """Our own column of metadata is JSON text; an empty truth is no truth."""
    if isinstance(metadata := row.get("metadata"), str) and metadata.startswith("{"):
        row = {**row, "metadata": json.loads(metadata)}
    return row


def _names(title: str, mark: set[str], **columns: str) -> RowFormat:
    ours = {name: name for name in ("id", "question", "documents", "metadata", "contexts", "references")}
    return RowFormat("dial", title, {**ours, **columns}, [frozenset(mark)], _with_metadata)


# DIAL's tools take their own columns and pass over others, so ours for id and metadata can stand beside them.
_TABLES = {
    _MERGED: _names(
        "ground truth and answers", {"facts", "context"}, facts="facts", context="contexts", answer="answer", ground_truth_answer="references"
    ),
    _TRUTH: _names("ground truth", {"facts"}, facts="facts", answer="references"),
    _ANSWERS: _names("answers", {"context"}, context="contexts", answer="answer"),
}
_TEXTS = pa.list_(pa.string())
_SCHEMAS = {
    _TRUTH: pa.schema({"question": pa.string(), "documents": _TEXTS, "facts": _TEXTS, "answer": pa.string(), "id": pa.string(), "metadata": pa.string()}),
    _ANSWERS: pa.schema({"question": pa.string(), "documents": _TEXTS, "context": _TEXTS, "answer": pa.string(), "id": pa.string(), "metadata": pa.string()}),
}


class _Record(NamedTuple):
    where: str
    key: Key
    values: dict[str, Any]


class DialFormat:
    """Two tables in either order, a folder with both, or one table in which they are merged already."""

    name = "dial"
    title = "DIAL rag-eval: ground truth and answers"
    given: tuple[str, ...] = ()

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Tables with DIAL's columns; ground truth alone only if it has no column more, since its names are ours too."""
        try:
            tables = _find_tables(sources)
        except UsageError:
            return False
        if list(tables) == [_TRUTH]:
            return sources[0].kind == "parquet" and sources[0].keys() == {"question", "documents", "facts", "answer"}
        return all({"question", "documents"} <= source.keys() for source in tables.values())

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """A sample for every pair of an answer and a ground truth, and for each of them that is alone."""
        tables = _find_tables(sources)
        report.info["dial"] = {role: _origin(source, report) for role, source in tables.items()}
        if _MERGED in tables:
            for record in _records(tables[_MERGED], _MERGED, report):
                yield Draft(record.where, record.values)
            return
        truths: dict[Key, list[_Record]] = defaultdict(list)
        answers: Iterator[_Record] = iter(())
        if _TRUTH in tables:
            for record in _records(tables[_TRUTH], _TRUTH, _of(report, tables, _TRUTH)):
                truths[record.key].append(record)
        if _ANSWERS in tables:
            answers = _records(tables[_ANSWERS], _ANSWERS, _of(report, tables, _ANSWERS))
        yield from _join(truths, answers, report if len(tables) > 1 else Report())

    def write(self, batches: Iterable[pa.RecordBatch], target: Place, info: Mapping[str, Any]) -> None:
        """The two tables, each with its sidecar, in a folder."""
        if target.name.endswith(".parquet") or (target.exists() and not target.is_folder()):
            raise UsageError(f"'{target}' must be a folder: ground_truth.parquet and answers.parquet are written into it")
        rows: Counter[str] = Counter()
        with ExitStack() as stack:
            writers = {role: stack.enter_context(_writing(target / f"{role}.parquet", _SCHEMAS[role])) for role in _SCHEMAS}
            for batch in batches:
                for role, table_rows in _split(batch).items():
                    writers[role].write_batch(pa.RecordBatch.from_pylist(table_rows, schema=_SCHEMAS[role]))
                    rows[role] += len(table_rows)
        origins = info.get("dial") or {}
        for role in _SCHEMAS:
            origin = origins.get(role) or origins.get(_MERGED)
            _write_sidecar(target / f"{role}.parquet", [origin] if origin else [], {_STATISTICS[role]: rows[role]})


# Reading


def _find_tables(sources: Sequence[Source]) -> dict[str, Source]:
    """The tables by what they are, told by their columns."""
    if len(sources) == 1 and sources[0].kind == "folder" and (folder := sources[0].place):
        sources = [Source(str(place)) for role in _SCHEMAS if (place := folder / f"{role}.parquet").exists()]
    found: dict[str, Source] = {}
    for source in sources:
        keys = source.keys()
        role = next((role for role, table in _TABLES.items() if any(mark <= keys for mark in table.marks)), None)
        if role is None:
            columns = ", ".join(sorted(keys)) or "none"
            raise UsageError(f"'{source}' is no DIAL table: ground truth has facts, answers have context; its columns are: {columns}")
        if role in found:
            raise UsageError(f"'{found[role]}' and '{source}' are both tables of {_TABLES[role].title}; give one of each")
        found[role] = source
    if not found or (_MERGED in found and len(found) > 1):
        raise UsageError("give a table of ground truth and a table of answers, or one in which they are merged")
    return found


def _records(source: Source, role: str, report: Report) -> Iterator[_Record]:
    """Rows with our names and the key on which tables are joined; those that cannot have one are problems."""
    from_text = source.kind == "csv"
    for row in source.rows(report):
        values = _TABLES[role].rename(row.values)
        if values.get("question") is None:
            report.problem(row.where, "is missing", "question")
            continue
        name = ""
        try:
            for name in ("question", "documents"):
                values[name] = coerce(name, values.get(name), from_text)
        except Unfit as unfit:
            message, *hint = unfit.args
            report.problem(row.where, message, name, *hint)
            continue
        # An empty truth is no truth: DIAL's own tables have "" and [] where nothing is known.
        for name in {"references", "facts", "documents"} & values.keys():
            values[name] = values[name] if values[name] is not None and len(values[name]) else None
        where = f"{source}, {row.where}" if role != _MERGED else row.where
        yield _Record(where, (frozenset(values["documents"] or ()), values["question"]), values)


def _join(truths: Mapping[Key, list[_Record]], answers: Iterable[_Record], report: Report) -> Iterator[Draft]:
    """Answers in their order with every truth of the same key, as DIAL pairs them; then the truths that found no answer."""
    met: Counter[int] = Counter()
    alone: list[str] = []
    several: dict[str, None] = {}
    for answer in answers:
        partners = _partners(truths.get(answer.key, []), answer)
        if not partners:
            alone.append(answer.key[1])
            yield Draft(answer.where, answer.values)
        for truth in partners:
            met[id(truth)] += 1
            if len(partners) > 1 or met[id(truth)] > 1:
                several[answer.key[1]] = None
            yield Draft(answer.where, _merge(truth.values, answer.values, met[id(truth)]))
    lonely = [truth for group in truths.values() for truth in group if not met[id(truth)]]
    for truth in lonely:
        yield Draft(truth.where, truth.values)
    kept = "kept, though DIAL's own tool leaves them out"
    report.note_all("answers without ground truth for the same documents and question", alone, kept)
    report.note_all("ground truth without an answer for the same documents and question", [truth.key[1] for truth in lonely], kept)
    report.note_all("questions with several ground truths or answers", list(several), "every pair is a sample, as in DIAL")


def _partners(truths: Sequence[_Record], answer: _Record) -> list[_Record]:
    """The truths that an answer goes with: of those with the same key its own, if the ids say which."""
    own = [truth for truth in truths if truth.values.get("id") == answer.values.get("id")]
    return own or list(truths)


def _merge(truth: Mapping[str, Any], answer: Mapping[str, Any], number: int) -> dict[str, Any]:
    """One sample of both; where their further columns differ, the ground truth's get its name in front."""
    mine, theirs = answer.get("metadata") or {}, truth.get("metadata") or {}
    kept = {(f"{_TRUTH}_{key}" if mine.get(key, value) != value else key): value for key, value in theirs.items()}
    merged = {**truth, **answer, "metadata": {**kept, **mine} or None}
    name = truth.get("id") or answer.get("id")
    merged["id"] = f"{name}-{number}" if name is not None and number > 1 else name
    return merged


def _of(report: Report, tables: Mapping[str, Source], role: str) -> Report:
    return report.within(str(tables[role])) if len(tables) > 1 else report
