"""Columns that columnar functions take and return, one entry per row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from ragstone.data.share import Items
from ragstone.data.types import Score, Status

STATUSES: tuple[Status, ...] = ("ok", "skipped", "failed")
OK, SKIPPED, FAILED = range(3)


@runtime_checkable
class Column(Protocol):
    """Values of one name for a batch of rows. Arrow arrays are columns too."""

    def __len__(self) -> int: ...
    def __getitem__(self, row: Any, /) -> Any: ...
    def take(self, rows: np.ndarray, /) -> Any:
        """The chosen rows, in the given order."""
        ...


class Rows:
    """A column of Python values."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: int) -> Any:
        return self.values[row]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def take(self, rows: np.ndarray) -> Rows:
        """The chosen rows, in the given order."""
        return Rows([self.values[row] for row in rows])


class Lists:
    """A column with one list per row; `offsets` has the start of each list, and the end of the last one."""

    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """The length of each list."""
        return np.diff(self.offsets)

    @property
    def row_of(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self)), self.lengths)


class Ragged(Lists):
    """Lists of numbers of different lengths: one flat array and the start of each row."""

    def __init__(self, values: np.ndarray, offsets: np.ndarray) -> None:
        self.values = values
        self.offsets = offsets

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[float]], dtype: type = np.float64) -> Ragged:
        """One row per list."""
        lengths = np.fromiter((len(row) for row in lists), dtype=np.int64, count=len(lists))
        flat: np.ndarray = np.fromiter((value for row in lists for value in row), dtype=dtype, count=int(lengths.sum()))
        return cls(flat, np.concatenate([[0], np.cumsum(lengths)]))

    @classmethod
    def concat(cls, columns: Sequence[Ragged]) -> Ragged:
        """One column of the rows of all columns."""
        return cls(np.concatenate([column.values for column in columns]), concat_offsets(columns))

    def __getitem__(self, row: int) -> np.ndarray:
        row = range(len(self))[row]
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    @property
    def position(self) -> np.ndarray:
        """The 0-based position of each value within its row."""
        positions: np.ndarray = np.arange(len(self.values)) - np.repeat(self.offsets[:-1], self.lengths)
        return positions

    def sum(self, weights: np.ndarray | None = None) -> np.ndarray:
        """The sum of each row; of `weights` instead of the values if given."""
        values = self.values if weights is None else weights
        # bincount ignores the weights of an empty array and returns integers.
        return np.bincount(self.row_of, weights=values, minlength=len(self)).astype(np.float64, copy=False)

    def take(self, rows: np.ndarray) -> Self:
        """The chosen rows, in the given order."""
        lengths = self.lengths[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        source = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths) + np.repeat(self.offsets[:-1][rows], lengths)
        return type(self)(self.values[source], offsets)


def concat_offsets(columns: Sequence[Any]) -> np.ndarray:
    """The row starts of all columns after their entries are concatenated."""
    return np.cumsum(np.concatenate([[0], *(column.lengths for column in columns)]))


@dataclass
class Cells:
    """The scores of one metric for a batch: a value if the status is ok, otherwise a reason."""

    values: np.ndarray
    status: np.ndarray
    reasons: dict[int, str] = field(default_factory=dict)
    # What the metric counts in a row, for `explain`; it is not kept when cells are joined or stored.
    items: Callable[[int], tuple[Items, ...]] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def all_ok(cls, values: np.ndarray) -> Cells:
        """Every row has a value."""
        values = np.asarray(values, dtype=np.float64)
        return cls(values, np.full(len(values), OK, dtype=np.uint8))

    @classmethod
    def unless(cls, skipped: np.ndarray, reason: str, values: np.ndarray) -> Cells:
        """Every row has a value except those where `skipped` is true."""
        cells = cls.all_ok(np.where(skipped, 0.0, values))
        cells.status[skipped] = SKIPPED
        cells.reasons = dict.fromkeys(np.flatnonzero(skipped).tolist(), reason)
        return cells

    def counting(self, items: Callable[[int], tuple[Items, ...]]) -> Cells:
        """The same cells with the items that they count."""
        self.items = items
        return self

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: int) -> Score:
        if self.status[row] == OK:
            return Score(float(self.values[row]))
        return Score(None, STATUSES[self.status[row]], self.reasons[row])

    def put(self, rows: np.ndarray, other: Cells) -> None:
        """Write another batch's cells into the given rows."""
        self.values[rows] = other.values
        self.status[rows] = other.status
        for row in rows.tolist():
            self.reasons.pop(row, None)
        for row, reason in other.reasons.items():
            self.reasons[int(rows[row])] = reason

    def fail(self, row: int, reason: str, status: int = FAILED) -> None:
        """Remove the value of a row and set the reason."""
        self.values[row], self.status[row] = 0.0, status
        self.reasons[row] = reason


@dataclass(frozen=True)
class Sparse:
    """A column of only some rows: their values and row numbers."""

    column: Any
    rows: np.ndarray

    def without(self, rows: Sequence[int] | np.ndarray) -> Sparse:
        """The column without the values of some rows."""
        keep = np.flatnonzero(~np.isin(self.rows, rows))
        return self if len(keep) == len(self.rows) else Sparse(self.column.take(keep), self.rows[keep])
