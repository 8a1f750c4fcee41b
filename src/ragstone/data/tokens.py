"""Texts as numbered words: columns that compare millions of words without touching a Python string."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.data.columns import Ragged, concat_offsets

Inner = TypeVar("Inner", bound=Any)


class Tokens(Ragged):
    """A text a row, as the numbers of its words in a dictionary. A row reads as a list of words."""

    def __init__(self, values: np.ndarray, offsets: np.ndarray, words: pa.Array) -> None:
        super().__init__(values, offsets)
        self.words = words
        self._spelled: list[str] | None = None

    @classmethod
    def concat(cls, columns: Sequence[Ragged]) -> Tokens:
        """One column of the rows of all, with one dictionary."""
        numbered = [
            pa.DictionaryArray.from_arrays(pa.array(c.values), c.words) for c in columns if isinstance(c, Tokens)
        ]
        both = pa.chunked_array(numbered).unify_dictionaries().combine_chunks()
        return cls(both.indices.to_numpy(), concat_offsets(columns), both.dictionary)

    def __getitem__(self, row: int) -> Any:
        if self._spelled is None:
            self._spelled = self.words.to_pylist()
        return [self._spelled[number] for number in super().__getitem__(row).tolist()]

    def __iter__(self) -> Iterator[list[str]]:
        return (self[row] for row in range(len(self)))

    def joined(self) -> list[str]:
        """Each text as its words with single spaces between."""
        lists = pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), self.words.take(pa.array(self.values)))
        texts: list[str] = pc.binary_join(lists, " ").to_pylist()
        return texts

    def take(self, rows: np.ndarray) -> Tokens:
        """The chosen rows, in the order asked for."""
        chosen = Ragged(self.values, self.offsets).take(rows)
        return Tokens(chosen.values, chosen.offsets, self.words)


class Nested(Generic[Inner]):
    """A list a row, whose entries are the rows of another column: the references of a sample, the chunks of a retrieval."""

    def __init__(self, inner: Inner, offsets: np.ndarray) -> None:
        self.inner = inner
        self.offsets = offsets

    @classmethod
    def concat(cls, columns: Sequence[Nested[Inner]]) -> Nested[Inner]:
        """One column of the rows of all."""
        inner = type(columns[0].inner).concat([column.inner for column in columns])
        return cls(inner, concat_offsets(columns))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> list[Any]:
        row = range(len(self))[row]
        return [self.inner[entry] for entry in range(self.offsets[row], self.offsets[row + 1])]

    @property
    def lengths(self) -> np.ndarray:
        """How many entries each row has."""
        return np.diff(self.offsets)

    @property
    def row_of(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def joined(self) -> Tokens:
        """All texts of a row as one."""
        return Tokens(self.inner.values, self.inner.offsets[self.offsets], self.inner.words)

    def take(self, rows: np.ndarray) -> Nested[Inner]:
        """The chosen rows, in the order asked for."""
        entries = Ragged(np.arange(len(self.inner)), self.offsets).take(rows)
        return Nested(self.inner.take(entries.values), entries.offsets)


def same_numbers(left: Tokens, right: Tokens) -> tuple[Tokens, Tokens]:
    """Both with one dictionary, so that equal words have equal numbers."""
    if left.words is right.words:
        return left, right
    both = pa.chunked_array(
        [pa.DictionaryArray.from_arrays(pa.array(side.values), side.words) for side in (left, right)]
    ).unify_dictionaries()
    words = both.chunk(0).dictionary
    numbers = [both.chunk(side).indices.to_numpy() for side in (0, 1)]
    return Tokens(numbers[0], left.offsets, words), Tokens(numbers[1], right.offsets, words)
