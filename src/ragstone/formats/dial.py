"""DIAL rag-eval: a table of ground truth and a table of answers, joined on the set of documents and the question."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import pyarrow as pa

from ragstone.errors import UsageError
from ragstone.formats.base import Draft, RowFormat
from ragstone.formats.chunks import one_text
from ragstone.formats.coercion import Unfit, coerce
from ragstone.formats.dial_tables import ANSWERS, MERGED, SCHEMAS, TRUTH, describe_origin, write_tables
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.storage.places import Place

Key = tuple[frozenset[str], str]


def _with_metadata(row: dict[str, Any]) -> dict[str, Any]:
    """Our own column of metadata is JSON text; a foreign one of that name is a value like any other."""
    value = row.get("metadata")
    if isinstance(value, str):
        with suppress(ValueError):
            value = json.loads(value)
    known = value is None or isinstance(value, dict)
    return {**row, "metadata": value if known else {"metadata": value}}


# Our names to DIAL's, table by table.
_NAMES = {
    TRUTH: {"references": "answer"},
    ANSWERS: {"contexts": "context"},
    MERGED: {"contexts": "context", "references": "ground_truth_answer"},
}


def _table(role: str) -> RowFormat:
    ours = ("id", "question", "documents", "metadata", "facts", "contexts", "references")
    answer = {} if role == TRUTH else {"answer": "answer"}
    # Our own names are known too, so that --map works.
    columns = {
        **dict(zip(ours, ours, strict=True)),
        **answer,
        **{theirs: name for name, theirs in _NAMES[role].items()},
    }
    return RowFormat("dial", role, columns, ())


_TABLES = {role: _table(role) for role in _NAMES}


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
        if len(sources) == 2 or sources[0].kind == "folder":
            return all({"question", "documents"} <= source.keys() for source in tables.values())
        keys = sources[0].keys()
        alone = sources[0].kind == "parquet" and keys == {"question", "documents", "facts", "answer"}
        return alone or {"question", "documents", "context"} <= keys

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        """A sample for every pair of an answer and a ground truth, and for each of them that is alone."""
        tables = _find_tables(sources)
        report.info["dial"] = {
            role: describe_origin(source.place, report) for role, source in tables.items() if source.place
        }
        if MERGED in tables:
            for record in _records(tables[MERGED], MERGED, report):
                yield Draft(record.where, record.values, _NAMES[MERGED])
            return
        truths: dict[Key, list[_Record]] = defaultdict(list)
        answers: Iterator[_Record] = iter(())
        if TRUTH in tables:
            for record in _records(tables[TRUTH], TRUTH, _of(report, tables, TRUTH)):
                truths[record.key].append(record)
        if ANSWERS in tables:
            answers = _records(tables[ANSWERS], ANSWERS, _of(report, tables, ANSWERS))
        yield from _join(truths, answers, report if len(tables) > 1 else Report())

    def write(self, batches: Iterable[pa.RecordBatch], target: Place, info: Mapping[str, Any]) -> None:
        """The two tables, each with its sidecar, in a folder."""
        write_tables(batches, target, info)


def _find_tables(sources: Sequence[Source]) -> dict[str, Source]:
    """The tables by what they are, told by their columns."""
    if len(sources) == 1 and sources[0].kind == "folder" and (folder := sources[0].place):
        sources = [Source(str(place)) for role in SCHEMAS if (place := folder / f"{role}.parquet").exists()]
    found: dict[str, Source] = {}
    for source in sources:
        role = _role(source.keys())
        if role is None:
            columns = ", ".join(sorted(source.keys())) or "none"
            raise UsageError(
                f"'{source}' is no DIAL table: ground truth has facts, answers have context; its columns are: {columns}"
            )
        if role in found:
            raise UsageError(f"'{found[role]}' and '{source}' are both tables of {role}; give one of each")
        found[role] = source
    if not found or (MERGED in found and len(found) > 1):
        raise UsageError("give a table of ground truth and a table of answers, or one in which they are merged")
    return found


def _role(keys: frozenset[str]) -> str | None:
    """What a table holds."""
    if keys & {"context", "contexts"}:
        return MERGED if "facts" in keys else ANSWERS
    return TRUTH if "facts" in keys else None


def _records(source: Source, role: str, report: Report) -> Iterator[_Record]:
    """Rows with our names and the key on which tables are joined; those that cannot have one are problems.

    A ground truth is checked here and now: joined to an answer, it would no longer be known where it stands.
    """
    for row in source.rows(report):
        values = _without_blanks(_TABLES[role].rename(_with_metadata(row.values)))
        name = ""
        try:
            for name in values if role == TRUTH else values.keys() & {"question", "documents"}:
                values[name] = coerce(name, values[name], from_text=source.kind == "csv")
        except Unfit as unfit:
            report.problem(row.where, unfit.message, _NAMES[role].get(name, name), unfit.hint)
            continue
        if values.get("question") is None:
            report.problem(row.where, "is missing", "question", "tables are joined on it")
            continue
        where = f"{source}, {row.where}" if role != MERGED else row.where
        yield _Record(where, (frozenset(values.get("documents") or ()), values["question"]), values)


def _without_blanks(values: dict[str, Any]) -> dict[str, Any]:
    """An empty truth is no truth: DIAL's own tables have "" and [] where nothing is known."""
    if "references" in values:
        values["references"] = one_text(values["references"])
    empty = {name for name in ("references", "facts", "documents") if values.get(name) in (None, [], "")}
    return {name: value for name, value in values.items() if name not in empty}


def _join(truths: Mapping[Key, list[_Record]], answers: Iterable[_Record], report: Report) -> Iterator[Draft]:
    """Answers in their order with every truth of the same key, as DIAL pairs them; then the truths that found no answer."""
    met: Counter[int] = Counter()
    alone: list[str] = []
    several: dict[str, None] = {}
    for answer in answers:
        partners = _partners(truths.get(answer.key, []), answer)
        if not partners:
            alone.append(answer.key[1])
            yield Draft(answer.where, answer.values, _NAMES[ANSWERS])
        for position, truth in enumerate(partners, start=1):
            met[id(truth)] += 1
            if max(len(partners), met[id(truth)]) > 1:
                several[answer.key[1]] = None
            merged = _merge(truth.values, answer.values)
            merged["id"] = _numbered(truth.values.get("id"), met[id(truth)]) or _numbered(
                answer.values.get("id"), position
            )
            yield Draft(answer.where, merged, _NAMES[ANSWERS])
    lonely = [truth for group in truths.values() for truth in group if not met[id(truth)]]
    for truth in lonely:
        yield Draft(truth.where, truth.values)
    kept = "kept, though DIAL's own tool leaves them out"
    report.note_all("answers without ground truth for the same documents and question", alone, kept)
    report.note_all(
        "ground truth without an answer for the same documents and question", [truth.key[1] for truth in lonely], kept
    )
    report.note_all(
        "questions with several ground truths or answers", list(several), "every pair is a sample, as in DIAL"
    )


def _partners(truths: Sequence[_Record], answer: _Record) -> list[_Record]:
    """The truths that an answer goes with: of those with the same key its own, if the ids say which."""
    own = [truth for truth in truths if truth.values.get("id") == answer.values.get("id")]
    return own or list(truths)


def _merge(truth: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """One sample of both; where their further columns differ, the ground truth's get its name in front."""
    mine, theirs = answer.get("metadata") or {}, truth.get("metadata") or {}
    for metadata in (mine, theirs):
        if isinstance(metadata, Unfit):
            return {**truth, **answer, "metadata": metadata}
    kept = {(f"{TRUTH}_{key}" if mine.get(key, value) != value else key): value for key, value in theirs.items()}
    return {**truth, **answer, "metadata": {**kept, **mine} or None}


def _numbered(name: Any, number: int) -> str | None:
    """The id of a row that is in several samples."""
    return None if name is None else f"{name}-{number}" if number > 1 else str(name)


def _of(report: Report, tables: Mapping[str, Source], role: str) -> Report:
    return report.within(str(tables[role])) if len(tables) > 1 else report


FORMAT = DialFormat()
