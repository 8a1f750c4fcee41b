"""Samples as an Arrow table with a Python view of each row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Any

import pyarrow as pa

from ragstone.data.codec import decoder, encoder
from ragstone.data.fingerprint import fingerprint
from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE, SAMPLES
from ragstone.data.types import Chunk, Fact, Sample

_ENCODERS = {name: encoder(field.annotation) for name, field in FIELDS.items()}
_DECODERS = {
    **{name: decoder(field.annotation) for name, field in FIELDS.items()},
    **{name: decoder(annotation) for name, annotation in GIVEN_EVIDENCE.items()},
}
# Fields that are lists of objects whose parts are plain values.
_OBJECTS = {"contexts": Chunk, "facts": Fact}


class Dataset:
    """A table of samples. Rows read as `Sample`; everything that computes works on `table`."""

    def __init__(self, table: pa.Table, source: str = "", info: dict[str, Any] | None = None) -> None:
        self.table = table
        self.source = source
        self.info = info or {}

    @classmethod
    def from_samples(cls, samples: Iterable[Sample], source: str = "") -> Dataset:
        """A data set from Python objects."""
        return cls(samples_table(samples), source)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, row: int) -> Sample:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return next(view_samples(self.table.slice(row % len(self), 1)))

    def __iter__(self) -> Iterator[Sample]:
        for batch in self.table.to_batches():
            yield from view_samples(batch)

    def __repr__(self) -> str:
        return f"Dataset({len(self)} samples from {self.source or 'memory'})"

    @cached_property
    def fingerprint(self) -> str:
        """The content hash of the samples; it does not depend on formats or row groups."""
        return fingerprint([self.table])


def samples_table(samples: Iterable[Sample]) -> pa.Table:
    """Python objects as a samples table."""
    rows = list(samples)
    columns = []
    for name, convert in _ENCODERS.items():
        values = [getattr(row, name) for row in rows]
        if name == "metadata":  # empty metadata is null, as in a file without such a column
            values = [value or None for value in values]
        columns.append(pa.array(list(map(convert, values)) if convert else values, type=SAMPLES.field(name).type))
    return pa.Table.from_arrays(columns, schema=SAMPLES)


def view_column(name: str, column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """A field's column as the Python values that plain functions take."""
    kind = _OBJECTS.get(name)
    if kind and isinstance(column, pa.ListArray) and column.type == FIELDS[name].type:
        items = column.flatten()
        if not items.null_count:
            # From the columns of their parts: twice as fast as with a dict for each object.
            objects, lengths = map(kind, *(part.to_pylist() for part in items.flatten())), column.value_lengths()
            return [None if length is None else list(islice(objects, length)) for length in lengths.to_pylist()]
    values: list[Any] = column.to_pylist()
    convert = _DECODERS.get(name)
    return [convert(value) for value in values] if convert else values


def view_samples(batch: pa.RecordBatch | pa.Table) -> Iterator[Sample]:
    """The rows of a samples table as Python objects."""
    columns = {name: view_column(name, batch.column(name)) for name in FIELDS if name in batch.schema.names}
    for row in range(batch.num_rows):
        values = {name: column[row] for name, column in columns.items()}
        values["metadata"] = values.get("metadata") or {}
        yield Sample(**values)
