"""What a language model expects: the question after what was retrieved, and the answer's own words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragstone.errors import Skip
from ragstone.registry import metric


@metric(
    "context_relevance.perplexity",
    family="model_scored",
    judges="contexts",
    against="question",
    source="unitxt context relevance",
    misleads=(
        "It rewards chunks with the question's words, answered or not, and questions that are easy to guess. "
        "Values of two language models cannot be compared; unitxt's own are those of --scorer hf/google/flan-t5-small."
    ),
    aliases=("unitxt.context_relevance", "context_relevance.perplexity_q", "unitxt.perplexity_q"),
    sets=("unitxt",),
    slow=True,
)
def context_relevance_perplexity(question_likelihoods: Sequence[float | None], k: int | None = None) -> float:
    """How likely a language model is to ask the question after it has read a retrieved chunk.

    For each chunk the geometric mean of P(token of the question | "Generate a question based on the given content:", the
    chunk, the tokens before); the best chunk's value, or with `@k` the mean over the first k.
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
    source="the perplexity of a language model, e^H with natural logarithms",
    misleads=(
        "It measures how common the wording is, not whether it is true: a fluent invention is low, a right name or number "
        "is high. Short answers are high. Values of two language models cannot be compared."
    ),
    aliases=("fluency.perplexity",),
    slow=True,
)
def perplexity(answer_log_probabilities: Sequence[float]) -> float:
    """How surprised a language model is by the wording of the answer.

    e^H, where H is the mean over the answer's tokens of −ln P(token | the tokens before); of at most 512 tokens.
    """
    if not answer_log_probabilities:
        raise Skip("the answer is empty")
    mean = -math.fsum(answer_log_probabilities) / len(answer_log_probabilities)
    # Above: more than a floating-point number can hold.
    return math.exp(min(max(mean, 0.0), 700.0))
