"""Readability of the answer by the length of its words and sentences. The formulas were fitted to English school texts.

Count the syllables of English words by spelling: correct for 98 % of the words in running text.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.columns import Cells
from ragstone.registry import evidence, metric
from ragstone.text.sentences import sentences
from ragstone.text.words import split_unspaced

_PARTS = re.compile(r"[a-z]+|[0-9]")
_NOT = re.compile(r"[^aeiouy]n't$")  # isn't, but not don't
_VOWELS = re.compile(r"[aeiouy]+")
# Silent vowels: make but not table, makes but not boxes, asked but not wanted.
_SILENT = re.compile(
    r"""
      (?<=[^aeiouy])e$ (?<![^aeiouylrw]le) (?<!^[^aeiouy]e) (?<!^[^aeiouy]{2}e) (?<!tre)
    | (?<=[^aeiouy])es$ (?<![sxzcg]es) (?<!shes) (?<!ches) (?<![^aeiouylr]les) (?<!tres)
    | (?<=[^aeiouy])ed$ (?<![td]ed) (?<![^aeiouylr]led) (?<!^[^aeiouy]{2}ed)
    | [aeiouy][^aeiouy]+e (?<!ele) (?=(?:ly|ful|fully|less|ness|ments?|some|where|thing|body|one|ty|lines?|times?|ball)$)
    | (?<=[qg])ues?$ | (?<=^ev)e(?=ry)
    """,
    re.VERBOSE,
)
# Adjacent vowels in separate syllables: radio but not nation, society, usual, being, flying; and -ism has two.
_APART = re.compile(
    r"""
      (?<![tscgx])i[ao] (?!u|ge) (?<!lia) (?<!llio) (?<!ni[ao]) | (?<![tscgx])iou
    | (?<![tscg])iu | (?<=[aeiouy][^aeiouytc])ie[tnr] | [dvl]ie[nt]t?s?$ | [rc]iet | ^scie
    | (?<=[^aeiouqg])ua(?!ge) | uou | (?<=[^gqr])ui[td](?!$) | uity | ^fluid
    | eo(?![upr]) | creat(?!u) | ^re[aeu](?!d|l|ch|p|r|s) | ^idea | ^area | ropea | seum
    | [aeiou]ing$ | (?<=[^aeiou])y[aeiou] | (?<=[aeiou])y(?=[aeiou])(?!ed$)(?!e?s?$)
    | sms?$ | thms?$ | ^mc[^aeiouy]
    """,
    re.VERBOSE,
)


def count_syllables(word: str) -> int:
    """The number of syllables of an English word, at least one. A digit counts as one."""
    word = word.lower()
    if not word.isascii():
        word = word.replace("’", "'").replace("é", "ea")  # an é at the end is spoken
        word = "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))
    spoken = sum(map(_count_part, _PARTS.findall(word.replace("'", "")))) + len(_NOT.findall(word))
    return max(1, spoken)


def _count_part(part: str) -> int:
    spoken = len(_VOWELS.findall(part)) - len(_SILENT.findall(part)) + len(_APART.findall(part))
    return max(1, spoken)


_COMMON: dict[str, Any] = {
    "family": "lexical",
    "bounds": (None, None),
    "better": "none",
    "judges": "answer",
    "against": "answer",
    "sets": ("reference_free",),
    "columnar": True,
}
_ENGLISH = "It is for English prose, not for lists, tables, code or very short answers. It measures lengths, not sense."
_SYLLABLES = f"{_ENGLISH} Syllables are counted by spelling, right for about 98 of 100 words."


# Hyphens, apostrophes and the separators within numbers do not end a word.
_WORD = re.compile(r"[^\W_]+(?:(?:['’‐‑-]|(?<=[0-9])[.,](?=[0-9]))[^\W_]+)*")
_NO_LETTER = re.compile(r"[\W_]+")
_NO_LETTER_BYTES = bytes(byte for byte in range(128) if not chr(byte).isalnum())


class _Syllables(dict[str, int]):
    """Syllables per word, counted on first use."""

    def __missing__(self, word: str) -> int:
        self[word] = count_syllables(word)
        return self[word]


@evidence(columnar=True, transient=True)
def answer_size(answer: pa.StringArray) -> np.ndarray:
    """Number of letters and digits, words, syllables and sentences of the answer."""
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


@metric(
    "ari",
    **_COMMON,
    source="Automated Readability Index (Smith & Senter 1967)",
    misleads=_ENGLISH,
    aliases=("automated_readability_index", "ari_grade_level"),
)
def ari(answer_size: np.ndarray) -> Cells:
    """US school grade that the answer is written for, by letters per word.

    4.71 letters / words + 0.5 words / sentences − 21.43; usually 1 to 14. The right value depends on the readers. Skipped
    if the answer has no words.
    """
    letters, words, _, sentences = _counts(answer_size)
    return _unless_empty(answer_size, 4.71 * letters / words + 0.5 * words / sentences - 21.43)


@metric(
    "flesch_kincaid",
    **_COMMON,
    source="Flesch-Kincaid grade level (Kincaid et al. 1975)",
    misleads=_SYLLABLES,
    aliases=("flesch_kincaid_grade", "flesch_kincaid_grade_level"),
)
def flesch_kincaid(answer_size: np.ndarray) -> Cells:
    """US school grade that the answer is written for, by syllables per word.

    0.39 words / sentences + 11.8 syllables / words − 15.59; usually 1 to 14. The right value depends on the readers.
    Skipped if the answer has no words.
    """
    _, words, syllables, sentences = _counts(answer_size)
    return _unless_empty(answer_size, 0.39 * words / sentences + 11.8 * syllables / words - 15.59)


@metric(
    "flesch_ease",
    **_COMMON,
    source="Flesch reading ease (Flesch 1948)",
    misleads=_SYLLABLES,
    aliases=("flesch_reading_ease",),
)
def flesch_ease(answer_size: np.ndarray) -> Cells:
    """Reading ease: about 0 for a law, 65 for plain English, 100 for a children's book.

    206.835 − 1.015 words / sentences − 84.6 syllables / words. The right value depends on the readers. Skipped if the
    answer has no words.
    """
    _, words, syllables, sentences = _counts(answer_size)
    return _unless_empty(answer_size, 206.835 - 1.015 * words / sentences - 84.6 * syllables / words)


def _counts(answer_size: np.ndarray) -> np.ndarray:
    """Letters, words, syllables and sentences per row, at least 1."""
    counts: np.ndarray = np.maximum(answer_size, 1).T
    return counts


def _unless_empty(answer_size: np.ndarray, values: np.ndarray) -> Cells:
    return Cells.unless(answer_size[:, 1] == 0, "the answer has no words", values)
