"""The gains of retrieved chunks as a sparse column: only gains above 0 are stored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragstone.data.columns import Ragged


class Gains:
    """Ranked lists of gains: the length of each list, and its positions with a grade.

    `rows`, `ranks` (from 1) and `grades` are sorted in this order. One position can have two grades: a chunk that contains two of
    the wanted texts. `chunks` are the ranks in the retrieved list, also if the list was condensed. A row reads as the list of its
    gains.
    """

    def __init__(
        self,
        rows: np.ndarray,
        ranks: np.ndarray,
        grades: np.ndarray,
        lengths: np.ndarray,
        chunks: np.ndarray | None = None,
    ) -> None:
        self.rows, self.ranks, self.grades, self.lengths = rows, ranks, grades, lengths
        self.chunks = ranks if chunks is None else chunks

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[float]]) -> Gains:
        """One row per list, best chunk first; values of 0 or less are no gain."""
        dense = Ragged.from_lists(lists)
        places = np.flatnonzero(dense.values > 0)
        return cls(dense.row_of[places], dense.position[places] + 1, dense.values[places], dense.lengths)

    @classmethod
    def concat(cls, parts: Sequence[Gains]) -> Gains:
        """One column of the rows of all columns."""
        starts = np.cumsum([0, *(len(part) for part in parts)])
        rows = [part.rows + start for part, start in zip(parts, starts, strict=False)]
        others = ([getattr(part, name) for part in parts] for name in ("ranks", "grades", "lengths"))
        return cls(np.concatenate(rows), *map(np.concatenate, others))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, row: int) -> np.ndarray:
        row = range(len(self))[row]
        here = slice(*np.searchsorted(self.rows, (row, row + 1)))
        return np.bincount(self.ranks[here] - 1, weights=self.grades[here], minlength=self.lengths[row]).astype(float)

    def take(self, rows: np.ndarray) -> Gains:
        """The chosen rows, in the given order."""
        entries = Ragged(np.arange(len(self.rows)), np.searchsorted(self.rows, np.arange(len(self) + 1))).take(rows)
        return Gains(entries.row_of, self.ranks[entries.values], self.grades[entries.values], self.lengths[rows])

    def where(self, chosen: np.ndarray) -> Gains:
        """Keep the grades for which `chosen` is true; the lists keep their length."""
        places = np.flatnonzero(chosen)
        if len(places) == len(chosen):
            return self
        chunks = None if self.chunks is self.ranks else self.chunks[places]
        return Gains(self.rows[places], self.ranks[places], self.grades[places], self.lengths, chunks)

    def sum(self, weights: np.ndarray | None = None) -> np.ndarray:
        """The number of grades in each row, or the sum of their weights."""
        # bincount ignores the weights of an empty array and returns integers.
        return np.bincount(self.rows, weights=weights, minlength=len(self)).astype(np.float64, copy=False)

    @property
    def is_new(self) -> np.ndarray:
        """Whether a grade is the first at its position."""
        new: np.ndarray = (np.diff(self.rows, prepend=-1) != 0) | (np.diff(self.ranks, prepend=-1) != 0)
        return new

    def running(self, weights: np.ndarray) -> np.ndarray:
        """The cumulative sum of a row's weights at each grade."""
        total = np.cumsum(weights)
        starts = np.flatnonzero(np.diff(self.rows, prepend=-1))
        before = np.repeat(total[starts] - weights[starts], np.diff(starts, append=len(self.rows)))
        sums: np.ndarray = total - before
        return sums

    def condensed(self) -> Gains:
        """The lists without the positions that have no grade; the others move up."""
        new = self.is_new
        lengths = self.sum(new).astype(np.int64)
        return Gains(self.rows, self.running(new.astype(np.int64)), self.grades, lengths, self.chunks)
