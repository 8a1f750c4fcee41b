"""Meaning against meaning: the answer, the question and the references as embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.errors import Skip
from ragstone.registry import metric


@metric(
    "semantic_similarity",
    family="semantic",
    bounds=(-1.0, 1.0),
    judges="answer",
    against="references",
    source="SAS (Risch et al. 2021); RAGAS answer similarity",
    misleads="A negation or another number hardly moves an embedding. Values of two embedding models cannot be compared.",
    aliases=("ragas.semantic_similarity", "ragas.answer_similarity", "answer_similarity"),
    sets=("ragas",),
)
def semantic_similarity(answer_similarities: Sequence[float]) -> float:
    """How close in meaning the answer is to a reference, whatever the words.

    Cosine of the embeddings of answer and reference; the best over references.
    """
    if not answer_similarities:
        raise Skip("there is no reference to be similar to")
    return as_cosine(max(answer_similarities))


@metric(
    "answer_relevancy.similarity",
    family="semantic",
    bounds=(-1.0, 1.0),
    judges="answer",
    against="question",
    source="the stand-in for RAGAS answer relevancy where no model writes questions",
    misleads=(
        "It is high for an answer that only repeats the question, and low for a short one such as a bare name or number. "
        "Compare systems with it, not answers."
    ),
    sets=("reference_free",),
)
def answer_relevancy_similarity(question_answer_similarity: float) -> float:
    """How close in meaning the answer is to the question: whether it is about what was asked.

    Cosine of the embeddings of question and answer. `ragas.answer_relevancy`, which asks a model for questions that the
    answer would answer, is the better measure where there is a judge.
    """
    return as_cosine(question_answer_similarity)


def as_cosine(value: float) -> float:
    """A cosine without what single precision adds to its ends."""
    return min(1.0, max(-1.0, value))
