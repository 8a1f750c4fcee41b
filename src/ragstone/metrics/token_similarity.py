"""Tokens against tokens by their contextual embeddings: BERTScore, MoverScore, the Word Mover's Distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragstone.errors import Skip
from ragstone.evidence.token_similarity import TokenMatch, TokenMoves
from ragstone.registry import metric

_NO_TOKENS = "no reference has a word to compare with"


@metric(
    "bert_score",
    family="semantic",
    bounds=(-1.0, 1.0),
    judges="answer",
    against="references",
    source="BERTScore (Zhang et al. 2020), on the last layer of all-MiniLM-L6-v2",
    misleads=(
        "Another model gives other numbers: these are not those of BERTScore on RoBERTa. Unrelated English sentences "
        "have 0.14 on average, not 0. A changed number costs little."
    ),
    aliases={
        "bert_score.precision": {"part": "precision"},
        "bert_score.recall": {"part": "recall"},
        "bert_score.f1": {},
    },
    slow=True,
)
def bert_score(
    token_matches: Sequence[TokenMatch | None],
    part: Literal["f1", "precision", "recall"] = "f1",
    idf: bool = False,
    baseline: float = 0.0,
) -> float:
    """How well the words of the answer and of a reference find partners of like meaning in each other.

    Precision is the mean over the answer's tokens of the best cosine with a token of the reference, recall the same the
    other way round, F1 their harmonic mean; of the reference with the best F1. With `idf=true` rare tokens weigh more: by the
    logarithm of their rank in the vocabulary, not by counts in the data as in the original, so that a row's score does not
    depend on other rows. With a baseline b the score s becomes (s − b) / (1 − b), not below −1: 0.14 puts unrelated
    sentences at 0. An empty answer: 0 before that. At most 508 tokens of a text are looked at.
    """
    if not 0 <= baseline < 1:
        raise ValueError(f"the baseline must be from 0 to below 1, got {baseline}")
    pairs = [
        (match.rare_precision, match.rare_recall) if idf else (match.precision, match.recall)
        for match in token_matches
        if match is not None
    ]
    if not pairs:
        raise Skip(_NO_TOKENS)
    f1, precision, recall = max((_f1(*pair), *pair) for pair in pairs)
    found = {"f1": f1, "precision": precision, "recall": recall}[part]
    return max((found - baseline) / (1 - baseline), -1.0)


@metric(
    "mover_score",
    family="semantic",
    judges="answer",
    against="references",
    source="MoverScore (Zhao et al. 2019), on single tokens, as 1 / (1 + distance)",
    misleads="Unrelated texts are well above 0: no two tokens are farther than 2 from each other, so the least is 1/3; unrelated sentences have about 0.43.",
    slow=True,
)
def mover_score(token_moves: Sequence[TokenMoves | None]) -> float:
    """How little work turns the meaning of the answer into that of a reference.

    1 / (1 + d), where d is the least mean distance over which the answer's tokens must be moved to become the
    reference's, with rare tokens weighing more; the best over references. An empty answer: 1/3.
    """
    return 1.0 / (1.0 + min(move.rare_distance for move in _known(token_moves)))


@metric(
    "wmd",
    family="semantic",
    bounds=(0.0, 2.0),
    better="lower",
    judges="answer",
    against="references",
    source="Word Mover's Distance (Kusner et al. 2015), on contextual tokens",
    misleads=(
        "An answer that is longer than the reference has nowhere to put its words: it is far even if all it says is right. "
        "Unrelated sentences are about 1.34 apart."
    ),
    aliases=("word_movers_distance",),
    slow=True,
)
def wmd(token_moves: Sequence[TokenMoves | None]) -> float:
    """How far the words of the answer must move, in the space of meanings, to become those of a reference.

    Optimal transport between the tokens of both texts, all of equal weight, at the Euclidean distance of their vectors,
    which have length 1; the least over references. An empty answer: 2, the farthest.
    """
    return min(move.distance for move in _known(token_moves))


def _known(moves: Sequence[TokenMoves | None]) -> list[TokenMoves]:
    known = [move for move in moves if move is not None]
    if not known:
        raise Skip(_NO_TOKENS)
    return known


def _f1(precision: float, recall: float) -> float:
    """The harmonic mean; nothing in common, or less than that, on one side is nothing in common."""
    if precision <= 0 or recall <= 0:
        return min(precision, recall, 0.0)
    return 2 * precision * recall / (precision + recall)
