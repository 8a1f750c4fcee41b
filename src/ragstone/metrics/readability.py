"""Readability: how long the words and sentences of an answer are. The formulas were fitted to English school texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ragstone.data.columns import Cells
from ragstone.registry import metric

_COMMON: dict[str, Any] = {
    "family": "lexical",
    "bounds": (None, None),
    "better": "none",
    "judges": "answer",
    "against": "answer",
    "sets": ("reference_free",),
    "columnar": True,
}
ENGLISH = (
    "It is for English prose: other languages, lists, tables, code and answers of a few words give numbers that mean "
    "little. It looks at lengths only, not at whether the text makes sense."
)
NO_WORDS = "the answer has no words"


@metric(
    "ari",
    **_COMMON,
    source="Automated Readability Index (Smith & Senter 1967)",
    misleads=ENGLISH,
    aliases=("automated_readability_index", "ari_grade_level"),
)
def ari(answer_size: np.ndarray) -> Cells:
    """The American school grade for which the answer is written, by the length of its words in letters.

    4.71 letters / words + 0.5 words / sentences − 21.43; about 1 to 14, but any number can come out. Neither high nor low
    is good in itself: it depends on the readers. Skipped when the answer has no words.
    """
    letters, words, _, sentences = _counts(answer_size)
    return _unless_empty(answer_size, 4.71 * letters / words + 0.5 * words / sentences - 21.43)


@metric(
    "flesch_kincaid",
    **_COMMON,
    source="Flesch-Kincaid grade level (Kincaid et al. 1975)",
    misleads=f"{ENGLISH} Syllables are counted by spelling, right for about 98 of 100 words.",
    aliases=("flesch_kincaid_grade", "flesch_kincaid_grade_level"),
)
def flesch_kincaid(answer_size: np.ndarray) -> Cells:
    """The American school grade for which the answer is written, by the length of its words in syllables.

    0.39 words / sentences + 11.8 syllables / words − 15.59; about 1 to 14, but any number can come out. Neither high nor
    low is good in itself: it depends on the readers. Skipped when the answer has no words.
    """
    _, words, syllables, sentences = _counts(answer_size)
    return _unless_empty(answer_size, 0.39 * words / sentences + 11.8 * syllables / words - 15.59)


@metric(
    "flesch_ease",
    **_COMMON,
    source="Flesch reading ease (Flesch 1948)",
    misleads=f"{ENGLISH} Syllables are counted by spelling, right for about 98 of 100 words.",
    aliases=("flesch_reading_ease",),
)
def flesch_ease(answer_size: np.ndarray) -> Cells:
    """How easily the answer reads: about 0 for a law, 65 for plain English, 100 for a child's book.

    206.835 − 1.015 words / sentences − 84.6 syllables / words; it has no limits. Neither high nor low is good in itself:
    it depends on the readers. Skipped when the answer has no words.
    """
    _, words, syllables, sentences = _counts(answer_size)
    return _unless_empty(answer_size, 206.835 - 1.015 * words / sentences - 84.6 * syllables / words)


def _counts(answer_size: np.ndarray) -> np.ndarray:
    """Letters, words, syllables and sentences of each row, at least 1."""
    counts: np.ndarray = np.maximum(answer_size, 1).T
    return counts


def _unless_empty(answer_size: np.ndarray, values: np.ndarray) -> Cells:
    return Cells.unless(answer_size[:, 1] == 0, NO_WORDS, values)
