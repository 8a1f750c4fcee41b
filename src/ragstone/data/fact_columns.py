"""The positions of facts as columns; each reads row by row as the stored plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import pyarrow as pa

from ragstone.data.codec import arrow_type
from ragstone.data.columns import Lists, Ragged, concat_offsets
from ragstone.data.types import FactMatch

_MATCHES = arrow_type(list[FactMatch])


class FactMatches(Lists):
    """A list of `FactMatch` per row: one array per number, and the name of the matcher."""

    row_type = list[FactMatch]

    def __init__(self, numbers: Sequence[np.ndarray], offsets: np.ndarray, matcher: str) -> None:
        self.facts, self.chunks, self.starts, self.ends, self.confidences = numbers
        self.offsets = offsets
        self.matcher = matcher

    @classmethod
    def from_lists(cls, lists: Iterable[Sequence[tuple[int, int, int, int, float]]], matcher: str) -> FactMatches:
        """One row per list of matches: fact, chunk, start, end, confidence."""
        rows = list(lists)
        matches = [match for row in rows for match in row]
        kinds = (*[np.int64] * 4, np.float64)
        columns = zip(*matches, strict=True) if matches else [()] * len(kinds)
        numbers = [np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)]
        return cls(numbers, np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)]), matcher)

    @classmethod
    def concat(cls, columns: Sequence[FactMatches]) -> FactMatches:
        """One column of the rows of all columns."""
        numbers = [np.concatenate(parts) for parts in zip(*(column.numbers for column in columns), strict=True)]
        return cls(numbers, concat_offsets(columns), columns[0].matcher)

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

    def take(self, rows: np.ndarray) -> FactMatches:
        """The chosen rows, in the given order."""
        chosen = Ragged(np.arange(len(self.facts)), self.offsets).take(rows)
        return FactMatches([column[chosen.values] for column in self.numbers], chosen.offsets, self.matcher)

    def to_arrow(self) -> pa.ListArray:
        """The stored form."""
        columns = [pa.array(column) for column in self.numbers]
        columns.append(pa.repeat(pa.scalar(self.matcher, pa.string()), len(self.facts)))
        items = pa.StructArray.from_arrays(columns, fields=list(_MATCHES.value_type))
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), items, type=_MATCHES)

    @classmethod
    def from_arrow(cls, stored: pa.ListArray) -> FactMatches:
        """The column from its stored form; rows must not be null."""
        matches = stored.flatten()
        *numbers, matchers = (matches.field(position) for position in range(matches.type.num_fields))
        matcher = matchers[0].as_py() if len(matchers) else ""
        return cls([column.to_numpy() for column in numbers], _offsets(stored), matcher)


class Counts(Ragged):
    """A list of integers per row; a row reads as a Python list."""

    row_type: Any = list[int]

    def __getitem__(self, row: int) -> Any:
        return super().__getitem__(row).tolist()

    def to_arrow(self) -> pa.ListArray:
        """The stored form."""
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), pa.array(self.values))

    @classmethod
    def from_arrow(cls, stored: pa.ListArray) -> Self:
        """The column from its stored form; rows must not be null."""
        return cls(stored.flatten().fill_null(0).to_numpy(), _offsets(stored))


class Ranks(Counts):
    """A list of ranks per row; 0 means no rank and reads as None."""

    row_type = list[int | None]

    def __getitem__(self, row: int) -> Any:
        return [rank or None for rank in super().__getitem__(row)]

    def to_arrow(self) -> pa.ListArray:
        """The stored form."""
        ranks = pa.array(self.values, mask=self.values == 0)
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), ranks)


def _offsets(lists: pa.ListArray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lists.value_lengths().to_numpy(), dtype=np.int64)])
