"""Distinct-n (Li et al. 2016): does a system say something different each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ragstone.data.columns import Cells, Ragged
from ragstone.data.ngrams import distinct_ngrams, ngram_counts
from ragstone.registry import Corpus, metric

_COMMON: dict[str, Any] = {
    "family": "lexical",
    # A longer answer repeats more words, and is no worse for that.
    "better": "none",
    "judges": "answer",
    "against": "answer",
    "source": "Distinct-n (Li et al. 2016)",
    "misleads": (
        "It falls as texts get longer and as rows get more: compare only runs on the same questions with answers of "
        "about the same length. Gibberish is very diverse."
    ),
    "sets": ("reference_free",),
    "columnar": True,
}
# Turns the hashes of two words into one of the pair, in which their order counts.
_ODD = np.uint64(0x9E3779B97F4A7C15)


def distinct_words(rows: Sequence[np.ndarray]) -> float:
    """Distinct words / words of all rows together."""
    return _distinct_share(np.concatenate(rows))


def distinct_pairs(rows: Sequence[np.ndarray]) -> float:
    """Distinct pairs of adjacent words / pairs of all rows together."""
    words = np.concatenate(rows).view(np.uint64)
    within = np.ones(max(len(words) - 1, 0), dtype=bool)
    within[np.cumsum([len(row) for row in rows])[:-1] - 1] = False
    return _distinct_share((words[:-1] * _ODD + words[1:])[within])


@metric(
    "distinct_1", **_COMMON, corpus=Corpus("answer_word_hashes", distinct_words, additive=False), aliases=("distinct1",)
)
def distinct_1(answer_word_hashes: Ragged) -> Cells:
    """How many of the answer's words are different ones.

    Distinct words / words. A row's value is that of its answer; the score of a run is that of all answers together, which
    shows a system that always says the same. Skipped when the answer has no words.
    """
    return _within_rows(answer_word_hashes, 1, "the answer has no words")


@metric(
    "distinct_2", **_COMMON, corpus=Corpus("answer_word_hashes", distinct_pairs, additive=False), aliases=("distinct2",)
)
def distinct_2(answer_word_hashes: Ragged) -> Cells:
    """How many of the answer's pairs of adjacent words are different ones.

    Distinct pairs / pairs, of the answer and of all answers together as in distinct_1. Skipped when the answer has fewer
    than two words.
    """
    return _within_rows(answer_word_hashes, 2, "the answer has fewer than two words")


def _within_rows(hashes: Ragged, n: int, reason: str) -> Cells:
    counts = ngram_counts(hashes, n)
    return Cells.unless(counts == 0, reason, distinct_ngrams(hashes, n) / np.maximum(counts, 1))


def _distinct_share(numbers: np.ndarray) -> float:
    ordered = np.sort(numbers)
    return float(1 + np.count_nonzero(ordered[1:] != ordered[:-1])) / len(ordered)
