"""The metrics of machine translation: BLEU, chrF and TER as sacrebleu defines them (Post 2018), divided by 100.

Each row has its sentence-level score; the score of a run is that of all rows together, not the mean of theirs. Both are
worked out from the counts that are kept of each row, with all its references.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragstone.data.columns import Rows
from ragstone.registry import Corpus, metric

Order = Literal["full", "effective"]
_ORDERS = 4  # n-grams of 1 to 4 words in BLEU
_BETA = 2  # chrF counts recall this many times as much as precision


def bleu_of(statistics: np.ndarray, order: Order = "full") -> np.ndarray:
    """BLEU of summed counts, along the last axis."""
    said, expected = statistics[..., 0], statistics[..., 1]
    matched, total = statistics[..., 2 : 2 + _ORDERS], statistics[..., 2 + _ORDERS :]
    known = total > 0
    # An order without a match counts as half a match, the next such as a quarter, and so on ("exp" smoothing).
    missed = known & (matched == 0)
    counted = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matched)
    logs = np.log(np.divide(counted, total, out=np.ones_like(total), where=known))
    orders = known.sum(axis=-1)
    brevity = 1 - np.divide(expected, said, out=np.full_like(said, np.inf), where=said > 0)
    score = np.exp(np.minimum(brevity, 0) + logs.sum(axis=-1) / np.maximum(orders, 1))
    if order == "full":
        score = np.where(orders == _ORDERS, score, 0.0)
    return np.where(matched.any(axis=-1), score, 0.0)


def chrf_of(statistics: np.ndarray) -> np.ndarray:
    """The F-score of the mean precision and recall over the orders that both sides have, along the last axis."""
    said, expected, matched = np.moveaxis(statistics.reshape(*statistics.shape[:-1], -1, 3), -1, 0)
    known = (said > 0) & (expected > 0)
    orders = np.maximum(known.sum(axis=-1), 1)
    precision = np.divide(matched, said, out=np.zeros_like(said), where=known).sum(axis=-1) / orders
    recall = np.divide(matched, expected, out=np.zeros_like(said), where=known).sum(axis=-1) / orders
    weighed = _BETA**2 * precision + recall
    score: np.ndarray = np.divide(
        (1 + _BETA**2) * precision * recall, weighed, out=np.zeros_like(weighed), where=weighed > 0
    )
    return score


def ter_of(statistics: np.ndarray) -> np.ndarray:
    """Edits a word of the references, along the last axis; without such words 1 if there are edits at all."""
    edits, words = statistics[..., 0], statistics[..., 1]
    return np.where(words > 0, edits / np.where(words > 0, words, 1), edits > 0)


@metric(
    "bleu",
    family="lexical",
    judges="answer",
    against="references",
    source="Papineni et al. 2002; sacrebleu (Post 2018)",
    misleads=(
        "A right answer in other words scores low. "
        "It was made for long texts: a run whose answers all have fewer than four words scores 0 unless order=effective."
    ),
    aliases={
        "sacrebleu": {},
        "sacrebleu.bleu": {},
        "unitxt.sacrebleu": {},
        "unitxt.normalized_sacrebleu": {"order": "effective"},
    },
    sets=("traditional",),
    columnar=True,
    slow=True,
    corpus=Corpus("bleu_statistics", bleu_of),
)
def bleu(bleu_statistics: Rows, order: Order = "full") -> np.ndarray:  # noqa: ARG001  (for the run's score)
    """How many runs of one to four words the answer shares with the references, less a penalty for being shorter.

    Geometric mean of the n-gram precisions times the brevity penalty, with "exp" smoothing. A row is scored as
    sacrebleu's sentence_bleu does: up to the longest n-gram that the answer has (effective order). The score of the run
    is its corpus_bleu: up to 4 words, or with `order=effective` as rows are. 13a tokens, characters for scripts without
    spaces; case counts. An answer without words scores 0.
    """
    return bleu_of(_table(bleu_statistics), "effective")


@metric(
    "chrf",
    family="lexical",
    judges="answer",
    against="references",
    source="Popović 2015; sacrebleu (Post 2018)",
    misleads="Long answers collect characters, and names and numbers weigh no more than endings.",
    aliases=("chrf2", "sacrebleu.chrf"),
    sets=("traditional",),
    columnar=True,
    slow=True,
    corpus=Corpus("chrf_statistics", chrf_of),
)
def chrf(chrf_statistics: Rows) -> np.ndarray:
    """How many runs of one to six characters answer and reference share, the best over the references.

    F-score of the mean precision and recall over the orders, recall counting twice (chrF2); white space is passed over,
    case counts. It needs no words, so it suits every script and rich endings. Either side empty: 0.
    """
    return chrf_of(_table(chrf_statistics))


@metric(
    "ter",
    family="lexical",
    bounds=(0.0, None),
    better="lower",
    judges="answer",
    against="references",
    source="Snover et al. 2006; sacrebleu (Post 2018)",
    misleads="A long answer to a short reference exceeds 1 however right it is: every further word is an edit.",
    aliases=("sacrebleu.ter", "translation_edit_rate"),
    sets=("traditional",),
    columnar=True,
    slow=True,
    corpus=Corpus("ter_statistics", ter_of),
)
def ter(ter_statistics: Rows) -> np.ndarray:
    """How many edits it takes to make a reference of the answer, for each word of the reference.

    Edits insert, delete or replace a word or move a block of words; the fewest over the references / the mean length of
    the references. Case does not count, punctuation does. References without words: 1, or 0 if the answer has none either.
    Skipped for texts of more than 10,000 words.
    """
    return ter_of(_table(ter_statistics))


def _table(statistics: Rows) -> np.ndarray:
    return np.array(list(statistics), dtype=np.float64)
