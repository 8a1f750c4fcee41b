"""Formats of one row per sample that can also be written, as JSONL, JSON or Parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragstone.data.types import is_image
from ragstone.errors import UsageError
from ragstone.formats.base import RowFormat, name_pairs
from ragstone.formats.ragstone import rows
from ragstone.storage.places import Place


@dataclass(frozen=True)
class WritableRowFormat(RowFormat):
    """A row format with the way back: `as_row` makes a foreign row of ours, `writes` are the fields that it keeps."""

    as_row: Callable[[dict[str, Any]], dict[str, Any]] = dict
    writes: frozenset[str] = frozenset()

    def write(self, batches: Iterable[pa.RecordBatch], target: Place, info: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Write the rows, by the extension; fields that the format does not have are left out."""
        write_rows((self.as_row(row) for row in rows(batches)), target)


def write_rows(foreign: Iterable[dict[str, Any]], target: Place) -> None:
    """Write rows as .jsonl (one by one), .json (a list) or .parquet."""
    ending = target.name.rpartition(".")[2].lower()
    if ending not in ("jsonl", "json", "parquet"):
        raise UsageError(f"'{target}': the name must end in .jsonl, .json or .parquet")
    with target.writing() as stream:
        if ending == "jsonl":
            for row in foreign:
                stream.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        elif ending == "json":
            stream.write(json.dumps(list(foreign), ensure_ascii=False, indent=1).encode() + b"\n")
        else:
            pq.write_table(pa.Table.from_pylist(list(foreign)), stream, compression="zstd")


def renamed(sample: Mapping[str, Any], names: str) -> dict[str, Any]:
    """The values of our fields under foreign names: `id question:user_input`."""
    return {theirs: sample.get(ours) for ours, theirs in name_pairs(names).items()}


def present_only(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without absent values."""
    return {name: value for name, value in row.items() if value is not None}


def texts_of(chunks: Any) -> list[str] | None:
    """The texts of chunks, and the paths of images; None if no text is known."""
    texts = [
        chunk["text"] or chunk.get("image") or (image if is_image(image := chunk.get("source", "")) else "")
        for chunk in chunks or ()
    ]
    return None if chunks is None or (chunks and not any(texts) and ids_of(chunks)) else texts


def ids_of(chunks: Any) -> list[str] | None:
    """The ids of chunks if each has one."""
    ids = [chunk.get("id") for chunk in chunks or ()]
    return [str(name) for name in ids] if ids and None not in ids else None


def relevant_ids(relevance: Mapping[str, float] | None) -> list[str] | None:
    """The relevant ids, best grade first."""
    if not relevance:
        return None
    return sorted((name for name, grade in relevance.items() if grade > 0), key=lambda name: -relevance[name])


def beside(row: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """A foreign row with the metadata as further columns; a name that is taken stays out."""
    return {**(metadata or {}), **present_only(row)}
