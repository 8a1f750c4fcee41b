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


@evidence(columnar=True, transient=True)
def answer_size(answer: pa.StringArray) -> np.ndarray:
    """How many letters and digits, words, syllables and sentences the answer has."""
    return np.array([_measure(text) for text in answer.to_pylist()], dtype=np.float64).reshape(-1, 4)


def _measure(text: str) -> tuple[int, int, int, int]:
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    words = _WORD.findall(text)
    if not text.isascii():
        words = [part for word in words for part in split_unspaced(word)]
    letters = len(_NO_LETTER.sub("", text))
    return letters, len(words), sum(map(count_syllables, words)), len(sentences(text))
