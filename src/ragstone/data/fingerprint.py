"""A content hash of a data set: the same for the same samples, whatever file or row groups they came in.

Every leaf of the samples table is hashed as three streams: which entries are there, how long they are, and their bytes.
Streams do not know where one batch ends and the next begins, so row groups make no difference; a column without
a single value contributes nothing, so a format that has no such column gives the same fingerprint.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_DIGEST_BYTES = 16


class _Leaf:
    """The three streams of one leaf column."""

    def __init__(self) -> None:
        self.valid, self.lengths, self.data = (hashlib.blake2b(digest_size=_DIGEST_BYTES) for _ in range(3))
        self.has_values = False

    def digest(self) -> bytes:
        return self.valid.digest() + self.lengths.digest() + self.data.digest()


class Fingerprint:
    """Hashes batches as they stream by."""

    def __init__(self) -> None:
        self._leaves: dict[str, _Leaf] = {}
        self._rows = 0

    def update(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Take in the next rows."""
        self._rows += batch.num_rows
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            for array in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                self._walk(name, array)

    def hexdigest(self) -> str:
        """The fingerprint of all rows so far."""
        total = hashlib.blake2b(str(self._rows).encode(), digest_size=_DIGEST_BYTES)
        for name in sorted(self._leaves):
            if self._leaves[name].has_values:
                total.update(name.encode() + b"\0" + self._leaves[name].digest())
        return total.hexdigest()

    def _walk(self, name: str, array: pa.Array) -> None:
        leaf = self._leaves.setdefault(name, _Leaf())
        leaf.valid.update(_bytes(pc.cast(pc.is_valid(array), pa.uint8())))
        leaf.has_values = leaf.has_values or array.null_count < len(array)
        kind = array.type
        if pa.types.is_list(kind):
            leaf.lengths.update(_bytes(pc.fill_null(pc.list_value_length(array), -1)))
            self._walk(f"{name}[]", array.flatten())
        elif pa.types.is_struct(kind):
            for child, values in zip(kind.names, array.flatten(), strict=True):
                self._walk(f"{name}.{child}", values)
        elif pa.types.is_string(kind):
            leaf.lengths.update(_bytes(pc.fill_null(pc.binary_length(array), -1)))
            leaf.data.update(_string_bytes(pc.fill_null(array, "")))
        else:
            leaf.data.update(
                _bytes(pc.cast(pc.fill_null(array, False if pa.types.is_boolean(kind) else 0), pa.float64()))
            )


def fingerprint(batches: Iterable[pa.RecordBatch | pa.Table]) -> str:
    """The fingerprint of a whole data set."""
    total = Fingerprint()
    for batch in batches:
        total.update(batch)
    return total.hexdigest()


def _bytes(array: pa.Array) -> bytes:
    return np.ascontiguousarray(array.to_numpy(zero_copy_only=False)).tobytes()


def _string_bytes(array: pa.Array) -> memoryview:
    """The text between the first and the last offset of a string array without nulls."""
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset : array.offset + len(array) + 1]
    data = array.buffers()[2]
    return memoryview(b"" if data is None else data)[offsets[0] : offsets[-1]] if len(offsets) else memoryview(b"")
