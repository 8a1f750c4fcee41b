"""A content hash of a data set; it does not depend on the file format, the row groups or the order of the rows.

Every row is hashed by itself: per leaf column with a value in this row, its name, lengths and bytes. The hashes are added up,
so their order makes no difference. A leaf without a value in a row contributes nothing, so a format without such a column
gives the same fingerprint. Fingerprints of earlier versions, which depended on the order, lack the prefix `v2-`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_DIGEST_BYTES = 16
PREFIX = "v2-"


class Fingerprint:
    """Hashes batches one after the other."""

    def __init__(self) -> None:
        self._rows = 0
        self._sum = 0

    def update(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Add more rows."""
        self._rows += batch.num_rows
        for part in batch.to_batches() if isinstance(batch, pa.Table) else [batch]:
            bounds = np.arange(part.num_rows + 1)
            columns = zip(part.schema.names, part.columns, strict=True)
            leaves = dict(leaf for name, column in columns for leaf in _leaves(name, column, bounds))
            for pieces in zip(*(leaves[name] for name in sorted(leaves)), strict=True):
                digest = hashlib.blake2b(b"".join(pieces), digest_size=_DIGEST_BYTES).digest()
                self._sum += int.from_bytes(digest)

    def hexdigest(self) -> str:
        """The fingerprint of all rows so far."""
        total = f"{self._rows} {self._sum % (1 << 8 * _DIGEST_BYTES)}"
        return PREFIX + hashlib.blake2b(total.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def fingerprint(batches: Iterable[pa.RecordBatch | pa.Table]) -> str:
    """The fingerprint of a whole data set."""
    total = Fingerprint()
    for batch in batches:
        total.update(batch)
    return total.hexdigest()


def _leaves(name: str, array: pa.Array, bounds: np.ndarray) -> Iterator[tuple[str, list[bytes]]]:
    """The bytes of each row in this leaf and those below it; row n has the entries from bounds[n] to bounds[n + 1]."""
    valid = pc.is_valid(array).to_numpy(zero_copy_only=False)
    filled = _ends(valid)[bounds]
    if not filled[-1]:
        return
    kind = array.type
    if pa.types.is_list(kind) or pa.types.is_string(kind):
        length = pc.list_value_length if pa.types.is_list(kind) else pc.binary_length
        lengths = pc.fill_null(length(array), -1).to_numpy(zero_copy_only=False).astype(np.int32)
        inner = _ends(np.maximum(lengths, 0))[bounds]
        streams = [_cut(lengths.tobytes(), 4 * bounds)]
        if pa.types.is_string(kind):
            streams.append(_cut(_string_bytes(pc.fill_null(array, "")), inner))
        else:
            yield from _leaves(f"{name}[]", array.flatten(), inner)
    else:
        streams = [_cut(valid.tobytes(), bounds)]
        if pa.types.is_struct(kind):
            for child, values in zip(kind.names, array.flatten(), strict=True):
                yield from _leaves(f"{name}.{child}", values, bounds)
        else:
            numbers = pc.cast(pc.fill_null(array, False if pa.types.is_boolean(kind) else 0), pa.float64(), safe=False)
            streams.append(_cut(numbers.to_numpy(zero_copy_only=False).tobytes(), 8 * bounds))
    label = name.encode() + b"\0"
    has_value = (np.diff(filled) > 0).tolist()
    rows = zip(has_value, *streams, strict=True)
    yield name, [label + b"".join(pieces) if there else b"" for there, *pieces in rows]


def _ends(lengths: np.ndarray) -> np.ndarray:
    """0 and the running sums."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _cut(data: bytes, edges: np.ndarray) -> list[bytes]:
    return [data[start:end] for start, end in pairwise(edges.tolist())]


def _string_bytes(array: pa.Array) -> bytes:
    """The text between the first and the last offset of a string array without nulls."""
    offsets = np.frombuffer(array.buffers()[1], dtype=np.int32)[array.offset : array.offset + len(array) + 1]
    data = array.buffers()[2]
    return memoryview(data)[offsets[0] : offsets[-1]].tobytes() if data is not None and len(offsets) else b""
