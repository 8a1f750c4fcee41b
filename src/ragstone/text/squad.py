"""The SQuAD normalisation: lower-case, no ASCII punctuation, no English articles, split at white space.

Text beyond ASCII gets more than in SQuAD's script: NFKC and full case folding (Straße equals STRASSE). Curly quotes and
dashes are removed like their ASCII forms (don’t equals don't); an em dash separates words. Each character of a script
without spaces (Chinese, Japanese, Thai, …) is a token, so that overlap is meaningful there. `strict_tokens` does none of this.
"""

from __future__ import annotations

import re
import string
import unicodedata
from functools import lru_cache
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.text.word_columns import Numbered, buffers, clean, cut, texts_with
from ragstone.text.words import split_unspaced

_PUNCTUATION = str.maketrans("", "", string.punctuation)
# Beyond ASCII: Arabic and Indic punctuation, and invisible characters.
_UNSEEN = (0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFE0E, 0xFE0F, 0xFEFF)
_MORE_PUNCTUATION = dict.fromkeys((*map(ord, "،؛؟۔٪٫٬٭।॥"), *_UNSEEN))
# Quotes, hyphens, en dashes and minus signs. Spacing accents too: NFKC would split a word at them.
_TYPOGRAPHIC = {**dict.fromkeys(map(ord, "‘’‚‛“”„‟«»‹›′″‴´¨¸¯ʼ‐‑‒–−•¡¿")), **dict.fromkeys(map(ord, "—―⸺⸻"), " ")}
_ARTICLES = re.compile(r"\b(a|an|the)\b")
# For ASCII bytes: upper case to lower case, and the bytes of a piece that are kept.
_LOWER = bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in range(256))
_SPACES = b"\t\n\v\f\r "
_IS_KEPT = bytes(byte not in _SPACES + string.punctuation.encode() for byte in range(256))
_SHORT = 40
_ARTICLE_WORDS = ("a", "an", "the")


def tokens(text: str) -> list[str]:
    """The tokens of the normalised text."""
    if text.isascii():
        return strict_tokens(text)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text.translate(_TYPOGRAPHIC)).casefold())
    text = text.replace("i\u0307", "i").translate(_PUNCTUATION).translate(_MORE_PUNCTUATION)
    parts = (part for word in _ARTICLES.sub(" ", text).split() for part in split_unspaced(word))
    return [part for part in parts if part not in _ARTICLE_WORDS]


def strict_tokens(text: str) -> list[str]:
    """The tokens of SQuAD's script for any text: only ASCII punctuation is removed."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def number_tokens(texts: pa.Array) -> Numbered:
    """The tokens of a column of texts without nulls: the same as `tokens`, for many texts at once.

    A space always separates tokens, so each distinct piece between spaces is processed once.
    """
    offsets, data = buffers(texts)
    pieces, bounds = cut(offsets, data, _is_no_space)
    counts, numbers, words = _words_of(pieces.dictionary)
    codes = pieces.indices.to_numpy()
    if counts.max(initial=0) <= 1:
        first = np.full(len(counts), -1, dtype=np.int32)
        first[counts > 0] = numbers
        found = first[codes]
        places = np.flatnonzero(found >= 0)
        return Numbered(found[places], np.searchsorted(places, bounds), words)
    lengths = counts[codes]
    places = np.concatenate([[0], np.cumsum(lengths)])
    source = np.arange(places[-1]) + np.repeat((np.cumsum(counts) - counts)[codes] - places[:-1], lengths)
    return Numbered(numbers[source], places[bounds], words)


def _is_no_space(data: np.ndarray) -> np.ndarray:
    no_space: np.ndarray = (data != ord(" ")) & (data - np.uint8(9) > 4)  # 9 to 13 are spaces too
    return no_space


def _words_of(pieces: pa.Array) -> tuple[np.ndarray, np.ndarray, pa.Array]:
    """The number of words in each piece, the numbers of all these words, and the words."""
    plain = clean(pieces, _IS_KEPT, _LOWER)
    special = _special(pieces)
    # A long piece is text without spaces and occurs once.
    careful = [
        _tokens_of_short(piece) if len(piece) <= _SHORT else tokens(piece)
        for piece in pieces.filter(pa.array(special)).to_pylist()
    ]
    words = pa.concat_arrays([plain, pa.array(list(chain.from_iterable(careful)), type=pa.string())])
    counts = 1 - pc.is_in(plain, value_set=pa.array([*_ARTICLE_WORDS, ""])).to_numpy(zero_copy_only=False).astype(int)
    counts[special] = np.fromiter(map(len, careful), dtype=np.int64, count=len(careful))
    # A piece maps to itself, or to the words of the specially processed pieces, which follow all pieces.
    starts = np.arange(len(pieces))
    starts[special] = len(pieces) + np.cumsum(counts[special]) - counts[special]
    source = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    numbered = words.take(pa.array(source)).dictionary_encode()
    return counts, numbered.indices.to_numpy(), numbered.dictionary


@lru_cache(maxsize=1 << 16)
def _tokens_of_short(piece: str) -> tuple[str, ...]:
    return tuple(tokens(piece))


def _special(pieces: pa.Array) -> np.ndarray:
    """Pieces that need Unicode processing: with bytes beyond ASCII, or control characters other than white space."""
    offsets, data = buffers(pieces)
    return texts_with(np.flatnonzero((data > 126) | ((data < 32) & (data - np.uint8(9) > 4))), offsets)
