"""Meaning against meaning: the answer and the references as embeddings."""

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


def as_cosine(value: float) -> float:
    """A cosine without what single precision adds to its ends."""
    return min(1.0, max(-1.0, value))
