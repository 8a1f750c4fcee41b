"""Token probabilities by a language model: of the question after a chunk, and of the answer by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragstone.data.types import Chunk
from ragstone.errors import Skip
from ragstone.registry import evidence, metric
from ragstone.tools.protocols import Scorer

INSTRUCTION = "Generate a question based on the given content:"


@evidence
async def question_likelihoods(question: str, contexts: list[Chunk], scorer: Scorer) -> list[float | None]:
    """For each chunk, the geometric mean of the question's token probabilities after it; None without tokens."""
    pairs = [(f"{INSTRUCTION} {chunk.text}", question) for chunk in contexts]
    scored = await scorer.log_probabilities(pairs) if pairs else []
    return [math.exp(math.fsum(tokens) / len(tokens)) if tokens else None for tokens in scored]


@evidence
async def answer_log_probabilities(answer: str, scorer: Scorer) -> list[float]:
    """The natural logarithm of each answer token's probability after the tokens before it."""
    [scored] = await scorer.log_probabilities([("", answer)]) if answer.strip() else [[]]
    return scored


@metric(
    "context_relevance.perplexity",
    family="model_scored",
    judges="contexts",
    against="question",
    source="unitxt context relevance",
    misleads=(
        "Chunks that repeat the question and questions that are easy to guess gain. Values of different "
        "language models cannot be compared; unitxt uses --scorer hf/google/flan-t5-small."
    ),
    aliases=("unitxt.context_relevance", "context_relevance.perplexity_q", "unitxt.perplexity_q"),
    sets=("unitxt",),
    slow=True,
)
def context_relevance_perplexity(question_likelihoods: Sequence[float | None], k: int | None = None) -> float:
    """How likely a language model is to ask the question after reading a retrieved chunk.

    For each chunk the geometric mean of P(question token | "Generate a question based on the given content:", chunk,
    previous tokens); the best chunk, or with `@k` the mean over the first k. Skipped if nothing was retrieved.
    """
    known = [value for value in question_likelihoods[:k] if value is not None]
    if not question_likelihoods:
        raise Skip("nothing was retrieved")
    if not known:
        raise Skip("the question has no tokens")
    return max(known) if k is None else math.fsum(known) / len(known)


@metric(
    "perplexity",
    family="model_scored",
    bounds=(1.0, None),
    better="lower",
    judges="answer",
    against="answer",
    source="perplexity of a language model",
    misleads=(
        "Fluent inventions score low; right names and numbers, and short answers, score high. Values of different language models cannot be compared."
    ),
    aliases=("fluency.perplexity",),
    slow=True,
)
def perplexity(answer_log_probabilities: Sequence[float]) -> float:
    """How unexpected the answer's wording is to a language model.

    e^H, where H is the mean of −ln P(token | previous tokens) over at most 512 tokens of the answer. Skipped if the answer
    is empty.
    """
    if not answer_log_probabilities:
        raise Skip("the answer is empty")
    mean = -math.fsum(answer_log_probabilities) / len(answer_log_probabilities)
    # The upper limit avoids an overflow.
    return math.exp(min(max(mean, 0.0), 700.0))
