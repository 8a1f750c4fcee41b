"""How likely texts are by a language model that is made to say them: the question after a chunk, the answer by itself."""

from __future__ import annotations

import math

from ragstone.data.types import Chunk
from ragstone.evidence.tools import Scorer
from ragstone.registry import evidence

INSTRUCTION = "Generate a question based on the given content:"


@evidence
async def question_likelihoods(question: str, contexts: list[Chunk], scorer: Scorer) -> list[float | None]:
    """For each chunk the geometric mean of the probabilities of the question's tokens after it; nothing where it has no tokens."""
    pairs = [(f"{INSTRUCTION} {chunk.text}", question) for chunk in contexts]
    scored = await scorer.log_probabilities(pairs) if pairs else []
    return [math.exp(math.fsum(tokens) / len(tokens)) if tokens else None for tokens in scored]


@evidence
async def answer_log_probabilities(answer: str, scorer: Scorer) -> list[float]:
    """The natural logarithm of the probability of each token of the answer after those before it."""
    [found] = await scorer.log_probabilities([("", answer)]) if answer.strip() else [[]]
    return found
