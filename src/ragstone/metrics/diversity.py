"""Distinct-n (Li et al. 2016) and self-BLEU: the share of different words, within an answer and over all answers of a run.

Words are stored as hashes, so that they can be compared across all rows and across runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from ragstone.data.columns import Cells, Ragged
from ragstone.data.tokens import Tokens, distinct_ngrams, ngram_counts
from ragstone.metrics.rouge import Order
from ragstone.registry import Corpus, evidence, metric

_COMMON: dict[str, Any] = {
    "family": "lexical",
    # A longer answer repeats more words, but is not worse for it.
    "better": "none",
    "judges": "answer",
    "against": "answer",
    "source": "Distinct-n (Li et al. 2016)",
    "misleads": (
        "It falls with the length and number of texts: compare runs on the same questions with answers of "
        "similar length. Gibberish is very diverse."
    ),
    "sets": ("reference_free",),
    "columnar": True,
}
# Combines the hashes of two words into an order-dependent hash of the pair.
_ODD = np.uint64(0x9E3779B97F4A7C15)
# For n-grams that no other answer has.
_SMOOTHED = 0.1


@evidence(columnar=True)
def answer_word_hashes(answer_words: Tokens) -> list[int]:
    """The words of the answer in order, each as 8 bytes of its BLAKE2 hash."""
    digests = b"".join(
        hashlib.blake2b(word.encode(), digest_size=8).digest() for word in answer_words.words.to_pylist()
    )
    hashes = np.frombuffer(digests, dtype="<i8")[answer_words.values]
    # A columnar function is annotated with the type of one row.
    return cast("list[int]", Ragged(hashes, answer_words.offsets))


def distinct_share(rows: Sequence[np.ndarray], n: int = 3) -> float:
    """Distinct n-grams / n-grams, over all rows."""
    keys = np.sort(_ngrams(rows, n)[0])
    return float(1 + np.count_nonzero(keys[1:] != keys[:-1])) / len(keys)


def _ngrams(rows: Sequence[np.ndarray], n: int) -> tuple[np.ndarray, np.ndarray]:
    """The hash and the row of each n-gram."""
    words = np.concatenate(rows).view(np.uint64)
    size, lengths = max(len(words) - n + 1, 0), np.array([len(row) for row in rows])
    keys = words[:size]
    for step in range(1, n):
        keys = keys * _ODD + words[step : size + step]
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(words))  # words up to the end of the row
    within = left[:size] >= n
    return keys[within], np.repeat(np.arange(len(rows)), lengths)[:size][within]


def self_bleu_of(rows: Sequence[np.ndarray], n: int = 4) -> float:
    """The mean BLEU of each row with all other rows as its references, as in Texygen with nltk's first smoothing."""
    if len(rows) < 2:
        raise ValueError("self-BLEU needs two answers or more")
    logs = np.zeros(len(rows))
    for size in range(1, n + 1):
        keys, owners = _ngrams(rows, size)
        _, keys = np.unique(keys, return_inverse=True)
        (key, owner), count = np.unique(np.stack([keys, owners]), axis=1, return_counts=True)
        order = np.lexsort((-count, key))
        key, owner, count = key[order], owner[order], count[order]
        # A row is clipped by the highest count of the others: the first of its n-gram or, for the first one itself, the second.
        first = np.searchsorted(key, key)
        second = np.concatenate([np.where(key[1:] == key[:-1], count[1:], 0), [0]])
        others = np.where(first == np.arange(len(key)), second, count[first])
        shared = np.bincount(owner, np.minimum(count, others), len(rows))
        total = np.bincount(owners, minlength=len(rows))
        logs += np.log(np.maximum(shared, _SMOOTHED) / total) / n
        if size == 1:
            logs[shared == 0] = -np.inf  # no word of the others
    lengths = np.array([len(row) for row in rows])
    return float(np.mean(np.exp(logs + np.minimum(0.0, 1 - _nearest_other(lengths) / lengths))))


def _nearest_other(lengths: np.ndarray) -> np.ndarray:
    """The length of another row that is nearest to that of each row; the shorter one of two."""
    order = np.argsort(lengths, kind="stable")
    ranked = lengths[order].astype(np.float64)
    below, above = np.concatenate([[-np.inf], ranked[:-1]]), np.concatenate([ranked[1:], [np.inf]])
    nearest = np.empty(len(lengths))
    nearest[order] = np.where(ranked - below <= above - ranked, below, above)
    return nearest


def _corpus(n: int) -> Corpus:
    return Corpus("answer_word_hashes", partial(distinct_share, n=n), additive=False)


@metric("distinct_1", **_COMMON, corpus=_corpus(1), aliases=("distinct1",))
def distinct_1(answer_word_hashes: Ragged) -> Cells:
    """Share of distinct words in the answer.

    Distinct words / words. A run is scored over all answers together, which reveals a system that repeats
    itself. Skipped if the answer has no words.
    """
    return _within_rows(answer_word_hashes, 1, "the answer has no words")


@metric("distinct_2", **_COMMON, corpus=_corpus(2), aliases=("distinct2",))
def distinct_2(answer_word_hashes: Ragged) -> Cells:
    """Share of distinct pairs of adjacent words in the answer.

    Distinct pairs / pairs, as in `distinct_1`. Skipped if the answer has fewer than two words.
    """
    return _within_rows(answer_word_hashes, 2, "the answer has fewer than two words")


@metric(
    "distinct_n",
    **_COMMON,
    slow=True,
    corpus=Corpus("answer_word_hashes", distinct_share, additive=False),
    aliases={f"distinct{sign}{n}": {"n": n} for n in range(3, 10) for sign in ("", "_")},
)
def distinct_n(answer_word_hashes: Ragged, n: Order = 3) -> Cells:
    """Share of distinct sequences of n words in the answer.

    As in `distinct_1`, for n from 1 to 9. Skipped if the answer has fewer than n words.
    """
    return _within_rows(answer_word_hashes, n, f"the answer has fewer than {n} words")


@metric(
    "self_bleu_n",
    **{**_COMMON, "source": "Self-BLEU (Zhu et al. 2018, Texygen); nltk's sentence_bleu, smoothing method 1"},
    slow=True,
    corpus=Corpus("answer_word_hashes", self_bleu_of, additive=False),
    aliases={"self_bleu": {}} | {f"self_bleu{sign}{n}": {"n": n} for n in range(1, 10) for sign in ("", "_")},
)
def self_bleu_n(answer_word_hashes: Ragged, n: Order = 4) -> Cells:
    """How much the answers of a run repeat each other, by sequences of up to n words.

    The score of a run is the mean BLEU of each answer with all other answers as references: 1 if all are equal. A row is the
    share of its sequences of n words that repeat an earlier one within the answer. Skipped if the answer has fewer than n words.
    """
    cells = _within_rows(answer_word_hashes, n, f"the answer has fewer than {n} words")
    return replace(cells, values=1 - cells.values)


def _within_rows(hashes: Ragged, n: int, reason: str) -> Cells:
    counts = ngram_counts(hashes, n)
    return Cells.unless(counts == 0, reason, distinct_ngrams(hashes, n) / np.maximum(counts, 1))
