"""DIAL's tables on disk: their columns, the sidecar beside each, and how samples are written as two of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone._version import __version__
from ragstone.errors import StorageError, UsageError
from ragstone.formats.reports import Report
from ragstone.storage.places import Place, open_place, read_json

TRUTH, ANSWERS, MERGED = "ground_truth", "answers", "merged"

_TEXT, _TEXTS = pa.string(), pa.list_(pa.string())
# DIAL's tools take their own columns and pass over others, so ours for id and metadata can stand beside them.
_OURS = {"id": _TEXT, "metadata": _TEXT}
SCHEMAS = {
    TRUTH: pa.schema({"question": _TEXT, "documents": _TEXTS, "facts": _TEXTS, "answer": _TEXT, **_OURS}),
    ANSWERS: pa.schema({"question": _TEXT, "documents": _TEXTS, "context": _TEXTS, "answer": _TEXT, **_OURS}),
}
_STATISTICS = {TRUTH: "Ground truth size", ANSWERS: "Answers size"}


def describe_origin(table: Place, report: Report) -> dict[str, Any]:
    """Where a table came from, as DIAL's sidecars nest it: its path and what its own sidecar says."""
    sidecar = _sidecar(table)
    said: Any = {"created_at": None, "sources": [], "tools": {}}
    try:
        said = read_json(sidecar) if sidecar.exists() else {**said, "file_info": _file_info(table)}
    except StorageError as error:
        report.note(f"{error}; it is passed over")
    return {"metadata_path": str(sidecar), "data_path": str(table), "metadata": said}


def write_tables(batches: Iterable[pa.RecordBatch], folder: Place, info: Mapping[str, Any]) -> None:
    """Ground truth and answers, each with a sidecar that names its origin."""
    if folder.name.endswith(".parquet") or (folder.exists() and not folder.is_folder()):
        raise UsageError(f"'{folder}' must be a folder: ground_truth.parquet and answers.parquet are written into it")
    places = {role: folder / f"{role}.parquet" for role in SCHEMAS}
    rows: Counter[str] = Counter()
    with ExitStack() as stack:
        writers = {role: stack.enter_context(_writing(places[role], SCHEMAS[role])) for role in SCHEMAS}
        for batch in batches:
            for role, part in _split(batch).items():
                writers[role].write_batch(pa.RecordBatch.from_pylist(part, schema=SCHEMAS[role]))
                rows[role] += len(part)
    origins = info.get("dial") or {}
    for role, place in places.items():
        origin = origins.get(role) or origins.get(MERGED)
        write_sidecar(place, [origin] if origin else [], {_STATISTICS[role]: rows[role]})


def _split(batch: pa.RecordBatch) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table: what has a truth goes to the ground truth, what the system gave to the answers."""
    rows: dict[str, list[dict[str, Any]]] = {TRUTH: [], ANSWERS: []}
    for sample in batch.to_pylist():
        if sample["question"] is None:
            raise UsageError(f"sample '{sample['id']}' has no question, by which DIAL's two tables are joined")
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


@contextmanager
def _writing(place: Place, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    with place.writing() as stream, pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        yield writer


def write_sidecar(
    table: Place, sources: list[Any], statistics: Mapping[str, int], metrics: Mapping[str, float | None] | None = None
) -> None:
    """What is known about a table, in the file beside it."""
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
