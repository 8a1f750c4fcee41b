"""Cosine similarity of the embeddings of answer, question and references."""

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
    misleads="A negation or a changed number hardly changes an embedding. Values of different embedding models cannot be compared.",
    aliases=("ragas.semantic_similarity", "ragas.answer_similarity", "answer_similarity"),
    sets=("ragas",),
    headline=12,
)
def semantic_similarity(answer_similarities: Sequence[float]) -> float:
    """Similarity in meaning of the answer and a reference, regardless of wording.

    Cosine of the embeddings of answer and reference; best over references.
    """
    if not answer_similarities:
        raise Skip("there is no reference to compare with")
    return as_cosine(max(answer_similarities))


@metric(
    "answer_relevancy.similarity",
    family="semantic",
    bounds=(-1.0, 1.0),
    judges="answer",
    against="question",
    source="substitute for RAGAS answer relevancy without a judge",
    misleads=(
        "High for an answer that repeats the question, low for a bare name or number: compare systems, not "
        "single answers."
    ),
    sets=("reference_free",),
)
def answer_relevancy_similarity(question_answer_similarity: float) -> float:
    """Similarity in meaning of the answer and the question.

    Cosine of the embeddings of question and answer. With a judge, `ragas.answer_relevancy` is the better measure.
    """
    return as_cosine(question_answer_similarity)


def as_cosine(value: float) -> float:
    """A cosine within [-1, 1], without rounding errors of single precision."""
    return min(1.0, max(-1.0, value))
