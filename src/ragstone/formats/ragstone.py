"""Ragstone's own format as JSONL, JSON, CSV or Parquet; columns may contain collected evidence."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone.data.codec import canonical_json
from ragstone.data.dataset import view_column
from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE, samples_schema
from ragstone.errors import UsageError
from ragstone.formats.base import RowFormat
from ragstone.formats.common_fields import ABSENT, answer_cell, unpack
from ragstone.formats.file_rows import guarded
from ragstone.storage.places import Place

_encode = json.JSONEncoder(ensure_ascii=False).encode
_ENOUGH = [frozenset({name}) for name in ("question", "answer", "contexts", "references", "facts", "relevance")]


class RagstoneFormat(RowFormat):
    """The format with all fields."""

    def write(self, batches: Iterable[pa.RecordBatch], target: Place, info: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Write Parquet, CSV or JSONL, by the extension; information about the whole file is not stored."""
        writers = {"parquet": _write_parquet, "csv": _write_csv, "jsonl": _write_jsonl}
        ending = target.name.rpartition(".")[2].lower()
        if ending not in writers:
            raise UsageError(f"'{target}': the name must end in .jsonl, .parquet or .csv")
        writers[ending](batches, target)


def _write_parquet(batches: Iterable[pa.RecordBatch], target: Place) -> None:
    rest = iter(batches)
    first = next(rest, None)
    schema = samples_schema() if first is None else first.schema
    with target.writing() as stream, pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        for batch in itertools.chain([] if first is None else [first], rest):
            writer.write_batch(batch)


def _write_jsonl(batches: Iterable[pa.RecordBatch], target: Place) -> None:
    with target.writing() as stream:
        for row in rows(batches):
            stream.write(_encode(row).encode() + b"\n")


def _write_csv(batches: Iterable[pa.RecordBatch], target: Place) -> None:
    columns = [*FIELDS, *GIVEN_EVIDENCE]
    with target.writing() as stream:
        text = io.TextIOWrapper(stream, "utf-8", newline="")
        writer = csv.writer(text)
        writer.writerow(columns)
        for row in rows(batches):
            row["answer"] = answer_cell(row.get("answer"))
            row.setdefault("contexts", ABSENT)
            cells = (row.get(name, "") for name in columns)
            writer.writerow([guarded(cell) if isinstance(cell, str) else canonical_json(cell) for cell in cells])
        text.detach()  # flushes without closing the stream


def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """Samples as JSON-like rows without absent fields."""
    for batch in batches:
        columns = {name: batch.column(name).to_pylist() for name in batch.schema.names}
        for name in ("metadata", "relevance"):
            columns[name] = view_column(name, batch.column(name))
        for row in range(batch.num_rows):
            yield {name: _lean(column[row]) for name, column in columns.items() if column[row] is not None}


def _lean(value: Any) -> Any:
    """Structs without their empty members."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [{key: _lean(part) for key, part in item.items() if part is not None} for item in value]
    return value


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    """Metadata is JSON text in our Parquet and CSV; other tools may write a map."""
    metadata = row.get("metadata")
    if metadata is None or isinstance(metadata, dict):
        return row
    metadata = unpack(metadata)
    if isinstance(metadata, list) and all(isinstance(item, tuple) and len(item) == 2 for item in metadata):
        metadata = dict(metadata)
    return {**row, "metadata": metadata}


FORMAT = RagstoneFormat(
    name="ragstone",
    title="our own names, as JSONL, JSON, CSV or Parquet",
    columns={name: name for name in (*FIELDS, *GIVEN_EVIDENCE)},
    marks=_ENOUGH,
    convert=_convert,
    given=tuple(GIVEN_EVIDENCE),
)
