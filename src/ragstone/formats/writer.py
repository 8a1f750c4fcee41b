"""Samples out to a file of a chosen format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from ragstone.errors import UsageError
from ragstone.formats.base import WritableFormat
from ragstone.formats.catalogue import find_format, formats
from ragstone.storage.places import open_place


def write_dataset(
    batches: Iterable[pa.RecordBatch], target: str, format: str = "ragstone", info: Mapping[str, Any] | None = None
) -> int:
    """Write samples and say how many; the file is complete or absent."""
    found = find_format(format)
    if not isinstance(found, WritableFormat):
        writable = ", ".join(name for name, item in formats().items() if isinstance(item, WritableFormat))
        raise UsageError(f"the format {format} is read but not written; these are: {writable}")
    rows = 0

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal rows
        for batch in batches:
            rows += batch.num_rows
            yield batch

    found.write(counted(), open_place(target), {} if info is None else info)
    return rows
