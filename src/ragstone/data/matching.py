"""Which ids of one list stand in another, row by row: millions of ids compared without touching a Python string.

Each id becomes a number that is made from its bytes and its row; equal numbers are found by a table. Then the bytes are
compared too, so what is found is exact; were two different ids ever to get one number, other numbers are tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Ids in a block: as many as stay in a processor's cache with all that is computed from them.
_BLOCK = 1 << 17
# Longer ids are numbered by a dictionary: to pad all ids to the length of the longest would take too much room.
_WIDEST = 64
_WORD = 8
# Stands in no UTF-8 text: a padded id equals no other.
_PADDING = b"\xff"
_SLOTS_PER_KEY = 8
_SHORT_ROW = 30
_AGAIN = np.uint64(0x9E3779B97F4A7C15)
_NONE = np.zeros(0, dtype=np.int64)


class IdLists(NamedTuple):
    """A list of ids a row: all ids in one Arrow column without nulls, and where the ids of each row begin."""

    ids: pa.Array
    offsets: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[Collection[str]]) -> IdLists:
        """Python strings as a column. Every id gets a line feed at its end, for all lists alike: that is quickest."""
        lengths = _lengths(rows)
        # Long lists are joined one by one, sooner than many short ones.
        short = lengths.sum() < _SHORT_ROW * len(rows)
        parts = itertools.chain.from_iterable(rows) if short else map("\n".join, filter(len, rows))
        data = "\n".join([*parts, ""]).encode(errors="surrogatepass")
        places = _line_places(data, int(lengths.sum()))
        if places is None:  # there are line feeds within ids
            names = [f"{name}\n".encode(errors="surrogatepass") for row in rows for name in row]
            data, places = b"".join(names), _offsets(np.array([len(name) for name in names])).astype(np.int32)
        ids = pa.StringArray.from_buffers(len(places) - 1, pa.py_buffer(places), pa.py_buffer(data))
        return cls(ids, _offsets(lengths))

    @property
    def lengths(self) -> np.ndarray:
        """How many ids each row has."""
        return np.diff(self.offsets)

    @property
    def row_of(self) -> np.ndarray:
        """The row of each id."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.lengths)

    def slice(self, start: int, stop: int) -> IdLists:
        """Some rows, one after the other."""
        offsets = self.offsets[start : stop + 1]
        return IdLists(self.ids.slice(offsets[0], offsets[-1] - offsets[0]), offsets - offsets[0])


class Matches(NamedTuple):
    """The wanted ids that were found: in which row, at which rank from 1, and which of all wanted ids it is.

    By row and rank. An id that a row lists twice counts once, at its first place, and those after it move up; `lengths`
    says how many distinct ids each row lists.
    """

    rows: np.ndarray
    ranks: np.ndarray
    entries: np.ndarray
    lengths: np.ndarray


def match_ids(found: IdLists, wanted: IdLists) -> Matches:
    """Where the wanted ids of each row, which must be distinct, stand in its list."""
    return join_matches(
        (_match(found.slice(start, stop), wanted.slice(start, stop)), start, wanted.offsets[start])
        for start, stop in blocks(found.lengths + wanted.lengths)
    )


def match_lists(found: Sequence[Collection[str]], wanted: Sequence[Collection[str]]) -> Matches:
    """The same for Python strings."""
    sizes = _lengths(found), _lengths(wanted)
    first = _offsets(sizes[1])
    return join_matches(
        (_match(IdLists.of(found[start:stop]), IdLists.of(wanted[start:stop])), start, first[start])
        for start, stop in blocks(sizes[0] + sizes[1])
    )


def blocks(lengths: np.ndarray) -> Iterator[tuple[int, int]]:
    """The rows in runs that are small enough, from the first to behind the last; at least one row each."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        done = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, done + _BLOCK, side="right")), start + 1)
        yield start, stop
        start = stop


def join_matches(parts: Iterable[tuple[Matches, int, int]]) -> Matches:
    """The matches of one block after the other, each with the first row and the first wanted id of its block."""
    columns: list[list[np.ndarray]] = [[_NONE] for _ in Matches._fields]
    for part, row, entry in parts:
        moved = part._replace(rows=part.rows + row, entries=part.entries + entry)
        for column, values in zip(columns, moved, strict=True):
            column.append(values)
    return Matches(*map(np.concatenate, columns))


def _match(found: IdLists, wanted: IdLists) -> Matches:
    found_words, wanted_words = _words(found.ids, wanted.ids)
    found_words.append(found_rows := found.row_of)
    wanted_words.append(wanted.row_of)
    for factors in _factors(len(found_words)):
        keys = _keys(found_words, factors)
        places, entries = _join(keys, _keys(wanted_words, factors))
        if all((left[places] == right[entries]).all() for left, right in zip(found_words, wanted_words, strict=True)):
            break
    rows = found_rows[places]
    ranks = places - found.offsets[rows] + 1
    repeats = _repeats(found, keys)
    if not len(repeats):
        return Matches(rows, ranks, entries, found.lengths)
    ranks -= np.searchsorted(repeats, places) - np.searchsorted(repeats, found.offsets[rows])
    keep = ~np.isin(places, repeats)
    lengths = found.lengths - np.bincount(found_rows[repeats], minlength=len(found.lengths))
    return Matches(rows[keep], ranks[keep], entries[keep], lengths)


def _words(left: pa.Array, right: pa.Array) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Each id as whole numbers, some columns of them; ids are equal if all of these are."""
    sizes = np.concatenate([np.diff(_places(ids)) for ids in (left, right)])
    shortest, longest = (int(sizes.min()), int(sizes.max())) if len(sizes) else (0, 0)
    if longest > _WIDEST:
        codes = pa.concat_arrays([left, right]).dictionary_encode().indices.to_numpy().astype(np.int64)
        return [codes[: len(left)]], [codes[len(left) :]]
    if _WORD <= shortest == longest:
        return _read(left, longest), _read(right, longest)
    width = max(-(-longest // _WORD), 1)
    return _pad(left, width), _pad(right, width)


def _places(ids: pa.Array) -> np.ndarray:
    """Where in the bytes each id begins, and where the last one ends."""
    return np.frombuffer(ids.buffers()[1], dtype=np.int32)[ids.offset : ids.offset + len(ids) + 1]


def _read(ids: pa.Array, size: int) -> list[np.ndarray]:
    """Ids of one length where they stand, eight bytes at a time; the last eight may overlap those before."""
    if not len(ids):
        return [np.zeros(0, dtype=np.uint64)] * len(range(0, size, _WORD))
    data, first = ids.buffers()[2], int(_places(ids)[0])
    starts = [min(start, size - _WORD) for start in range(0, size, _WORD)]
    return [np.ndarray(len(ids), np.uint64, data, offset=first + start, strides=(size,)) for start in starts]


def _pad(ids: pa.Array, width: int) -> list[np.ndarray]:
    """Ids of any length with padding behind them."""
    data = pc.ascii_rpad(ids, width=width * _WORD, padding=_PADDING).buffers()[2]
    return list(np.frombuffer(data, dtype=np.uint64, count=len(ids) * width).reshape(-1, width).T)


def _factors(count: int) -> Iterator[np.ndarray]:
    """Large odd numbers, as often as wanted."""
    for seed in itertools.count():
        yield np.random.default_rng(seed).integers(1 << 63, 1 << 64, size=count, dtype=np.uint64) | np.uint64(1)


def _keys(words: Sequence[np.ndarray], factors: np.ndarray) -> np.ndarray:
    """One number for the numbers of each id, such that different ones hardly ever meet."""
    keys = np.zeros(len(words[0]), dtype=np.uint64)
    for word, factor in zip(words, factors, strict=True):
        keys += word.view(np.uint64) * factor
    return keys


def _join(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places on the left, in order, of keys that stand on the right too, and their places there."""
    bits = (len(right) * _SLOTS_PER_KEY | 1).bit_length()
    shift = np.uint64(64 - bits)
    slots = (right >> shift).view(np.int64)
    numbers = np.arange(len(right), dtype=np.int32)
    taken, table = np.zeros(1 << bits, dtype=bool), np.empty(1 << bits, dtype=np.int32)
    taken[slots], table[slots] = True, numbers
    left_slots = (left >> shift).view(np.int64)
    places = np.flatnonzero(taken.take(left_slots))
    entries = table[left_slots[places]]
    same = right[entries] == left[places]
    displaced = np.flatnonzero(table[slots] != numbers)
    others, hits = places[np.flatnonzero(~same)], np.flatnonzero(same)
    places, entries = places[hits], entries[hits]
    if len(displaced) and len(others):
        more_places, more_entries = _join(left[others] * _AGAIN, right[displaced] * _AGAIN)
        places = np.concatenate([places, others[more_places]])
        entries = np.concatenate([entries, displaced[more_entries]])
        order = np.argsort(places, kind="stable")
        places, entries = places[order], entries[order]
    return places, entries


def _repeats(found: IdLists, keys: np.ndarray) -> np.ndarray:
    """The places of ids that their row has listed before."""
    lengths = found.lengths
    short = (keys >> np.uint64(32)).astype(np.uint32)
    # Many short rows are sorted sooner than one long one; most often all rows are equally long.
    even = len(keys) > 0 and bool((lengths == lengths[0]).all())
    ordered = np.sort(short.reshape(len(lengths) if even else 1, -1), axis=1)
    twins = ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]]
    if not len(twins):
        return _NONE
    suspects = np.flatnonzero(np.isin(short, twins))
    names = found.ids.take(pa.array(suspects)).dictionary_encode()
    pairs = found.row_of[suspects] * len(names.dictionary) + names.indices.to_numpy()
    _, first = np.unique(pairs, return_index=True)
    return np.delete(suspects, first)


def _line_places(data: bytes, lines: int) -> np.ndarray | None:
    """Where each line begins, and where the last one ends; None if there are more of them than there should be."""
    marks = np.frombuffer(data, dtype=np.uint8) == ord("\n")
    if np.count_nonzero(marks) != lines:
        return None
    size, rest = divmod(len(data), max(lines, 1))
    if size and not rest and marks[size - 1 :: size].all():  # all of one length: UUIDs, hashes, numbers with zeros
        return np.arange(lines + 1, dtype=np.int32) * np.int32(size)
    places = np.zeros(lines + 1, dtype=np.int32)
    places[1:] = np.flatnonzero(marks)
    places[1:] += 1
    return places


def _lengths(rows: Sequence[Collection[str]]) -> np.ndarray:
    return np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))


def _offsets(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)])
