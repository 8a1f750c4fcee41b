"""Find the ids of one list in another, row by row: millions of ids without a Python string per id.

Each id is hashed with its row, and equal hashes are found by a table. Then the bytes are compared, so matches are exact; if
two different ids ever have the same hash, other factors are tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Number of ids in a block: as many as fit into a processor's cache with all derived data.
_BLOCK = 1 << 17
# Longer ids are dictionary-encoded: padding all ids to the longest would need too much memory.
_WIDEST = 64
_WORD = 8
# Never occurs in UTF-8 text: a padded id equals no other.
_PADDING = b"\xff"
_SLOTS_PER_KEY = 8
_SHORT_ROW = 30
_AGAIN = np.uint64(0x9E3779B97F4A7C15)
_NONE = np.zeros(0, dtype=np.int64)


class IdLists(NamedTuple):
    """One list of ids per row: all ids in one Arrow column without nulls, and the start of each row."""

    ids: pa.Array
    offsets: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Collection[str]]) -> IdLists:
        """A column from Python strings. Every id gets a trailing line feed, for all lists at once: that is fastest."""
        lengths = _lengths(rows)
        # For long lists, joining one by one is faster.
        short = lengths.sum() < _SHORT_ROW * len(rows)
        parts = itertools.chain.from_iterable(rows) if short else map("\n".join, filter(len, rows))
        data = "\n".join([*parts, ""]).encode(errors="surrogatepass")
        positions = _line_offsets(data, int(lengths.sum()))
        if positions is None:  # ids contain line feeds
            names = [f"{name}\n".encode(errors="surrogatepass") for row in rows for name in row]
            data, positions = b"".join(names), _offsets(np.array([len(name) for name in names])).astype(np.int32)
        ids = pa.StringArray.from_buffers(len(positions) - 1, pa.py_buffer(positions), pa.py_buffer(data))
        return cls(ids, _offsets(lengths))

    @property
    def lengths(self) -> np.ndarray:
        """The number of ids in each row."""
        return np.diff(self.offsets)

    @property
    def row_of(self) -> np.ndarray:
        """The row of each id."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.lengths)

    def slice(self, start: int, stop: int) -> IdLists:
        """Consecutive rows."""
        offsets = self.offsets[start : stop + 1]
        return IdLists(self.ids.slice(offsets[0], offsets[-1] - offsets[0]), offsets - offsets[0])


class Matches(NamedTuple):
    """The wanted ids that were found: the row, the rank from 1, and the index of the wanted id.

    Sorted by row and rank. An id that a row lists twice counts once, at its first rank, and later ids move up; `lengths` is the
    number of distinct ids in each row.
    """

    rows: np.ndarray
    ranks: np.ndarray
    entries: np.ndarray
    lengths: np.ndarray


def match_ids(listed: IdLists, wanted: IdLists) -> Matches:
    """Find the wanted ids of each row, which must be distinct, in its list."""
    return join_matches(
        (_match(listed.slice(start, stop), wanted.slice(start, stop)), start, wanted.offsets[start])
        for start, stop in blocks(listed.lengths + wanted.lengths)
    )


def match_lists(listed: Sequence[Collection[str]], wanted: Sequence[Collection[str]]) -> Matches:
    """`match_ids` for Python strings."""
    sizes = _lengths(listed), _lengths(wanted)
    first = _offsets(sizes[1])
    return join_matches(
        (_match(IdLists.of(listed[start:stop]), IdLists.of(wanted[start:stop])), start, first[start])
        for start, stop in blocks(sizes[0] + sizes[1])
    )


def blocks(lengths: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of rows that are small enough, at least one row each."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        done = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, done + _BLOCK, side="right")), start + 1)
        yield start, stop
        start = stop


def join_matches(parts: Iterable[tuple[Matches, int, int]]) -> Matches:
    """Concatenate the matches of blocks, each with the first row and the first wanted id of its block."""
    columns: list[list[np.ndarray]] = [[_NONE] for _ in Matches._fields]
    for part, row, entry in parts:
        moved = part._replace(rows=part.rows + row, entries=part.entries + entry)
        for column, values in zip(columns, moved, strict=True):
            column.append(values)
    return Matches(*map(np.concatenate, columns))


def _match(listed: IdLists, wanted: IdLists) -> Matches:
    listed_words, wanted_words = _words(listed.ids, wanted.ids)
    listed_words.append(listed_rows := listed.row_of)
    wanted_words.append(wanted.row_of)
    for factors in _factors(len(listed_words)):
        keys = _keys(listed_words, factors)
        positions, entries = _join(keys, _keys(wanted_words, factors))
        if all(
            (left[positions] == right[entries]).all() for left, right in zip(listed_words, wanted_words, strict=True)
        ):
            break
    rows = listed_rows[positions]
    ranks = positions - listed.offsets[rows] + 1
    repeats = _repeats(listed, keys)
    if not len(repeats):
        return Matches(rows, ranks, entries, listed.lengths)
    ranks -= np.searchsorted(repeats, positions) - np.searchsorted(repeats, listed.offsets[rows])
    keep = ~np.isin(positions, repeats)
    lengths = listed.lengths - np.bincount(listed_rows[repeats], minlength=len(listed.lengths))
    return Matches(rows[keep], ranks[keep], entries[keep], lengths)


def _words(left: pa.Array, right: pa.Array) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Each id as columns of integers; two ids are equal if all integers are."""
    sizes = np.concatenate([np.diff(_byte_offsets(ids)) for ids in (left, right)])
    shortest, longest = (int(sizes.min()), int(sizes.max())) if len(sizes) else (0, 0)
    if longest > _WIDEST:
        codes = pa.concat_arrays([left, right]).dictionary_encode().indices.to_numpy().astype(np.int64)
        return [codes[: len(left)]], [codes[len(left) :]]
    if _WORD <= shortest == longest:
        return _read(left, longest), _read(right, longest)
    width = max(-(-longest // _WORD), 1)
    return _pad(left, width), _pad(right, width)


def _byte_offsets(ids: pa.Array) -> np.ndarray:
    """The start of each id in the bytes, and the end of the last one."""
    return np.frombuffer(ids.buffers()[1], dtype=np.int32)[ids.offset : ids.offset + len(ids) + 1]


def _read(ids: pa.Array, size: int) -> list[np.ndarray]:
    """Ids of one length in place, eight bytes at a time; the last eight may overlap those before."""
    if not len(ids):
        return [np.zeros(0, dtype=np.uint64)] * len(range(0, size, _WORD))
    data, first = ids.buffers()[2], int(_byte_offsets(ids)[0])
    starts = [min(start, size - _WORD) for start in range(0, size, _WORD)]
    return [np.ndarray(len(ids), np.uint64, data, offset=first + start, strides=(size,)) for start in starts]


def _pad(ids: pa.Array, width: int) -> list[np.ndarray]:
    """Ids of any length with padding."""
    data = pc.ascii_rpad(ids, width=width * _WORD, padding=_PADDING).buffers()[2]
    return list(np.frombuffer(data, dtype=np.uint64, count=len(ids) * width).reshape(-1, width).T)


def _factors(count: int) -> Iterator[np.ndarray]:
    """This many large odd numbers."""
    for seed in itertools.count():
        yield np.random.default_rng(seed).integers(1 << 63, 1 << 64, size=count, dtype=np.uint64) | np.uint64(1)


def _keys(words: Sequence[np.ndarray], factors: np.ndarray) -> np.ndarray:
    """A hash of the integers of each id."""
    keys = np.zeros(len(words[0]), dtype=np.uint64)
    for word, factor in zip(words, factors, strict=True):
        keys += word.view(np.uint64) * factor
    return keys


def _join(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted left positions of keys that are also on the right, and their right positions."""
    bits = (len(right) * _SLOTS_PER_KEY | 1).bit_length()
    shift = np.uint64(64 - bits)
    slots = (right >> shift).view(np.int64)
    numbers = np.arange(len(right), dtype=np.int32)
    taken, table = np.zeros(1 << bits, dtype=bool), np.empty(1 << bits, dtype=np.int32)
    taken[slots], table[slots] = True, numbers
    left_slots = (left >> shift).view(np.int64)
    positions = np.flatnonzero(taken.take(left_slots))
    entries = table[left_slots[positions]]
    same = right[entries] == left[positions]
    displaced = np.flatnonzero(table[slots] != numbers)
    others, hits = positions[np.flatnonzero(~same)], np.flatnonzero(same)
    positions, entries = positions[hits], entries[hits]
    if len(displaced) and len(others):
        more_positions, more_entries = _join(left[others] * _AGAIN, right[displaced] * _AGAIN)
        positions = np.concatenate([positions, others[more_positions]])
        entries = np.concatenate([entries, displaced[more_entries]])
        order = np.argsort(positions, kind="stable")
        positions, entries = positions[order], entries[order]
    return positions, entries


def _repeats(listed: IdLists, keys: np.ndarray) -> np.ndarray:
    """The positions of ids that occurred earlier in their row."""
    lengths = listed.lengths
    short = (keys >> np.uint64(32)).astype(np.uint32)
    # Sorting many short rows is faster than one long one; usually all rows have the same length.
    even = len(keys) > 0 and bool((lengths == lengths[0]).all())
    ordered = np.sort(short.reshape(len(lengths) if even else 1, -1), axis=1)
    twins = ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]]
    if not len(twins):
        return _NONE
    suspects = np.flatnonzero(np.isin(short, twins))
    names = listed.ids.take(pa.array(suspects)).dictionary_encode()
    pairs = listed.row_of[suspects] * len(names.dictionary) + names.indices.to_numpy()
    _, first = np.unique(pairs, return_index=True)
    return np.delete(suspects, first)


def _line_offsets(data: bytes, lines: int) -> np.ndarray | None:
    """The start of each line and the end of the last one; None if there are more lines than ids."""
    marks = np.frombuffer(data, dtype=np.uint8) == ord("\n")
    if np.count_nonzero(marks) != lines:
        return None
    size, rest = divmod(len(data), max(lines, 1))
    if size and not rest and marks[size - 1 :: size].all():  # all of one length: UUIDs, hashes, zero-padded numbers
        return np.arange(lines + 1, dtype=np.int32) * np.int32(size)
    positions = np.zeros(lines + 1, dtype=np.int32)
    positions[1:] = np.flatnonzero(marks)
    positions[1:] += 1
    return positions


def _lengths(rows: Sequence[Collection[str]]) -> np.ndarray:
    return np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))


def _offsets(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)])
