"""DIAL rag-eval: a table of ground truth and a table of answers, joined on the set of documents and the question.

Each table has a sidecar file with its origin.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone._version import __version__
from ragstone.data.codec import load_json
from ragstone.errors import StorageError, UsageError
from ragstone.formats.base import Draft, RowFormat
from ragstone.formats.coercion import Unfit, coerce
from ragstone.formats.common_fields import one_text
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.storage.places import Place, open_place, read_json

TRUTH, ANSWERS, MERGED = "ground_truth", "answers", "merged"

_TEXT, _TEXTS = pa.string(), pa.list_(pa.string())
# DIAL's tools ignore unknown columns, so the tables also have our id and metadata.
_OURS = {"id": _TEXT, "metadata": _TEXT}
SCHEMAS = {
    TRUTH: pa.schema({"question": _TEXT, "documents": _TEXTS, "facts": _TEXTS, "answer": _TEXT, **_OURS}),
    ANSWERS: pa.schema({"question": _TEXT, "documents": _TEXTS, "context": _TEXTS, "answer": _TEXT, **_OURS}),
}
_STATISTICS = {TRUTH: "Ground truth size", ANSWERS: "Answers size"}


def _describe_origin(table: Place, report: Report) -> dict[str, Any]:
    """The origin of a table as in DIAL's sidecars: its path and the content of its own sidecar."""
    sidecar = _sidecar(table)
    content: Any = {"created_at": None, "sources": [], "tools": {}}
    try:
        content = read_json(sidecar) if sidecar.exists() else {**content, "file_info": _file_info(table)}
    except StorageError as error:
        report.note(f"{error}; it is ignored")
    return {"metadata_path": str(sidecar), "data_path": str(table), "metadata": content}


def write_tables(batches: Iterable[pa.RecordBatch], folder: Place, info: Mapping[str, Any]) -> None:
    """Write ground truth and answers, each with a sidecar that names its origin."""
    if folder.name.endswith(".parquet") or (folder.exists() and not folder.is_folder()):
        raise UsageError(f"'{folder}' must be a folder: ground_truth.parquet and answers.parquet are written into it")
    places = {role: folder / f"{role}.parquet" for role in SCHEMAS}
    rows: Counter[str] = Counter()
    with ExitStack() as stack:
        streams = {role: stack.enter_context(place.writing()) for role, place in places.items()}
        writers = {
            role: stack.enter_context(pq.ParquetWriter(streams[role], schema, compression="zstd"))
            for role, schema in SCHEMAS.items()
        }
        for batch in batches:
            for role, part in _split(batch).items():
                writers[role].write_batch(pa.RecordBatch.from_pylist(part, schema=SCHEMAS[role]))
                rows[role] += len(part)
    origins = info.get("dial") or {}
    for role, place in places.items():
        origin = origins.get(role) or origins.get(MERGED)
        write_sidecar(place, [origin] if origin else [], {_STATISTICS[role]: rows[role]})


def _split(batch: pa.RecordBatch) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table: samples with truth go to the ground truth, samples with output to the answers."""
    rows: dict[str, list[dict[str, Any]]] = {TRUTH: [], ANSWERS: []}
    for sample in batch.to_pylist():
        if sample["question"] is None:
            raise UsageError(f"sample '{sample['id']}' has no question; DIAL's two tables are joined on it")
        shared = {name: sample[name] for name in ("question", "id", "metadata")}
        shared["documents"] = sample["documents"] or []
        answered = sample["answer"] is not None or sample["contexts"] is not None
        if sample["facts"] or sample["references"] or not answered:
            facts = [fact["text"] for fact in sample["facts"] or ()]
            rows[TRUTH].append({**shared, "facts": facts, "answer": (sample["references"] or [""])[0]})
        if answered:
            context = None if sample["contexts"] is None else [chunk["text"] for chunk in sample["contexts"]]
            rows[ANSWERS].append({**shared, "context": context, "answer": sample["answer"]})
    return rows


def write_sidecar(
    table: Place, sources: list[Any], statistics: Mapping[str, int], metrics: Mapping[str, float | None] | None = None
) -> None:
    """Write the sidecar of a table."""
    content = {
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "sources": sources,
        "tools": {"ragstone": __version__},
        "file_info": _file_info(table),
        "metrics": dict(metrics or {}),
        "statistics": statistics,
    }
    _sidecar(table).write_bytes(json.dumps(content, indent=2, ensure_ascii=False).encode())


def _sidecar(table: Place) -> Place:
    return open_place(f"{table}.metadata.json")


def _file_info(table: Place) -> dict[str, Any]:
    return {"name": table.path, "size": table.files.get_file_info(table.path).size, "type": "file"}


Key = tuple[frozenset[str], str]


def _with_metadata(row: dict[str, Any]) -> dict[str, Any]:
    """Parses our metadata column, which is JSON text; a foreign column of that name is an ordinary value."""
    value = row.get("metadata")
    if isinstance(value, str):
        with suppress(ValueError):
            value = load_json(value)
    known = value is None or isinstance(value, dict)
    return {**row, "metadata": value if known else {"metadata": value}}


# Our names to DIAL's, per table.
_NAMES = {
    TRUTH: {"references": "answer"},
    ANSWERS: {"contexts": "context"},
    MERGED: {"contexts": "context", "references": "ground_truth_answer"},
}


def _table(role: str) -> RowFormat:
    ours = ("id", "question", "documents", "metadata", "facts", "contexts", "references")
    answer = {} if role == TRUTH else {"answer": "answer"}
    # Our own names are accepted too, so that --map works.
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
    """Two tables in either order, a folder with both, or one merged table."""

    name = "dial"
    title = "DIAL rag-eval: ground truth and answers"
    given: tuple[str, ...] = ()

    def recognises(self, sources: Sequence[Source]) -> bool:
        """Tables with DIAL's columns. Ground truth alone must have no other columns, since its names are also ours."""
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
        """One sample per pair of answer and ground truth, and per row without a partner."""
        tables = _find_tables(sources)
        report.info["dial"] = {
            role: _describe_origin(source.place, report) for role, source in tables.items() if source.place
        }
        if MERGED in tables:
            for record in _records(tables[MERGED], MERGED, report):
                yield Draft(record.where, record.values, _NAMES[MERGED])
            return
        records = {
            role: _records(source, role, report.within(str(source)) if len(tables) > 1 else report)
            for role, source in tables.items()
        }
        truths: dict[Key, list[_Record]] = defaultdict(list)
        for record in records.get(TRUTH, ()):
            truths[record.key].append(record)
        yield from _join(truths, records.get(ANSWERS, ()), report if len(tables) > 1 else Report())

    def write(self, batches: Iterable[pa.RecordBatch], target: Place, info: Mapping[str, Any]) -> None:
        """Write the two tables and their sidecars to a folder."""
        write_tables(batches, target, info)


def _find_tables(sources: Sequence[Source]) -> dict[str, Source]:
    """The tables by role, which their columns determine."""
    if len(sources) == 1 and sources[0].kind == "folder" and (folder := sources[0].place):
        sources = [Source(str(place)) for role in SCHEMAS if (place := folder / f"{role}.parquet").exists()]
    found: dict[str, Source] = {}
    for source in sources:
        role = _role(source.keys())
        if role is None:
            columns = ", ".join(sorted(source.keys())) or "none"
            raise UsageError(
                f"'{source}' is not a DIAL table: ground truth has facts, answers have context; its columns are: {columns}"
            )
        if role in found:
            raise UsageError(f"'{found[role]}' and '{source}' are both tables of {role}; pass one of each")
        found[role] = source
    if not found or (MERGED in found and len(found) > 1):
        raise UsageError("pass a table of ground truth and a table of answers, or one merged table")
    return found


def _role(keys: frozenset[str]) -> str | None:
    """The role of a table with these columns."""
    if keys & {"context", "contexts"}:
        return MERGED if "facts" in keys else ANSWERS
    return TRUTH if "facts" in keys else None


def _records(source: Source, role: str, report: Report) -> Iterator[_Record]:
    """Rows with our names and the key of the join; rows without a key are problems.

    Ground truth is checked before the join, while its position in the file is known.
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
    """Drops empty truth: DIAL's tables have "" and [] for unknown values."""
    if "references" in values:
        values["references"] = one_text(values["references"])
    empty = {name for name in ("references", "facts", "documents") if values.get(name) in (None, [], "")}
    return {name: value for name, value in values.items() if name not in empty}


def _join(truths: Mapping[Key, list[_Record]], answers: Iterable[_Record], report: Report) -> Iterator[Draft]:
    """Answers in order, each with every truth of the same key as in DIAL; then the truths without an answer."""
    uses: Counter[int] = Counter()
    alone: list[str] = []
    several: dict[str, None] = {}
    for answer in answers:
        same = truths.get(answer.key, [])
        # Those with its id, otherwise all with the same key.
        partners = [truth for truth in same if truth.values.get("id") == answer.values.get("id")] or same
        if not partners:
            alone.append(answer.key[1])
            yield Draft(answer.where, answer.values, _NAMES[ANSWERS])
        for position, truth in enumerate(partners, start=1):
            uses[id(truth)] += 1
            if max(len(partners), uses[id(truth)]) > 1:
                several[answer.key[1]] = None
            merged = _merge(truth.values, answer.values)
            merged["id"] = _numbered(truth.values.get("id"), uses[id(truth)]) or _numbered(
                answer.values.get("id"), position
            )
            yield Draft(answer.where, merged, _NAMES[ANSWERS])
    lonely = [truth for group in truths.values() for truth in group if not uses[id(truth)]]
    for truth in lonely:
        yield Draft(truth.where, truth.values)
    kept = "they are kept, though DIAL's tool drops them"
    report.note_all("answers without ground truth for the same documents and question", alone, kept)
    report.note_all(
        "ground truth without an answer for the same documents and question", [truth.key[1] for truth in lonely], kept
    )
    report.note_all(
        "questions with several ground truths or answers", list(several), "every pair is a sample, as in DIAL"
    )


def _merge(truth: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """One sample of both; if other columns differ, those of the ground truth get a prefix."""
    mine, theirs = answer.get("metadata") or {}, truth.get("metadata") or {}
    for metadata in (mine, theirs):
        if isinstance(metadata, Unfit):
            return {**truth, **answer, "metadata": metadata}
    kept = {(f"{TRUTH}_{key}" if mine.get(key, value) != value else key): value for key, value in theirs.items()}
    return {**truth, **answer, "metadata": {**kept, **mine} or None}


def _numbered(name: Any, number: int) -> str | None:
    """The id of a row that is in several samples."""
    return None if name is None else f"{name}-{number}" if number > 1 else str(name)


FORMAT = DialFormat()
