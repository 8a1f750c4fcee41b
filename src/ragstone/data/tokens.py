"""Texts as numbered words: columns that compare millions of words without Python strings, and count their n-grams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.data.columns import Lists, Ragged, concat_offsets

Inner = TypeVar("Inner", bound=Any)


class Tokens(Ragged):
    """One text per row, as the numbers of its words in a dictionary. A row reads as a list of words."""

    def __init__(self, values: np.ndarray, offsets: np.ndarray, words: pa.Array) -> None:
        super().__init__(values, offsets)
        self.words = words
        self._spelled: list[str] | None = None

    @classmethod
    def concat(cls, columns: Sequence[Ragged]) -> Tokens:
        """One column of the rows of all columns."""
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
        """Join the texts of each row."""
        lists = pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), self.words.take(pa.array(self.values)))
        texts: list[str] = pc.binary_join(lists, " ").to_pylist()
        return texts

    def take(self, rows: np.ndarray) -> Tokens:
        """The chosen rows, in the given order."""
        chosen = Ragged(self.values, self.offsets).take(rows)
        return Tokens(chosen.values, chosen.offsets, self.words)


class Nested(Lists, Generic[Inner]):
    """One list per row; its entries are rows of another column: the references of a sample, the chunks of a retrieval."""

    def __init__(self, inner: Inner, offsets: np.ndarray) -> None:
        self.inner = inner
        self.offsets = offsets

    @classmethod
    def concat(cls, columns: Sequence[Nested[Inner]]) -> Nested[Inner]:
        """One column of the rows of all columns."""
        inner = type(columns[0].inner).concat([column.inner for column in columns])
        return cls(inner, concat_offsets(columns))

    def __getitem__(self, row: int) -> list[Any]:
        row = range(len(self))[row]
        return [self.inner[entry] for entry in range(self.offsets[row], self.offsets[row + 1])]

    def joined(self) -> Tokens:
        """Join the texts of each row."""
        return Tokens(self.inner.values, self.inner.offsets[self.offsets], self.inner.words)

    def take(self, rows: np.ndarray) -> Nested[Inner]:
        """The chosen rows, in the given order."""
        entries = Ragged(np.arange(len(self.inner)), self.offsets).take(rows)
        return Nested(self.inner.take(entries.values), entries.offsets)


def same_numbers(left: Tokens, right: Tokens) -> tuple[Tokens, Tokens]:
    """Both columns with one dictionary, so that equal words have equal numbers."""
    if left.words is right.words:
        return left, right
    both = pa.chunked_array(
        [pa.DictionaryArray.from_arrays(pa.array(side.values), side.words) for side in (left, right)]
    ).unify_dictionaries()
    words = both.chunk(0).dictionary
    numbers = [both.chunk(side).indices.to_numpy() for side in (0, 1)]
    return Tokens(numbers[0], left.offsets, words), Tokens(numbers[1], right.offsets, words)


_LARGEST = 2**62
# In cells of a grid without an n-gram: more than any key.
_PADDING = np.int32(2**31 - 2)
_MOST_REPEATS = 8


def ngram_counts(tokens: Ragged, n: int) -> np.ndarray:
    """The number of n-grams in each row."""
    counts: np.ndarray = np.maximum(tokens.lengths - n + 1, 0)
    return counts


def shared_ngrams(left: Tokens, right: Tokens, n: int) -> np.ndarray:
    """The number of n-grams that both sides share, row by row, with repetition."""
    left, right = same_numbers(left, right)
    if 2 * max(len(left.words), 1) ** n >= _PADDING:
        return _shared_by_keys(left, right, n)
    shared = np.zeros(len(left))
    # Rows of similar length form a grid with few empty cells.
    magnitudes = np.frexp(left.lengths + right.lengths)[1]
    for magnitude in np.flatnonzero(np.bincount(magnitudes)):
        rows = np.flatnonzero(magnitudes == magnitude)
        sides = (left, right) if len(rows) == len(left) else (left.take(rows), right.take(rows))
        shared[rows] = _shared_in_grid(*sides, n)
    return shared


def _shared_in_grid(left: Tokens, right: Tokens, n: int) -> np.ndarray:
    """`shared_ngrams` with one line of a grid per row: many short sorts are faster than a long one."""
    keys = np.concatenate([_grid(left, n, 0), _grid(right, n, 1)], axis=1)
    keys.sort(axis=1)
    both = keys[:, 1:] ^ keys[:, :-1] == 1  # the last of one side whose n-gram the other side also has
    shared: np.ndarray = both.sum(axis=1, dtype=np.int32).astype(np.float64)
    same = np.zeros(keys.shape, dtype=bool)  # no row continues in the next one
    same[:, :-1] = keys[:, 1:] == keys[:, :-1]
    equal, width = same.ravel(), keys.shape[1]
    # An n-gram that both sides have twice has equal keys on both sides of that border, and so on.
    places = np.flatnonzero(both[:, 1:-1] & same[:, :-3] & same[:, 2:-1])
    places += 3 * (places // max(width - 3, 1)) + 1
    for distance in range(2, _MOST_REPEATS):
        shared += np.bincount(places // width, minlength=len(keys))
        places = places[equal[places - distance] & equal[places + distance]]
        if not len(places):
            return shared
    repeated = np.unique(places // width)
    shared[repeated] = _shared_by_keys(left.take(repeated), right.take(repeated), n)
    return shared


def _grid(tokens: Tokens, n: int, side: int) -> np.ndarray:
    """The n-grams of each row as numbers, then padding."""
    lengths = tokens.lengths
    places = np.arange(lengths.max(initial=0), dtype=np.int32)
    words = np.zeros((len(tokens), len(places)), dtype=np.int32)
    words[places < lengths[:, None]] = tokens.values[tokens.offsets[0] : tokens.offsets[-1]]
    size, count = len(tokens.words), max(len(places) - n + 1, 0)
    numbers = words[:, :count]
    for step in range(1, n):
        numbers = numbers * size + words[:, step : count + step]
    return np.where(places[:count] < (lengths - n + 1)[:, None], 2 * numbers + side, _PADDING)


def _shared_by_keys(left: Tokens, right: Tokens, n: int) -> np.ndarray:
    """`shared_ngrams` for any number of words, sorted all at once."""
    rows, words = len(left), np.concatenate([left.values, right.values])
    numbers, size = _number_runs(words, n, len(left.words), rows)
    # One key per n-gram: row, n-gram, side. After sorting, equal n-grams of both sides are adjacent.
    keys = np.concatenate(
        [
            2 * _keys(tokens, numbers[start:], n, size) + side
            for side, tokens, start in ((0, left, 0), (1, right, len(left.values)))
        ]
    )
    return _count_both(keys, 2 * size, rows)


def distinct_ngrams(tokens: Ragged, n: int) -> np.ndarray:
    """The number of distinct n-grams in each row; words may be any numbers."""
    words = pa.array(tokens.values).dictionary_encode()
    numbers, size = _number_runs(words.indices.to_numpy(), n, len(words.dictionary), len(tokens))
    keys = _keys(tokens, numbers, n, size)
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return np.bincount(keys[first] // size, minlength=len(tokens))


def _number_runs(words: np.ndarray, n: int, size: int, rows: int) -> tuple[np.ndarray, int]:
    """A number for the n-gram at each word, and the range of the numbers; n-grams may exceed the end of a row.

    The range is small enough for a key of row, n-gram and side.
    """
    numbers, count = words, max(size, 1)
    for step in range(1, n):
        numbers, count = _renumber(numbers.astype(np.int64, copy=False), count, size)
        numbers, count = numbers[:-1] * size + words[step:], count * max(size, 1)
    return _renumber(numbers, count, 2 * rows)


def _renumber(numbers: np.ndarray, count: int, times: int) -> tuple[np.ndarray, int]:
    """The same numbers if `count * times` fits into a key; otherwise renumbered without gaps."""
    if count * times <= _LARGEST:
        return numbers, count
    distinct, numbers = np.unique(numbers, return_inverse=True)
    return numbers, max(len(distinct), 1)


def _keys(tokens: Ragged, numbers: np.ndarray, n: int, size: int) -> np.ndarray:
    """Row and n-gram as one number, for each n-gram within a row; 32 bits if possible, since they sort faster."""
    counts, kind = ngram_counts(tokens, n), np.int32 if 2 * len(tokens) * size < 2**31 else np.int64
    keys: np.ndarray = np.repeat(np.arange(len(tokens), dtype=kind), counts)
    keys *= kind(size) if len(keys) else 1
    if n == 1:
        keys += numbers[tokens.offsets[0] : tokens.offsets[-1]].astype(kind, copy=False)
    else:
        first = np.repeat(tokens.offsets[:-1] - np.cumsum(counts) + counts, counts)
        keys += numbers[np.arange(len(keys)) + first].astype(kind, copy=False)
    return keys


def _count_both(keys: np.ndarray, size: int, rows: int) -> np.ndarray:
    """The number of keys of each row on both sides: the smaller of the two counts."""
    keys.sort()
    last = np.flatnonzero(keys[1:] ^ keys[:-1] == 1)  # the last of one side whose n-gram the other side also has
    shared = np.ones(len(last))
    before, after = np.maximum(last - 1, 0), np.minimum(last + 2, len(keys) - 1)
    repeated = np.flatnonzero((keys[before] == keys[last]) & (keys[after] == keys[last + 1]))
    end = last[repeated]
    on_one = end + 1 - np.searchsorted(keys, keys[end])
    on_other = np.searchsorted(keys, keys[end + 1], side="right") - end - 1
    shared[repeated] = np.minimum(on_one, on_other)
    # bincount ignores the weights of an empty array and returns integers.
    return np.bincount(keys[last] // size, weights=shared, minlength=rows).astype(np.float64, copy=False)
