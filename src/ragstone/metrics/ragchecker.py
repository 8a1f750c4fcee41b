"""RAGChecker (Ru et al. 2024): claims of the answer and of the reference, and which text entails which claim.

Eleven numbers from the same verdicts. Only entailment counts as support. An answer claim is correct if the reference
entails it; a chunk is relevant if it entails a claim of the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.errors import Skip
from ragstone.metrics.verdicts import (
    NO_ANSWER_CLAIMS,
    NO_REFERENCE_CLAIMS,
    NOTHING_RETRIEVED,
    Matrix,
    misled,
    relevant_chunks,
    share,
    supported,
    supported_somewhere,
)
from ragstone.registry import metric

_JUDGED = "It is as good as the judge that found the claims and gave the verdicts."
_ONE_REFERENCE = "Only the first reference counts, and what is true but not in it counts as wrong."
_SOURCE: dict[str, Any] = {"source": "RAGChecker (Ru et al. 2024)"}
_OVERALL: dict[str, Any] = {
    **_SOURCE,
    "judges": "answer",
    "against": "references",
    "sets": ("ragchecker.overall",),
}
_RETRIEVER: dict[str, Any] = {
    **_SOURCE,
    "judges": "contexts",
    "against": "references",
    "sets": ("ragchecker.retriever",),
}
_GENERATOR: dict[str, Any] = {
    **_SOURCE,
    "judges": "answer",
    "against": "contexts",
    "sets": ("ragchecker.generator",),
}


@metric("ragchecker.precision", **_OVERALL, misleads=f"{_JUDGED} {_ONE_REFERENCE} A short answer is easily precise.")
def precision(answer_claims_in_reference: Sequence[str]) -> float:
    """How much of what the answer says is right.

    Answer claims that the reference entails / answer claims. Skipped when the answer makes no claims.
    """
    return share(supported(answer_claims_in_reference), NO_ANSWER_CLAIMS)


@metric("ragchecker.recall", **_OVERALL, misleads=f"{_JUDGED} A long answer easily covers the reference.")
def recall(reference_claims_in_answer: Sequence[str]) -> float:
    """How much of what should be said the answer says.

    Reference claims that the answer entails / reference claims. Skipped when the reference makes no claims.
    """
    return share(supported(reference_claims_in_answer), NO_REFERENCE_CLAIMS)


@metric("ragchecker.f1", **_OVERALL, misleads=f"{_JUDGED} {_ONE_REFERENCE} One number hides which of the two is low.")
def f1(answer_claims_in_reference: Sequence[str], reference_claims_in_answer: Sequence[str]) -> float:
    """The balance of claim precision and claim recall: the overall quality of the answer.

    Their harmonic mean in each row, 0 unless both are above 0. Skipped when the answer or the reference makes no claims.
    """
    exact, complete = precision(answer_claims_in_reference), recall(reference_claims_in_answer)
    return 2 * exact * complete / (exact + complete) if exact and complete else 0.0


@metric(
    "ragchecker.claim_recall",
    **_RETRIEVER,
    misleads=f"{_JUDGED} More chunks always help, however much noise they bring.",
)
def claim_recall(reference_claims_in_contexts: Matrix) -> float:
    """How much of what should be said the retriever found; below 1 the right answer cannot come from the chunks alone.

    Reference claims that at least one chunk entails / reference claims. Nothing retrieved: 0. Skipped when the reference
    makes no claims.
    """
    return share(supported_somewhere(reference_claims_in_contexts), NO_REFERENCE_CLAIMS)


@metric(
    "ragchecker.context_precision",
    **_RETRIEVER,
    misleads=f"{_JUDGED} A chunk that holds one claim counts as much as one that holds them all, and rank does not count.",
)
def context_precision(reference_claims_in_contexts: Matrix) -> float:
    """How many of the retrieved chunks are of use for the right answer.

    Chunks that entail at least one reference claim / chunks. Skipped when nothing was retrieved or the reference makes no
    claims.
    """
    if not reference_claims_in_contexts:
        raise Skip(NO_REFERENCE_CLAIMS)
    chunks = len(reference_claims_in_contexts[0])
    if not chunks:
        raise Skip(NOTHING_RETRIEVED)
    return len(relevant_chunks(reference_claims_in_contexts)) / chunks


@metric(
    "ragchecker.context_utilization",
    **_GENERATOR,
    misleads=f"{_JUDGED} A generator that knows the answer anyway looks as if it used the chunks.",
)
def context_utilization(reference_claims_in_contexts: Matrix, reference_claims_in_answer: Sequence[str]) -> float:
    """How much of the right information that was retrieved the answer makes use of.

    Reference claims entailed by a chunk and by the answer / reference claims entailed by a chunk. Skipped when no chunk
    entails one.
    """
    if not reference_claims_in_contexts:
        raise Skip(NO_REFERENCE_CLAIMS)
    found = supported_somewhere(reference_claims_in_contexts)
    said = supported(reference_claims_in_answer)
    return share(
        [used for used, there in zip(said, found, strict=True) if there], "no chunk supports a claim of the reference"
    )


@metric(
    "ragchecker.noise_sensitivity_in_relevant",
    **_GENERATOR,
    better="lower",
    misleads=f"{_JUDGED} {_ONE_REFERENCE}",
    aliases=("ragchecker.relevant_noise_sensitivity",),
)
def noise_sensitivity_in_relevant(
    answer_claims_in_reference: Sequence[str], answer_claims_in_contexts: Matrix, reference_claims_in_contexts: Matrix
) -> float:
    """How much of the answer is wrong and was taken from chunks that also hold right information.

    Answer claims that the reference does not entail but a relevant chunk does / answer claims. Skipped when the answer
    makes no claims.
    """
    correct = supported(answer_claims_in_reference)
    wrong = misled(correct, answer_claims_in_contexts, reference_claims_in_contexts, by_relevant=True)
    return share(wrong, NO_ANSWER_CLAIMS)


@metric(
    "ragchecker.noise_sensitivity_in_irrelevant",
    **_GENERATOR,
    better="lower",
    misleads=f"{_JUDGED} {_ONE_REFERENCE} Where few chunks are irrelevant it is low whatever the generator does.",
    aliases=("ragchecker.irrelevant_noise_sensitivity",),
)
def noise_sensitivity_in_irrelevant(
    answer_claims_in_reference: Sequence[str], answer_claims_in_contexts: Matrix, reference_claims_in_contexts: Matrix
) -> float:
    """How much of the answer is wrong and was taken from chunks that hold nothing right.

    Answer claims that neither the reference nor a relevant chunk entails, but an irrelevant chunk does / answer claims.
    Skipped when the answer makes no claims.
    """
    correct = supported(answer_claims_in_reference)
    wrong = misled(correct, answer_claims_in_contexts, reference_claims_in_contexts, by_relevant=False)
    return share(wrong, NO_ANSWER_CLAIMS)


@metric("ragchecker.hallucination", **_GENERATOR, better="lower", misleads=f"{_JUDGED} {_ONE_REFERENCE}")
def hallucination(answer_claims_in_reference: Sequence[str], answer_claims_in_contexts: Matrix) -> float:
    """How much of the answer is wrong and stands in no chunk: made up.

    Answer claims that neither the reference nor any chunk entails / answer claims. Skipped when the answer makes no claims.
    """
    return share(_unfounded(answer_claims_in_reference, answer_claims_in_contexts, correct=False), NO_ANSWER_CLAIMS)


@metric(
    "ragchecker.self_knowledge",
    **_GENERATOR,
    better="none",
    misleads=f"{_JUDGED} Whether it is good depends on what is wanted: a generator that adds what it knows, or one that keeps to the chunks.",
)
def self_knowledge(answer_claims_in_reference: Sequence[str], answer_claims_in_contexts: Matrix) -> float:
    """How much of the answer is right but stands in no chunk: what the generator knew by itself.

    Answer claims that the reference entails and no chunk does / answer claims. Skipped when the answer makes no claims.
    """
    return share(_unfounded(answer_claims_in_reference, answer_claims_in_contexts, correct=True), NO_ANSWER_CLAIMS)


@metric(
    "ragchecker.faithfulness",
    **{**_GENERATOR, "sets": ("ragchecker.generator", "reference_free")},
    misleads=f"{_JUDGED} A claim that needs two chunks together counts as unsupported, and a wrong chunk faithfully repeated as good.",
)
def faithfulness(answer_claims_in_contexts: Matrix) -> float:
    """How much of the answer rests on what was retrieved.

    Answer claims that at least one chunk entails / answer claims. Nothing retrieved: 0. Skipped when the answer makes no
    claims.
    """
    return share(supported_somewhere(answer_claims_in_contexts), NO_ANSWER_CLAIMS)


def _unfounded(in_reference: Sequence[str], in_contexts: Matrix, correct: bool) -> list[bool]:
    """Whether each answer claim stands in no chunk and is as correct as asked."""
    pairs = zip(supported(in_reference), supported_somewhere(in_contexts), strict=True)
    return [not founded and right == correct for right, founded in pairs]
