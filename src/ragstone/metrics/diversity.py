"""Distinct-n (Li et al. 2016): the share of different words, within an answer and over all answers of a run.

Words are stored as hashes, so that they can be compared across all rows and across runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ragstone.data.columns import Cells, Ragged
from ragstone.data.tokens import Tokens, distinct_ngrams, ngram_counts
from ragstone.registry import Corpus, evidence, metric

_COMMON: dict[str, Any] = {
    "family": "lexical",
    # A longer answer repeats more words, but is not worse for it.
    "better": "none",
    "judges": "answer",
    "against": "answer",
    "source": "Distinct-n (Li et al. 2016)",
    "misleads": (
        "It falls with the length of the texts and the number of rows: compare only runs on the same questions with "
        "answers of similar length. Gibberish is very diverse."
    ),
    "sets": ("reference_free",),
    "columnar": True,
}
# Combines the hashes of two words into an order-dependent hash of the pair.
_ODD = np.uint64(0x9E3779B97F4A7C15)


@evidence(columnar=True)
def answer_word_hashes(answer_words: Tokens) -> list[int]:
    """The words of the answer in order, each as 8 bytes of its BLAKE2 hash."""
    digests = b"".join(
        hashlib.blake2b(word.encode(), digest_size=8).digest() for word in answer_words.words.to_pylist()
    )
    hashes = np.frombuffer(digests, dtype="<i8")[answer_words.values]
    # A columnar function is annotated with the type of one row.
    return cast("list[int]", Ragged(hashes, answer_words.offsets))


def distinct_words(rows: Sequence[np.ndarray]) -> float:
    """Distinct words / words, over all rows."""
    return _distinct_share(np.concatenate(rows))


def distinct_pairs(rows: Sequence[np.ndarray]) -> float:
    """Distinct pairs of adjacent words / pairs, over all rows."""
    words = np.concatenate(rows).view(np.uint64)
    within = np.ones(max(len(words) - 1, 0), dtype=bool)
    within[np.cumsum([len(row) for row in rows])[:-1] - 1] = False
    return _distinct_share((words[:-1] * _ODD + words[1:])[within])


def _distinct_share(numbers: np.ndarray) -> float:
    ordered = np.sort(numbers)
    return float(1 + np.count_nonzero(ordered[1:] != ordered[:-1])) / len(ordered)


@metric(
    "distinct_1", **_COMMON, corpus=Corpus("answer_word_hashes", distinct_words, additive=False), aliases=("distinct1",)
)
def distinct_1(answer_word_hashes: Ragged) -> Cells:
    """Share of distinct words in the answer.

    Distinct words / words. The score of a run is computed over all answers together, so it also reveals a system that
    repeats itself. Skipped if the answer has no words.
    """
    return _within_rows(answer_word_hashes, 1, "the answer has no words")


@metric(
    "distinct_2", **_COMMON, corpus=Corpus("answer_word_hashes", distinct_pairs, additive=False), aliases=("distinct2",)
)
def distinct_2(answer_word_hashes: Ragged) -> Cells:
    """Share of distinct pairs of adjacent words in the answer.

    Distinct pairs / pairs, as in `distinct_1`. Skipped if the answer has fewer than two words.
    """
    return _within_rows(answer_word_hashes, 2, "the answer has fewer than two words")


def _within_rows(hashes: Ragged, n: int, reason: str) -> Cells:
    counts = ngram_counts(hashes, n)
    return Cells.unless(counts == 0, reason, distinct_ngrams(hashes, n) / np.maximum(counts, 1))
