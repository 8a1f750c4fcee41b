"""RAGAS (Es et al. 2024, and the library of that name): statements, generated questions, needed sentences, useful chunks.

Statements are the same claims as RAGChecker's, so nothing is asked twice; verdicts are on the chunks taken together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ragstone.errors import Skip
from ragstone.metrics.semantic import as_cosine
from ragstone.metrics.verdicts import (
    NO_ANSWER_CLAIMS,
    NO_REFERENCE_CLAIMS,
    NOTHING_RETRIEVED,
    Matrix,
    misled,
    share,
    supported,
)
from ragstone.registry import metric

_JUDGED = "It is as good as the judge."
_SOURCE: dict[str, Any] = {"source": "RAGAS (Es et al. 2024)"}
_LIBRARY: dict[str, Any] = {"source": "the RAGAS library"}


@metric(
    "ragas.faithfulness",
    **_SOURCE,
    judges="answer",
    against="contexts",
    misleads=f"{_JUDGED} A wrong chunk faithfully repeated counts as good.",
    aliases=("triad.groundedness", "groundedness"),
    sets=("reference_free", "triad"),
)
def faithfulness(answer_claims_in_all_contexts: Sequence[str]) -> float:
    """How much of the answer follows from the retrieved chunks taken together.

    Statements of the answer that the contexts entail / statements. Skipped when the answer makes no claims.
    """
    return share(supported(answer_claims_in_all_contexts), NO_ANSWER_CLAIMS)


@metric(
    "ragas.answer_relevancy",
    **_SOURCE,
    bounds=(-1.0, 1.0),
    judges="answer",
    against="question",
    misleads="A wrong answer to the right question is fully relevant. Values of two embedding models cannot be compared.",
    aliases=("ragas.answer_relevance", "ragas.response_relevancy", "triad.answer_relevance"),
    sets=("reference_free", "triad"),
)
def answer_relevancy(question_similarities: Sequence[float], noncommittal: bool) -> float:
    """How well the answer answers what was asked, and not something else.

    Mean cosine of the question and of those that the answer would be an answer to. Noncommittal answers: 0. Skipped when no
    question could be made from the answer.
    """
    if noncommittal:
        return 0.0
    if not question_similarities:
        raise Skip("no question could be made from the answer")
    return as_cosine(sum(question_similarities) / len(question_similarities))


@metric(
    "ragas.context_relevance",
    **_SOURCE,
    judges="contexts",
    against="question",
    misleads=f"{_JUDGED} Large chunks score low even when they hold the answer.",
    aliases=("ragas.context_precision_sentences", "ragas.context_relevancy", "triad.context_relevance"),
    sets=("reference_free", "triad"),
)
def context_relevance(needed_sentences: Sequence[int], context_sentences: Sequence[Sequence[str]]) -> float:
    """How much of what was retrieved is needed to answer the question; the rest is ballast.

    Sentences needed / sentences in all chunks. No sentence needed, or not enough of them to answer: 0. Skipped when the
    chunks have no sentences.
    """
    total = sum(map(len, context_sentences))
    if not total:
        raise Skip("the retrieved chunks have no sentences" if context_sentences else NOTHING_RETRIEVED)
    return len(set(needed_sentences)) / total


@metric(
    "ragas.context_precision",
    **_LIBRARY,
    judges="ranking",
    against="references",
    misleads=f"{_JUDGED} What was never retrieved does not count: one useful chunk at the top gives 1.",
    aliases=("ragas.llm_context_precision_with_reference",),
)
def context_precision(chunk_usefulness: Sequence[bool]) -> float:
    """How early the useful chunks come.

    Mean over the ranks of useful chunks of precision at that rank; useful for the reference, or for the answer where there is
    no reference. No useful chunk: 0. Skipped when nothing was retrieved.
    """
    if not chunk_usefulness:
        raise Skip(NOTHING_RETRIEVED)
    precisions, hits = [], 0
    for rank, useful in enumerate(chunk_usefulness, start=1):
        if useful:
            hits += 1
            precisions.append(hits / rank)
    return sum(precisions) / hits if hits else 0.0


@metric(
    "ragas.context_recall",
    **_LIBRARY,
    judges="contexts",
    against="references",
    misleads=f"{_JUDGED} More chunks always help, however much noise they bring.",
    aliases=("ragas.llm_context_recall",),
)
def context_recall(reference_claims_in_all_contexts: Sequence[str]) -> float:
    """How much of what should be said follows from the retrieved chunks taken together.

    Statements of the reference that the contexts entail / statements. Skipped when the reference makes no claims.
    """
    return share(supported(reference_claims_in_all_contexts), NO_REFERENCE_CLAIMS)


@metric(
    "ragas.context_entity_recall",
    **_LIBRARY,
    judges="contexts",
    against="references",
    misleads="A name may be there and nothing of what should be said about it. Another spelling of a name is not found.",
    aliases=("ragas.context_entities_recall",),
)
def context_entity_recall(reference_entities_in_contexts: Sequence[bool]) -> float:
    """How many of the names, places, dates and numbers of the reference stand in the retrieved chunks.

    Entities of the reference found in the contexts / entities. Skipped when the reference names none.
    """
    return share(reference_entities_in_contexts, "the reference names no entities")


@metric(
    "ragas.answer_correctness",
    **_LIBRARY,
    judges="answer",
    against="references",
    misleads=f"{_JUDGED} Two different things in one number: look at `ragchecker.f1` and `semantic_similarity` for each.",
)
def answer_correctness(
    answer_claims_in_reference: Sequence[str],
    reference_claims_in_answer: Sequence[str],
    answer_similarities: Sequence[float],
    weight: float = 0.75,
) -> float:
    """How right the answer is, in its statements and in its meaning as a whole.

    weight × F1 + (1 − weight) × cosine of answer and first reference, where F1 = TP / (TP + (FP + FN) / 2): TP and FP are
    answer claims that the reference entails or not, FN reference claims that the answer does not entail. A cosine below 0
    counts 0. Skipped when neither text makes a claim.
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"weight must be from 0 to 1, got {weight:g}")
    right, said = supported(answer_claims_in_reference), supported(reference_claims_in_answer)
    if not right and not said:
        raise Skip("neither the answer nor the reference makes a claim")
    if not answer_similarities:
        raise Skip("there is no reference to be similar to")
    hits = sum(right)
    f1 = hits / (hits + (right.count(False) + said.count(False)) / 2) if hits else 0.0
    return weight * f1 + (1 - weight) * max(0.0, as_cosine(answer_similarities[0]))


@metric(
    "ragas.noise_sensitivity",
    **_LIBRARY,
    better="lower",
    judges="answer",
    against="contexts",
    misleads=f"{_JUDGED} What is true but not in the first reference counts as wrong.",
    aliases={
        "ragas.noise_sensitivity_relevant": {"mode": "relevant"},
        "ragas.noise_sensitivity_irrelevant": {"mode": "irrelevant"},
    },
)
def noise_sensitivity(
    answer_claims_in_reference: Sequence[str],
    answer_claims_in_contexts: Matrix,
    reference_claims_in_contexts: Matrix,
    mode: Literal["relevant", "irrelevant"] = "relevant",
) -> float:
    """How much of the answer is wrong and was taken from the retrieved chunks.

    Answer claims that the reference does not entail but a relevant chunk does / answer claims; `mode=irrelevant`: that only
    irrelevant chunks entail. Skipped when the answer makes no claims.
    """
    correct = supported(answer_claims_in_reference)
    wrong = misled(correct, answer_claims_in_contexts, reference_claims_in_contexts, by_relevant=mode == "relevant")
    return share(wrong, NO_ANSWER_CLAIMS)
