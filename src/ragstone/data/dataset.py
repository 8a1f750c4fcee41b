"""Samples as an Arrow table with a Python view of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

import pyarrow as pa

from ragstone.data.codec import decoder, encoder
from ragstone.data.fingerprint import fingerprint
from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE, SAMPLES, samples_schema
from ragstone.data.types import Chunk, Claim, Fact, Sample
from ragstone.data.verdict import Verdict

_ENCODERS = {name: encoder(field.annotation) for name, field in FIELDS.items()}
_DECODERS = {
    **{name: decoder(field.annotation) for name, field in FIELDS.items()},
    **{name: decoder(annotation) for name, annotation in GIVEN_EVIDENCE.items()},
}
# Columns of lists of objects whose parts are plain values.
_OBJECTS = {"contexts": Chunk, "facts": Fact, "answer_claims": Claim, "reference_claims": Claim}
_VERDICTS = {name for name, kind in GIVEN_EVIDENCE.items() if kind in (list[Verdict], list[list[Verdict]])}
_OBJECT_TYPES = {name: samples_schema(_OBJECTS.keys() & GIVEN_EVIDENCE).field(name).type for name in _OBJECTS}


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
    """A column of a field, or of evidence in the data, as the Python values that plain functions take."""
    kind = _OBJECTS.get(name)
    if kind and isinstance(column, pa.ListArray) and column.type == _OBJECT_TYPES[name]:
        items = column.flatten()
        if not items.null_count:
            # From the columns of their parts: twice as fast as with a dict for each object.
            absent = [None] * len(items)
            parts = (absent if part.null_count == len(items) else part.to_pylist() for part in items.flatten())
            return _cut(column, list(map(kind, *parts)))
    if name in _VERDICTS and isinstance(column, pa.ListArray):
        return _cut(column, _view_verdicts(column.flatten()))
    values: list[Any] = column.to_pylist()
    convert = _DECODERS.get(name)
    return [convert(value) for value in values] if convert else values


def _view_verdicts(column: pa.Array) -> list[Any]:
    """Verdicts, or lists of them; each distinct text is read once."""
    if isinstance(column, pa.ListArray):
        return _cut(column, _view_verdicts(column.flatten()))
    codes = column.dictionary_encode()
    words = list(map(Verdict.from_text, codes.dictionary.to_pylist()))
    return [None if code is None else words[code] for code in codes.indices.to_pylist()]


def _cut(column: pa.ListArray, items: list[Any]) -> list[Any]:
    """The items of a column of lists, as its lists."""
    lengths = column.value_lengths().to_pylist()
    ends = accumulate(length or 0 for length in lengths)
    return [None if size is None else items[end - size : end] for size, end in zip(lengths, ends, strict=True)]


_BLOCK = 32


class _LazyList(Sequence[Any]):
    """A list of one row of a column, made when its items are first read. Its length is known before."""

    def __init__(self, blocks: Callable[[int], list[Any]], row: int, length: int) -> None:
        self._blocks, self._row, self._length = blocks, row, length

    @cached_property
    def _items(self) -> list[Any]:
        items: list[Any] = self._blocks(self._row // _BLOCK)[self._row % _BLOCK]
        return items

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, at: Any) -> Any:
        return self._items[at]


def _view_lazily(name: str, column: pa.Array) -> list[Any]:
    lengths = column.value_lengths().to_pylist()
    # Viewing a few rows takes hardly longer than one.
    blocks = lru_cache(maxsize=1)(lambda at: view_column(name, column.slice(at * _BLOCK, _BLOCK)))
    return [None if size is None else _LazyList(blocks, row, size) for row, size in enumerate(lengths)]


def view_samples(batch: pa.RecordBatch | pa.Table, bare: bool = False) -> Iterator[Sample]:
    """The rows of a samples table as Python objects; `bare` ones have no metadata, and chunks that are read when needed."""
    names = [name for name in FIELDS if name in batch.schema.names and not (bare and name == "metadata")]
    views = {name: _view_lazily if bare and name == "contexts" else view_column for name in names}
    columns = {name: views[name](name, batch.column(name)) for name in names}
    for row in range(batch.num_rows):
        values = {name: column[row] for name, column in columns.items()}
        values["metadata"] = values.get("metadata") or {}
        yield Sample(**values)
