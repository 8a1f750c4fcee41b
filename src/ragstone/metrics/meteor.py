"""METEOR (Banerjee & Lavie 2005; Lavie & Agarwal 2007), as nltk computes it, on folded words."""

from __future__ import annotations

import numpy as np

from ragstone.data.columns import Ragged
from ragstone.evidence.rouge import WordPairs
from ragstone.registry import metric

_ALPHA, _BETA, _GAMMA = 0.9, 3, 0.5


@metric(
    "meteor",
    family="lexical",
    judges="answer",
    against="references",
    source="METEOR (Banerjee & Lavie 2005; Lavie & Agarwal 2007), as nltk computes it",
    misleads=(
        "Without a WordNet on the machine synonyms do not count, so two machines can differ: the signature says which "
        "stages ran. Stems and synonyms are English. It rewards recall: a long answer loses little."
    ),
    aliases=("meteor_score", "nltk.meteor_score"),
    sets=("traditional",),
    columnar=True,
)
def meteor(aligned_words: Ragged, aligned_chunks: Ragged, word_pairs: WordPairs) -> np.ndarray:
    """How many words of a reference the answer has, as they are, as stems or as synonyms, and how well they keep together.

    P R / (0.9 P + 0.1 R) × (1 − 0.5 (chunks / aligned words)³), where a chunk is a run of aligned words adjacent in both
    texts; the best over the references. Words are lower-case without punctuation (nltk leaves that to its caller). Even
    the same text is a little below 1: it is one chunk. Nothing aligned: 0.
    """
    said, expected = (side.lengths for side in word_pairs.sides)
    aligned = np.maximum(aligned_words.values, 1)
    precision, recall = aligned_words.values / np.maximum(said, 1), aligned_words.values / np.maximum(expected, 1)
    weighed = _ALPHA * precision + (1 - _ALPHA) * recall
    mean = np.divide(precision * recall, weighed, out=np.zeros(len(weighed)), where=weighed > 0)
    values = mean * (1 - _GAMMA * (aligned_chunks.values / aligned) ** _BETA)
    best = np.zeros(len(word_pairs))
    np.maximum.at(best, word_pairs.references.row_of, values)
    return best
