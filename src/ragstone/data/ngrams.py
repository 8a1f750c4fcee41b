"""Runs of words that two texts share, counted for all rows at once."""

from __future__ import annotations

import numpy as np

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
    numbers, size = _number_runs(words, n, max(len(left.words), 1))
    if rows * size > _LARGEST // 2:
        distinct, numbers = np.unique(numbers, return_inverse=True)
        size = len(distinct)
    # A key a run: row, run, side. Sorted, the same run of both sides lies side by side. Small keys sort faster.
    keys = np.concatenate(
        [
            side + 2 * _keys(tokens, numbers[start:], n, size, np.int32 if 2 * rows * size < 2**31 else np.int64)
            for side, tokens, start in ((0, left, 0), (1, right, len(left.values)))
        ]
    )
    return _count_both(keys, 2 * size, rows)


def _number_runs(words: np.ndarray, n: int, size: int) -> tuple[np.ndarray, int]:
    """A number for the run that begins at each word, and how many numbers there are; runs may go beyond a row's end."""
    if n == 1:
        return words, size
    numbers, count = words.astype(np.int64), size
    for step in range(1, n):
        if count > _LARGEST // size:
            distinct, numbers = np.unique(numbers, return_inverse=True)
            count = len(distinct)
        numbers, count = numbers[:-1] * size + words[step:], count * size
    return numbers, count


def _keys(tokens: Tokens, numbers: np.ndarray, n: int, size: int, kind: type) -> np.ndarray:
    counts = ngram_counts(tokens, n)
    keys = np.repeat(np.arange(len(tokens), dtype=kind) * kind(size), counts)
    if n == 1:
        keys += numbers[tokens.offsets[0] : tokens.offsets[-1]].astype(kind, copy=False)
    else:
        ends = np.cumsum(counts)
        keys += numbers[np.arange(len(keys)) + np.repeat(tokens.offsets[:-1] - ends + counts, counts)].astype(kind)
    return keys


def _count_both(keys: np.ndarray, size: int, rows: int) -> np.ndarray:
    """How many keys of each row occur on both sides: as often as on the side that has fewer."""
    keys.sort()
    last = np.flatnonzero(keys[1:] ^ keys[:-1] == 1)  # of each run of one side that one of the other side follows
    shared = np.ones(len(last))
    before, after = np.maximum(last - 1, 0), np.minimum(last + 2, len(keys) - 1)
    repeated = np.flatnonzero((keys[before] == keys[last]) & (keys[after] == keys[last + 1]) & (before < last))
    if len(repeated):
        end = last[repeated]
        on_one = end + 1 - np.searchsorted(keys, keys[end])
        on_other = np.searchsorted(keys, keys[end + 1], side="right") - end - 1
        shared[repeated] = np.minimum(on_one, on_other)
    return np.bincount(keys[last] // size, weights=shared, minlength=rows).astype(np.float64, copy=False)
