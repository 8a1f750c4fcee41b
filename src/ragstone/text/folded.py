"""The folded words of many texts at once, as numbers in a dictionary: the same words as `words.words` gives.

For ASCII text these are ROUGE's own words, as Google's rouge-score cuts them: lower-case, whatever is no letter or digit
is a gap. Beyond ASCII rouge-score drops every letter; here letters of all scripts count.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.text.numbering import Numbered, buffers, clean, cut, ends, strings, texts_with
from ragstone.text.words import ASCII_FOLD, FoldedText, fold, words

_WORD_BYTES = (string.ascii_letters + string.digits).encode()
_IS_WORD_BYTE = bytes(byte in _WORD_BYTES for byte in range(256))
_LOWER = bytes(range(256)).lower()
# As many texts as stay in a processor's cache.
_FOLDED_TOGETHER = 1024
_ASCII_FOLD_PARTS = ASCII_FOLD[:255] + b"\xff"
# What a character is, by its code; found out when it is first met.
_GAP, _SPACED, _UNSPACED, _MARK, _UNKNOWN = range(5)
_KINDS = np.full(0x110000, _UNKNOWN, dtype=np.uint8)


def number_words(texts: pa.Array) -> Numbered:
    """The folded words of a column of texts without nulls."""
    careful = _beyond_ascii(texts)
    if not careful.any():
        return _number_ascii(texts)
    plain = _number_ascii(texts.filter(pa.array(~careful)))
    return _interleave(plain, _number_unicode(texts.filter(pa.array(careful))), careful)


def fold_texts(texts: pa.Array) -> list[FoldedText]:
    """A column of texts without nulls, ready to be searched; quicker than one by one."""
    blocks = (texts.slice(start, _FOLDED_TOGETHER) for start in range(0, len(texts), _FOLDED_TOGETHER))
    return [text for block in blocks for text in _fold_block(block)]


def _fold_block(texts: pa.Array) -> Iterator[FoldedText]:
    originals: list[str] = texts.to_pylist()
    folded = _fold_ascii(originals)
    careful = [place for place, text in enumerate(originals) if not text.isascii()]
    if careful:
        numbers, offsets, words = number_words(texts.take(pa.array(careful)))
        lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), words.take(pa.array(numbers)))
        for place, spelled in zip(careful, pc.binary_join(lists, " ").to_pylist(), strict=True):
            folded[place] = f" {spelled} "
    return map(FoldedText, originals, folded)


def _fold_ascii(texts: Sequence[str]) -> list[str]:
    """Many texts in one: a byte that stands in no UTF-8 text parts them. What is not ASCII is left empty."""
    parts = [text.encode() if text.isascii() else b"" for text in texts]
    codes = np.frombuffer(b" \xff ".join([b"", *parts, b""]).translate(_ASCII_FOLD_PARTS), dtype=np.uint8)
    keep = codes != ord(" ")
    keep[1:] |= keep[:-1].copy()  # of several spaces the first
    joined = codes[keep].tobytes()
    return [part.decode() if len(part) > 1 else "  " for part in joined.split(b"\xff")[1:-1]]


def respell(words: pa.Array, spell: Callable[[str], str]) -> tuple[np.ndarray, pa.Array]:
    """For each word of a dictionary its number in a new one, whose words are spelled another way: by their stems, say."""
    spelled = pa.array([spell(word) for word in words.to_pylist()], type=pa.string()).dictionary_encode()
    return spelled.indices.to_numpy(), spelled.dictionary


def _beyond_ascii(texts: pa.Array) -> np.ndarray:
    """Which texts have characters beyond ASCII other than U+2000 to U+203F, the dashes and quotes, which are gaps too."""
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
    raw, bounds = cut(offsets, data, _is_of_word)
    cleaned = clean(raw.dictionary, _IS_WORD_BYTE, _LOWER).dictionary_encode()
    return Numbered(cleaned.indices.to_numpy()[raw.indices.to_numpy()], bounds, cleaned.dictionary)


def _is_of_word(data: np.ndarray) -> np.ndarray:
    return np.frombuffer(data.tobytes().translate(_IS_WORD_BYTE), dtype=bool)


def _number_unicode(texts: pa.Array) -> Numbered:
    """The same with characters in place of bytes; a combining mark belongs to what stands before it."""
    offsets, data = buffers(texts)
    places = np.flatnonzero(data & 0xC0 != 0x80)  # of the first byte of each character
    kinds = _kinds_of(np.frombuffer(data.tobytes().decode().encode("utf-32-le"), dtype=np.uint32))
    bounds = np.searchsorted(places, offsets)
    first = bounds[:-1][bounds[:-1] < bounds[1:]]
    kinds[first[kinds[first] == _MARK]] = _GAP
    carried = kinds
    if (kinds == _MARK).any():
        carried = kinds[np.maximum.accumulate(np.where(kinds == _MARK, 0, np.arange(len(kinds))))]
    begins = kinds == _SPACED
    begins[1:] &= carried[:-1] != _SPACED
    begins[first] = kinds[first] == _SPACED
    starts = np.flatnonzero(begins | (kinds == _UNSPACED))
    sizes, inside = np.diff(places, append=len(data)), carried != _GAP
    lengths = np.add.reduceat(sizes * inside, starts) if len(starts) else starts
    raw = strings(ends(lengths), data[np.repeat(inside, sizes)]).dictionary_encode()
    number, folded = respell(raw.dictionary, fold)
    return Numbered(number[raw.indices.to_numpy()], np.searchsorted(starts, bounds), folded)


def _kinds_of(codes: np.ndarray) -> np.ndarray:
    kinds: np.ndarray = _KINDS[codes]
    unknown = kinds == _UNKNOWN
    if unknown.any():
        for code in np.unique(codes[unknown]).tolist():
            _KINDS[code] = _kind(chr(code))
        kinds = _KINDS[codes]
    return kinds


def _kind(character: str) -> int:
    """What `words` makes of a character, alone and after a letter."""
    after_letter = list(words(f"é{character}"))
    if list(words(character)):
        return _SPACED if len(after_letter) == 1 else _UNSPACED
    return _MARK if after_letter[0].end == 2 else _GAP


def _interleave(plain: Numbered, other: Numbered, is_other: np.ndarray) -> Numbered:
    """The texts of two parts in their old order, with one dictionary."""
    both = pa.concat_arrays([plain.words, other.words]).dictionary_encode()
    number = both.indices.to_numpy()
    numbers = np.concatenate([number[plain.numbers], number[len(plain.words) :][other.numbers]])
    starts, lengths = np.empty(len(is_other), dtype=np.int64), np.empty(len(is_other), dtype=np.int64)
    starts[~is_other], lengths[~is_other] = plain.offsets[:-1], np.diff(plain.offsets)
    starts[is_other], lengths[is_other] = other.offsets[:-1] + len(plain.numbers), np.diff(other.offsets)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    source = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    return Numbered(numbers[source], offsets, both.dictionary)
