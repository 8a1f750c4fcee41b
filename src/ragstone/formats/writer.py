"""Samples out to a file of a chosen format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from ragstone.errors import UsageError
from ragstone.formats.base import WritableFormat
from ragstone.formats.catalogue import find_format, formats
from ragstone.storage.places import open_place


def write_dataset(
    batches: Iterable[pa.RecordBatch], target: str, format: str = "ragstone", info: Mapping[str, Any] | None = None
) -> None:
    """Write samples; the file is complete or absent."""
    found = find_format(format)
    if not isinstance(found, WritableFormat):
        writable = ", ".join(name for name, item in formats().items() if isinstance(item, WritableFormat))
        raise UsageError(f"the format {format} is read but not written; these are: {writable}")
    found.write(batches, open_place(target), info or {})
