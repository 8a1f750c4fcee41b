"""Where facts were found, as columns: each reads row by row as the plain values that are stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.codec import arrow_type
from ragstone.data.columns import Ragged, concat_offsets
from ragstone.data.types import FactMatch

_MATCHES = arrow_type(list[FactMatch])


class Places:
    """A list of `FactMatch` a row: a column for each of its numbers, and who found them."""

    def __init__(self, numbers: Sequence[np.ndarray], offsets: np.ndarray, matcher: str) -> None:
        self.facts, self.chunks, self.starts, self.ends, self.confidences = numbers
        self.offsets = offsets
        self.matcher = matcher

    @classmethod
    def from_lists(cls, lists: Iterable[Sequence[tuple[int, int, int, int, float]]], matcher: str) -> Places:
        """One row a list of what a matcher found: fact, chunk, start, end, confidence."""
        rows = list(lists)
        found = [place for row in rows for place in row]
        kinds = (*[np.int64] * 4, np.float64)
        columns = zip(*found, strict=True) if found else [()] * len(kinds)
        numbers = [np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)]
        return cls(numbers, np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]), matcher)

    @classmethod
    def concat(cls, columns: Sequence[Places]) -> Places:
        """One column of the rows of all."""
        numbers = [np.concatenate(parts) for parts in zip(*(column.numbers for column in columns), strict=True)]
        return cls(numbers, concat_offsets(columns), columns[0].matcher)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> list[FactMatch]:
        row = range(len(self))[row]
        here = slice(self.offsets[row], self.offsets[row + 1])
        columns = [column[here].tolist() for column in self.numbers]
        return [
            FactMatch(fact, chunk, start, end, confidence, self.matcher)
            for fact, chunk, start, end, confidence in zip(*columns, strict=True)
        ]

    @property
    def numbers(self) -> list[np.ndarray]:
        """The columns in the order of `FactMatch`."""
        return [self.facts, self.chunks, self.starts, self.ends, self.confidences]

    @property
    def lengths(self) -> np.ndarray:
        """How many places each row has."""
        return np.diff(self.offsets)

    @property
    def row_of(self) -> np.ndarray:
        """The row of each place."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: np.ndarray) -> Places:
        """The chosen rows, in the order asked for."""
        chosen = Ragged(np.arange(len(self.facts)), self.offsets).take(rows)
        return Places([column[chosen.values] for column in self.numbers], chosen.offsets, self.matcher)

    def to_arrow(self) -> pa.ListArray:
        """As it is stored."""
        columns = [pa.array(column) for column in self.numbers]
        columns.append(pa.repeat(pa.scalar(self.matcher, pa.string()), len(self.facts)))
        items = pa.StructArray.from_arrays(columns, fields=list(_MATCHES.value_type))
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), items, type=_MATCHES)


class Counts(Ragged):
    """A list of whole numbers a row; it reads as one."""

    def __getitem__(self, row: int) -> Any:
        return super().__getitem__(row).tolist()

    def to_arrow(self) -> pa.ListArray:
        """As it is stored."""
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), pa.array(self.values))


class Ranks(Counts):
    """A list of ranks a row, 0 for none, which reads as None."""

    def __getitem__(self, row: int) -> Any:
        return [rank or None for rank in super().__getitem__(row)]

    def to_arrow(self) -> pa.ListArray:
        """As it is stored."""
        ranks = pa.array(self.values, mask=self.values == 0)
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), ranks)
