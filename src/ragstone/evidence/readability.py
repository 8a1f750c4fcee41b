"""What readability formulas count: letters, words, syllables and sentences of the answer."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pyarrow as pa

from ragstone.registry import evidence
from ragstone.text.sentences import sentences
from ragstone.text.syllables import count_syllables
from ragstone.text.words import split_unspaced

# A hyphen, an apostrophe or the point in a number does not end a word.
_WORD = re.compile(r"[^\W_]+(?:(?:['’‐‑-]|(?<=[0-9])[.,](?=[0-9]))[^\W_]+)*")
_NO_LETTER = re.compile(r"[\W_]+")
_NO_LETTER_BYTES = bytes(byte for byte in range(128) if not chr(byte).isalnum())


class _Syllables(dict[str, int]):
    """The syllables of each word, counted when it is first met."""

    def __missing__(self, word: str) -> int:
        self[word] = count_syllables(word)
        return self[word]


@evidence(columnar=True, transient=True)
def answer_size(answer: pa.StringArray) -> np.ndarray:
    """How many letters and digits, words, syllables and sentences the answer has."""
    syllables = _Syllables()
    sizes = [_measure(text, syllables) for text in answer.to_pylist()]
    return np.array(sizes, dtype=np.float64).reshape(-1, 4)


def _measure(text: str, syllables: _Syllables) -> tuple[int, int, int, int]:
    if text.isascii():
        words = _WORD.findall(text.lower())
        letters = len(text.encode().translate(None, _NO_LETTER_BYTES))
    else:
        text = unicodedata.normalize("NFC", text)
        words = [part for word in _WORD.findall(text.lower()) for part in split_unspaced(word)]
        letters = len(_NO_LETTER.sub("", text))
    return letters, len(words), sum(map(syllables.__getitem__, words)), len(sentences(text))
