"""How near texts are by their embeddings: the cosine of the angle between two vectors."""

from __future__ import annotations

import numpy as np

from ragstone.registry import evidence
from ragstone.tools.protocols import Embedder


@evidence
async def question_similarities(question: str, generated_questions: list[str], embedder: Embedder) -> list[float]:
    """How near each generated question is to the one that was asked."""
    return await _cosines(question, generated_questions, embedder)


@evidence
async def answer_similarities(answer: str, references: list[str], embedder: Embedder) -> list[float]:
    """How near the answer is to each reference."""
    return await _cosines(answer, references, embedder)


@evidence
async def question_answer_similarity(question: str, answer: str, embedder: Embedder) -> float:
    """How near the answer is to the question."""
    [cosine] = await _cosines(question, [answer], embedder)
    return cosine


async def _cosines(text: str, others: list[str], embedder: Embedder) -> list[float]:
    if not others:
        return []
    vectors = np.asarray(await embedder.embed([text, *others]), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    cosines = vectors[1:] @ vectors[0] / np.maximum(lengths[1:] * lengths[0], np.finfo(float).tiny)
    return [float(cosine) for cosine in np.clip(cosines, -1.0, 1.0)]
