"""The folded words of many texts at once, as numbers in a dictionary: the same words as `words.words`.

For ASCII text these are the tokens of Google's rouge-score: lower-case, split at everything that is not a letter or digit.
Beyond ASCII rouge-score drops every letter; here letters of all scripts count.

Texts are cut into pieces that are encoded as a dictionary, and only distinct pieces are cleaned. It is fast because no
Python string is created per piece, and only the first byte of a piece is searched for.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ragstone.text.words import ASCII_FOLD, fold, words

_BLOCK = 1 << 18


class Numbered(NamedTuple):
    """The words of many texts as numbers in a dictionary; text i has numbers[offsets[i]:offsets[i + 1]]."""

    numbers: np.ndarray
    offsets: np.ndarray
    words: pa.Array


def buffers(texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Offsets from 0 and bytes of a string array."""
    _, places, data = texts.buffers()
    if data is None or not len(texts):
        return np.zeros(len(texts) + 1, dtype=np.int32), np.zeros(0, dtype=np.uint8)
    offsets = np.frombuffer(places, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return offsets - offsets[0], np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]


def strings(offsets: np.ndarray, data: np.ndarray | bytes) -> pa.StringArray:
    """A string array from bytes and the start of each text."""
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def ends(lengths: np.ndarray) -> np.ndarray:
    """The start offsets of texts of these lengths, and the end of the last one."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def texts_with(places: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The texts that contain one of these byte positions, which must be sorted."""
    before = np.searchsorted(places, offsets)
    found: np.ndarray = before[1:] > before[:-1]
    return found


def cut(offsets: np.ndarray, data: np.ndarray, inside: Callable[[np.ndarray], np.ndarray]) -> tuple[Any, np.ndarray]:
    """The runs of bytes inside a piece, each with the gap after it, and the first piece of each text.

    The pieces are a dictionary array. `inside` maps bytes to whether they are inside a piece.
    """
    starts = np.concatenate([*_starts(offsets, data, inside), [len(data)]], dtype=np.int32)
    return strings(starts, data).dictionary_encode(), np.searchsorted(starts[:-1], offsets.astype(np.int32))


def _starts(offsets: np.ndarray, data: np.ndarray, inside: Callable[[np.ndarray], np.ndarray]) -> Iterator[np.ndarray]:
    """The starts of pieces, in blocks of bytes that fit into a processor's cache."""
    firsts = offsets[:-1][offsets[:-1] < offsets[1:]]
    for start in range(0, len(data), _BLOCK):
        here = inside(data[start : start + _BLOCK])
        begins = here.copy()
        np.greater(here[1:], here[:-1], out=begins[1:])
        begins[0] &= start == 0 or not inside(data[start - 1 : start])[0]
        low, high = np.searchsorted(firsts, (start, start + _BLOCK))
        first = firsts[low:high] - start
        begins[first] = here[first]
        yield (np.flatnonzero(begins) + start).astype(np.int32)


def clean(pieces: pa.StringArray, kept: bytes, lower: bytes) -> pa.StringArray:
    """Keep the bytes of each piece for which the table `kept` has a 1, in lower case; no piece may be empty."""
    if not len(pieces):
        return pieces
    offsets, data = buffers(pieces)
    letters = np.frombuffer(data.tobytes().translate(kept), dtype=np.uint8)
    dropped = bytes(byte for byte in range(256) if not kept[byte])
    return strings(
        ends(np.add.reduceat(letters, offsets[:-1], dtype=np.int32)), data.tobytes().translate(lower, dropped)
    )


_WORD_BYTES = (string.ascii_letters + string.digits).encode()
_IS_WORD_BYTE = bytes(byte in _WORD_BYTES for byte in range(256))
_LOWER = bytes(range(256)).lower()
# The class of each character by its code; computed at its first occurrence.
GAP, SPACED, UNSPACED, MARK, _UNKNOWN = range(5)
_KINDS = np.full(0x110000, _UNKNOWN, dtype=np.uint8)


def number_words(texts: pa.Array) -> Numbered:
    """The folded words of a column of texts without nulls."""
    careful = _beyond_ascii(texts)
    if not careful.any():
        return _number_ascii(texts)
    plain = _number_ascii(texts.filter(pa.array(~careful)))
    return _interleave(plain, _number_unicode(texts.filter(pa.array(careful))), careful)


def respell(words: pa.Array, spell: Callable[[str], str]) -> tuple[np.ndarray, pa.Array]:
    """For each word of a dictionary, its number in a new dictionary of other spellings, such as stems."""
    spelled = pa.array([spell(word) for word in words.to_pylist()], type=pa.string()).dictionary_encode()
    return spelled.indices.to_numpy(), spelled.dictionary


def _beyond_ascii(texts: pa.Array) -> np.ndarray:
    """Texts with characters beyond ASCII other than U+2000 to U+203F (dashes and quotes, which are gaps too)."""
    offsets, data = buffers(texts)
    if not len(data) or data.max() < 128:
        return np.zeros(len(texts), dtype=bool)
    beyond = data >= 128
    gaps = np.flatnonzero((data[:-2] == 0xE2) & (data[1:-1] == 0x80))  # the first two of their three bytes
    for byte in range(3):
        beyond[gaps + byte] = False
    return texts_with(np.flatnonzero(beyond), offsets)


def _number_ascii(texts: pa.Array) -> Numbered:
    offsets, data = buffers(texts)
    folded = np.frombuffer(data.tobytes().translate(ASCII_FOLD), dtype=np.uint8)
    raw, bounds = cut(offsets, folded, _is_of_word)
    cleaned = clean(raw.dictionary, _IS_WORD_BYTE, _LOWER).dictionary_encode()
    return Numbered(cleaned.indices.to_numpy()[raw.indices.to_numpy()], bounds, cleaned.dictionary)


def _is_of_word(data: np.ndarray) -> np.ndarray:
    is_word: np.ndarray = data != ord(" ")
    return is_word


def _number_unicode(texts: pa.Array) -> Numbered:
    """`number_words` by characters instead of bytes; a combining mark belongs to the character before it."""
    offsets, data = buffers(texts)
    places = np.flatnonzero(data & 0xC0 != 0x80)  # of the first byte of each character
    kinds = _kinds_of(np.frombuffer(data.tobytes().decode().encode("utf-32-le"), dtype=np.uint32))
    bounds = np.searchsorted(places, offsets)
    first = bounds[:-1][bounds[:-1] < bounds[1:]]
    kinds[first[kinds[first] == MARK]] = GAP
    carried = kinds
    if (kinds == MARK).any():
        carried = kinds[np.maximum.accumulate(np.where(kinds == MARK, 0, np.arange(len(kinds))))]
    begins = kinds == SPACED
    begins[1:] &= carried[:-1] != SPACED
    begins[first] = kinds[first] == SPACED
    starts = np.flatnonzero(begins | (kinds == UNSPACED))
    sizes, inside = np.diff(places, append=len(data)), carried != GAP
    lengths = np.add.reduceat(sizes * inside, starts) if len(starts) else starts
    raw = strings(ends(lengths), data[np.repeat(inside, sizes)]).dictionary_encode()
    number, folded = respell(raw.dictionary, fold)
    return Numbered(number[raw.indices.to_numpy()], np.searchsorted(starts, bounds), folded)


def _kinds_of(codes: np.ndarray) -> np.ndarray:
    kinds: np.ndarray = _KINDS[codes]
    unknown = kinds == _UNKNOWN
    if unknown.any():
        for code in np.unique(codes[unknown]).tolist():
            _KINDS[code] = kind_of(chr(code))
        kinds = _KINDS[codes]
    return kinds


def kind_of(character: str) -> int:
    """The class of a character in `words`, alone and after a letter."""
    after_letter = list(words(f"é{character}"))
    if list(words(character)):
        return SPACED if len(after_letter) == 1 else UNSPACED
    return MARK if after_letter[0].end == 2 else GAP


def _interleave(plain: Numbered, other: Numbered, is_other: np.ndarray) -> Numbered:
    """The texts of two parts in their original order, with one dictionary."""
    both = pa.concat_arrays([plain.words, other.words]).dictionary_encode()
    number = both.indices.to_numpy()
    numbers = np.concatenate([number[plain.numbers], number[len(plain.words) :][other.numbers]])
    starts, lengths = np.empty(len(is_other), dtype=np.int64), np.empty(len(is_other), dtype=np.int64)
    starts[~is_other], lengths[~is_other] = plain.offsets[:-1], np.diff(plain.offsets)
    starts[is_other], lengths[is_other] = other.offsets[:-1] + len(plain.numbers), np.diff(other.offsets)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    source = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    return Numbered(numbers[source], offsets, both.dictionary)
