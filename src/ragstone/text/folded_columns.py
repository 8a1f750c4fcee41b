"""Many texts folded for search at once: the same as `FoldedText` of each.

ASCII texts are folded by byte, others by character with a table. That is exact if every character folds alone: no
combining marks, and no Hangul parts that join to syllables. Texts with these are folded by word.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.text.word_columns import GAP, MARK, UNSPACED, kind_of, number_words, texts_with
from ragstone.text.words import ASCII_FOLD, FoldedText, Span, fold, span_of_words

# Number of texts that fit into a processor's cache.
_TOGETHER = 512
_ASCII_FOLD_PARTS = ASCII_FOLD[:255] + b"\xff"
_SPACE, _BREAK = ord(" "), ord("\n")
# Instead of a folded character: codes that no text has.
_SPECIAL = 0xD800
_UNKNOWN, _ALONE, _LONG, _CAREFUL = range(_SPECIAL, _SPECIAL + 4)
_MOST_LONG = 32
# What each character below U+10000 folds to: a character, a space between words, or
# _ALONE: a word of its own that folds to itself; _LONG: several characters; _CAREFUL: depends on its neighbours.
_FOLDED = np.full(0x10000, _UNKNOWN, dtype=np.uint16)
# In place of a character above, which has two of these codes.
_BEYOND = 0xDFFF
_FOLDED[_SPECIAL : _BEYOND + 1] = _CAREFUL
_BY_WORD = tuple(code.to_bytes(2, "little") for code in (_UNKNOWN, _ALONE, _CAREFUL))


def fold_texts(texts: pa.Array) -> Iterator[FoldedText]:
    """A column of texts without nulls, ready for search; faster than one by one."""
    for start in range(0, len(texts), _TOGETHER):
        block = texts.slice(start, _TOGETHER).to_pylist()
        yield from map(_LocatedText, block, _fold_block(block))


def _fold_block(texts: list[str]) -> list[str]:
    plain = [text for text in texts if text.isascii()]
    if len(plain) == len(texts):
        return _fold_ascii(texts)
    if not plain:
        return _fold_unicode(texts)
    short, long = iter(_fold_ascii(plain)), iter(_fold_unicode([text for text in texts if not text.isascii()]))
    return [next(short if text.isascii() else long) for text in texts]


def _fold_ascii(texts: Sequence[str]) -> list[str]:
    """Fold many texts as one, separated by a byte that UTF-8 never contains."""
    joined = " \xff ".join(["", *texts, ""]).encode("latin-1").translate(_ASCII_FOLD_PARTS)
    folded = _single_spaces(np.frombuffer(joined, dtype=np.uint8)).decode("latin-1").split("\xff")[1:-1]
    return [text if len(text) > 1 else "  " for text in folded]


def _fold_unicode(texts: list[str]) -> list[str]:
    folded = _fold_by_character(texts)
    if careful := [place for place, text in enumerate(folded) if not text]:
        for place, text in zip(careful, _fold_by_word([texts[place] for place in careful]), strict=True):
            folded[place] = text
    return folded


def _single_spaces(codes: np.ndarray) -> bytes:
    keep = codes != _SPACE
    keep[1:] |= keep[:-1].copy()  # of several spaces the first
    single: bytes = codes[keep].tobytes()
    return single


def _fold_by_word(texts: list[str]) -> list[str]:
    numbers, offsets, words = number_words(pa.array(texts, pa.string()))
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), words.take(pa.array(numbers)))
    return [f" {spelled} " for spelled in pc.binary_join(lists, " ").to_pylist()]


def _fold_by_character(texts: list[str]) -> list[str]:
    """The folded texts; empty if a text must be folded by word."""
    codes, folded = _look_up(texts)
    if (folded > _ALONE).any():
        long = np.unique(codes[folded == _LONG])
        careful = np.flatnonzero(folded == _CAREFUL if len(long) <= _MOST_LONG else folded > _ALONE)
        skipped = texts_with(careful, _breaks(texts))
        if skipped.any():
            found = iter(_fold_by_character([text for text, skip in zip(texts, skipped, strict=True) if not skip]))
            return ["" if skip else next(found) for skip in skipped.tolist()]
        for letter in map(chr, long.tolist()):
            texts = [text.replace(letter, fold(letter)) for text in texts]
        codes, folded = _look_up(texts)
    breaks = _breaks(texts)
    if (alone := folded == _ALONE).any():
        folded = np.where(alone, codes, folded).repeat(1 + 2 * alone)
        before = np.cumsum(alone)
        breaks = breaks + 2 * before[breaks]
        places = np.flatnonzero(alone)
        places += 2 * np.arange(len(places))
        folded[places] = folded[places + 2] = _SPACE
    folded[breaks] = _BREAK
    parts = _single_spaces(folded).decode("utf-16-le").split("\n")[1:-1]
    return [part if len(part) > 1 else "  " for part in parts]


def _look_up(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The characters of the texts, with a line break and spaces around each, and what they fold to."""
    joined = " \n ".join(["", *texts, ""])
    codes = np.frombuffer(joined.encode("utf-16-le"), dtype="<u2")
    if len(codes) > len(joined):
        wide = np.frombuffer(joined.encode("utf-32-le"), dtype="<u4")
        codes = np.where(wide < len(_FOLDED), wide, _BEYOND).astype(np.uint16)
    folded = _FOLDED.take(codes)
    if (folded == _UNKNOWN).any():
        for code in np.unique(codes[folded == _UNKNOWN]).tolist():
            _FOLDED[code] = _fold_of(chr(code))
        folded = _FOLDED.take(codes)
    return codes, folded


def _breaks(texts: Sequence[str]) -> np.ndarray:
    """The places of the line breaks between the texts."""
    return np.cumsum([1, *(len(text) + 3 for text in texts)])


def _fold_of(character: str) -> int:
    """The entry of a character in the table."""
    kind = kind_of(character)
    if kind == GAP:
        return _SPACE
    folded = fold(character)
    stages = (character, unicodedata.normalize("NFKC", character).casefold(), folded)
    if kind == MARK or not all(map(_starts_afresh, stages)):
        return _CAREFUL
    if kind == UNSPACED:
        return _ALONE if folded == character else _CAREFUL
    if len(folded) > 1:
        return _LONG if all(_fold_of(letter) == ord(letter) for letter in folded) else _CAREFUL
    return ord(folded) if ord(folded) < _SPECIAL else _CAREFUL


def _starts_afresh(text: str) -> bool:
    """Whether no text before this one changes its normalised form."""
    first = unicodedata.normalize("NFKD", text)[:1]
    return bool(first) and unicodedata.category(first)[0] != "M" and not "\u1160" <= first <= "\u11ff"


class _LocatedText(FoldedText):
    """A text that finds its words with the table if all its characters fold alone."""

    __slots__ = ()

    def _unicode_span(self, first: int, last: int) -> Span:
        folded = _FOLDED.take(np.frombuffer(self.text.encode("utf-16-le"), dtype="<u2")).tobytes()
        # Bytes of two neighbours look the same at times, which does no harm.
        if any(special in folded for special in _BY_WORD):
            return super()._unicode_span(first, last)
        return span_of_words(folded.decode("utf-16-le", "replace"), first, last)
