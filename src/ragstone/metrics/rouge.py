"""ROUGE (Lin 2004): the answer against the references by runs of words and by the longest common subsequence.

For ASCII texts the values are those of Google's rouge-score, which most papers use. Beyond ASCII rouge-score drops every
letter (`naïve` becomes `na ve`, Chinese vanishes); here all letters count, and each character of a script that is written
without spaces is a word.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ragstone.data.ngrams import ngram_counts
from ragstone.data.tokens import Nested, Tokens
from ragstone.evidence.rouge import LinePairs, WordPairs
from ragstone.registry import metric

Part = Literal["f1", "precision", "recall"]
Merge = Literal["max", "mean"]
Order = Literal[1, 2, 3, 4, 5, 6, 7, 8, 9]

_COMMON: dict[str, Any] = {
    "family": "lexical",
    "judges": "answer",
    "against": "references",
    "source": "ROUGE (Lin 2004), as Google's rouge-score computes it",
    "columnar": True,
}
COPIES = "It rewards copied wording and small chunks: a right answer in other words scores low."


@metric("rouge_1", **_COMMON, misleads=COPIES, aliases=("rouge1",), sets=("traditional",))
def rouge_1(word_pairs: WordPairs, score: Part = "f1", stem: bool = False, references: Merge = "max") -> np.ndarray:
    """How many words the answer and a reference share.

    Shared words / words of the answer (precision), of the reference (recall), and their harmonic mean; `stem=true`
    compares English stems. Of several references the one with the best F1 counts, or their mean. No words on a side: 0.
    """
    return _by_runs(word_pairs, 1, score, stem, references)


@metric("rouge_2", **_COMMON, misleads=COPIES, aliases=("rouge2",), sets=("traditional",))
def rouge_2(word_pairs: WordPairs, score: Part = "f1", stem: bool = False, references: Merge = "max") -> np.ndarray:
    """How many pairs of adjacent words the answer and a reference share.

    As rouge_1, with pairs in place of words. A text of one word has no pair: 0, even where both are the same.
    """
    return _by_runs(word_pairs, 2, score, stem, references)


@metric(
    "rouge_n",
    **_COMMON,
    misleads=f"{COPIES} Texts of fewer than n words score 0.",
    aliases={f"rouge{n}": {"n": n} for n in range(3, 10)},
)
def rouge_n(
    word_pairs: WordPairs, n: Order = 3, score: Part = "f1", stem: bool = False, references: Merge = "max"
) -> np.ndarray:
    """How many runs of n adjacent words the answer and a reference share.

    As rouge_1, with runs in place of words. A text of fewer than n words has none: 0.
    """
    return _by_runs(word_pairs, int(n), score, stem, references)


@metric(
    "rouge_l",
    **_COMMON,
    misleads=f"{COPIES} It is blind to sentences that come in another order.",
    aliases=("rougel", "ragas.rouge_score"),
    sets=("traditional",),
)
def rouge_l(word_pairs: WordPairs, score: Part = "f1", stem: bool = False, references: Merge = "max") -> np.ndarray:
    """How many words the answer and a reference share in the same order, with gaps.

    As rouge_1, with the words of the longest common subsequence in place of all shared words.
    """
    pairs = word_pairs.stemmed if stem else word_pairs
    said, expected = (side.lengths for side in pairs.sides)
    return _merge(pairs.in_order, said, expected, score, references, pairs.references)


@metric(
    "rouge_lsum",
    **_COMMON,
    misleads=f"{COPIES} Lines are its sentences: without line breaks it is rouge_l.",
    aliases=("rougelsum",),
)
def rouge_lsum(
    word_pairs: WordPairs,
    line_pairs: LinePairs,
    score: Part = "f1",
    stem: bool = False,
    references: Merge = "max",
) -> np.ndarray:
    """How many words of the reference's lines stand in the answer's lines in the same order.

    As rouge_l, with the union over the answer's lines of each reference line's longest common subsequence; a word of the
    answer counts once. Where neither text has a line break it equals rouge_l. Skipped when both have thousands of lines.
    """
    pairs = word_pairs.stemmed if stem else word_pairs
    said, expected = (side.lengths for side in pairs.sides)
    shared = pairs.in_order.copy()
    if len(line_pairs.broken):
        shared[line_pairs.broken] = line_pairs.in_order(stem)
    return _merge(shared, said, expected, score, references, pairs.references)


def _by_runs(word_pairs: WordPairs, n: int, score: Part, stem: bool, references: Merge) -> np.ndarray:
    pairs = word_pairs.stemmed if stem else word_pairs
    said, expected = (ngram_counts(side, n) for side in pairs.sides)
    return _merge(pairs.shared(n), said, expected, score, references, pairs.references)


def _merge(
    shared: np.ndarray, said: np.ndarray, expected: np.ndarray, score: Part, merge: Merge, lists: Nested[Tokens]
) -> np.ndarray:
    """One value a row from the counts of each reference."""
    precision, recall = shared / np.maximum(said, 1), shared / np.maximum(expected, 1)
    both = precision + recall
    f1: np.ndarray = np.divide(2 * precision * recall, both, out=np.zeros(len(both)), where=both > 0)
    values: np.ndarray = {"f1": f1, "precision": precision, "recall": recall}[score]
    if len(values) == len(lists) and (lists.lengths == 1).all():
        return values
    if merge == "mean":
        sums = np.bincount(lists.row_of, weights=values, minlength=len(lists))
        return np.asarray(sums / np.maximum(lists.lengths, 1))
    best = np.zeros(len(lists))
    # Best F1 last within its row, the first of equals after the others: the last write stays.
    order = np.lexsort((-np.arange(len(f1)), f1))
    best[lists.row_of[order]] = values[order]
    return best
