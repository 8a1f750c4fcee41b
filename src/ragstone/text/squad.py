"""The SQuAD normalisation: lower-case, no ASCII punctuation, no English articles, split at white space.

Where a text has more than ASCII, more is done than in SQuAD's script: letters have one Unicode form
and full case folding (Straße is STRASSE), and each character of a script that is written without spaces (Chinese,
Japanese, Thai, …) is a word of its own, so that overlap means something there.
"""

from __future__ import annotations

import re
import string
import unicodedata
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.text.words import split_unspaced

_PUNCTUATION = str.maketrans("", "", string.punctuation)
# Beyond ASCII: Arabic and Indic punctuation, and characters that nobody sees.
_UNSEEN = (0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFE0E, 0xFE0F, 0xFEFF)
_MORE_PUNCTUATION = dict.fromkeys((*map(ord, "،؛؟۔٪٫٬٭।॥"), *_UNSEEN))
_ARTICLES = re.compile(r"\b(a|an|the)\b")
# Bytes of ASCII text: upper case to lower, and what is dropped.
_LOWER = bytes(byte + 32 if 65 <= byte <= 90 else byte for byte in range(256))
_DROPPED = string.punctuation.encode()
_IS_DROPPED = np.isin(np.arange(256), np.frombuffer(_DROPPED, dtype=np.uint8))
# What makes a text take the careful way: bytes beyond ASCII, and control characters other than white space.
_IS_SPECIAL = np.array([byte > 126 or (byte < 32 and byte not in b"\t\n\v\f\r") for byte in range(256)])
_ARTICLE_WORDS = ("a", "an", "the")


class Numbered(NamedTuple):
    """The words of many texts as numbers in a dictionary; text i has numbers[offsets[i]:offsets[i + 1]]."""

    numbers: np.ndarray
    offsets: np.ndarray
    words: pa.Array


def normalise(text: str) -> str:
    """The text as SQuAD's script compares it."""
    return " ".join(tokens(text))


def tokens(text: str) -> list[str]:
    """The words of the normalised text."""
    if text.isascii():
        return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = text.replace("i\u0307", "i").translate(_PUNCTUATION).translate(_MORE_PUNCTUATION)
    parts = (part for word in _ARTICLES.sub(" ", text).split() for part in split_unspaced(word))
    return [part for part in parts if part not in _ARTICLE_WORDS]


def number_tokens(texts: pa.Array) -> Numbered:
    """The words of a column of texts without nulls; the same words as `tokens` gives, many texts at a time."""
    offsets, data = _buffers(texts)
    special = _texts_with(_IS_SPECIAL[data], offsets)
    lists = _split_ascii(offsets, data)
    if special.any():
        lists = _replace(lists, np.flatnonzero(special), texts)
    words = lists.flatten().dictionary_encode()
    numbers = words.indices.to_numpy()
    # An article or an empty piece is dropped wherever the split found it.
    keep = ~pc.is_in(words.dictionary, value_set=pa.array([*_ARTICLE_WORDS, ""])).to_numpy(zero_copy_only=False)[
        numbers
    ]
    ends = np.concatenate([[0], np.cumsum(keep)])
    return Numbered(numbers[keep], ends[lists.offsets.to_numpy()], words.dictionary)


def _buffers(texts: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Offsets from 0 and bytes of a string array."""
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    data = texts.buffers()[2]
    if data is None or not len(texts):
        return np.zeros(len(texts) + 1, dtype=np.int32), np.zeros(0, dtype=np.uint8)
    return offsets - offsets[0], np.frombuffer(data, dtype=np.uint8)[offsets[0] : offsets[-1]]


def _texts_with(marks: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Which texts have at least one marked byte."""
    before = np.concatenate([[0], np.cumsum(marks)])
    has_some: np.ndarray = before[offsets[1:]] > before[offsets[:-1]]
    return has_some


def _split_ascii(offsets: np.ndarray, data: np.ndarray) -> pa.ListArray:
    kept = np.concatenate([[0], np.cumsum(~_IS_DROPPED[data], dtype=np.int32)])
    cleaned = data.tobytes().translate(_LOWER, _DROPPED)
    plain = pa.StringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(kept[offsets].astype(np.int32)), pa.py_buffer(cleaned)
    )
    return pc.ascii_split_whitespace(plain)


def _replace(lists: pa.ListArray, rows: np.ndarray, texts: pa.Array) -> pa.ListArray:
    """The word lists of these rows as the careful way gives them."""
    careful = pa.array([tokens(text) for text in texts.take(pa.array(rows)).to_pylist()], type=lists.type)
    places = np.arange(len(lists))
    places[rows] = len(lists) + np.arange(len(rows))
    return pa.concat_arrays([lists, careful]).take(pa.array(places))
