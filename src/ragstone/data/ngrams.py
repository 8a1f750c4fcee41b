"""Runs of words that texts have and share, counted for all rows at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ragstone.data.columns import Ragged
from ragstone.data.tokens import Tokens, same_numbers

_LARGEST = 2**62


def ngram_counts(tokens: Ragged, n: int) -> np.ndarray:
    """How many runs of n words each row has."""
    counts: np.ndarray = np.maximum(tokens.lengths - n + 1, 0)
    return counts


def shared_ngrams(left: Tokens, right: Tokens, n: int) -> np.ndarray:
    """Row by row the runs of n words that both have, counted with repetition."""
    left, right = same_numbers(left, right)
    rows, words = len(left), np.concatenate([left.values, right.values])
    numbers, size = _number_runs(words, n, len(left.words), rows)
    # A key a run: row, run, side. Sorted, the same run of both sides lies side by side.
    keys = np.concatenate(
        [
            2 * _keys(tokens, numbers[start:], n, size) + side
            for side, tokens, start in ((0, left, 0), (1, right, len(left.values)))
        ]
    )
    return _count_both(keys, 2 * size, rows)


def distinct_ngrams(tokens: Ragged, n: int) -> np.ndarray:
    """Row by row the number of different runs of n words; any numbers may stand for the words."""
    words = pa.array(tokens.values).dictionary_encode()
    numbers, size = _number_runs(words.indices.to_numpy(), n, len(words.dictionary), len(tokens))
    keys = _keys(tokens, numbers, n, size)
    keys.sort()
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return np.bincount(keys[first] // size, minlength=len(tokens))


def _number_runs(words: np.ndarray, n: int, size: int, rows: int) -> tuple[np.ndarray, int]:
    """A number for the run that begins at each word, and how many numbers there are; runs may go beyond a row's end.

    There are few enough for a key of row, run and side.
    """
    numbers, count = words, max(size, 1)
    for step in range(1, n):
        numbers, count = _renumber(numbers.astype(np.int64, copy=False), count, size)
        numbers, count = numbers[:-1] * size + words[step:], count * max(size, 1)
    return _renumber(numbers, count, 2 * rows)


def _renumber(numbers: np.ndarray, count: int, times: int) -> tuple[np.ndarray, int]:
    """The same numbers where that many times as many are no problem; otherwise without the gaps between them."""
    if count * times <= _LARGEST:
        return numbers, count
    distinct, numbers = np.unique(numbers, return_inverse=True)
    return numbers, max(len(distinct), 1)


def _keys(tokens: Ragged, numbers: np.ndarray, n: int, size: int) -> np.ndarray:
    """Row and run as one number, for each run that lies within a row; small numbers where they do, since they sort faster."""
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
    """How many keys of each row occur on both sides: as often as on the side that has fewer."""
    keys.sort()
    last = np.flatnonzero(keys[1:] ^ keys[:-1] == 1)  # of each run of one side that one of the other side follows
    shared = np.ones(len(last))
    before, after = np.maximum(last - 1, 0), np.minimum(last + 2, len(keys) - 1)
    repeated = np.flatnonzero((keys[before] == keys[last]) & (keys[after] == keys[last + 1]))
    end = last[repeated]
    on_one = end + 1 - np.searchsorted(keys, keys[end])
    on_other = np.searchsorted(keys, keys[end + 1], side="right") - end - 1
    shared[repeated] = np.minimum(on_one, on_other)
    # Without a single value bincount forgets that there are weights and counts in whole numbers.
    return np.bincount(keys[last] // size, weights=shared, minlength=rows).astype(np.float64, copy=False)
