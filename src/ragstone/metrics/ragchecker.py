"""RAGChecker (Ru et al. 2024): claims of the answer and of the reference, and which text entails which claim.

Eleven metrics from the same verdicts. An answer claim is correct if the reference entails it. A chunk is relevant if it
entails a claim of the reference. Entailment counts 1 and all else 0; verdicts of the local judge count with their expected
value, so that an unsure one counts in part. Claims of a language model count equally; those of the local extractor count by the
words that they take from the text. The advice follows RAGChecker's tutorial.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.data.share import Items, Share, harmonic_mean
from ragstone.errors import Skip
from ragstone.evidence_functions.claims import (
    ANSWER_CLAIM,
    CHUNK,
    NO_ANSWER_CLAIMS,
    NO_REFERENCE_CLAIMS,
    NOTHING_RETRIEVED,
    REFERENCE_CLAIM,
    Matrix,
    best_supports,
    chunk_relevance,
    grounded,
    may_be_supported,
    misled,
    share,
    supports,
    weighed,
    words_of,
)
from ragstone.metrics.retrieval import FEWER, FIND_MORE
from ragstone.registry import Threshold, metric

GROUND = "Instruct the generator to use only the retrieved chunks, and to decline if they do not contain the answer."
USE = "Instruct the generator to find and use everything in the chunks that is relevant to the question."
REASON_FIRST = (
    "Let the generator reason first: which chunks answer the question and which do not. Then answer from the former."
)
_JUDGED = "It depends on the judge of claims and verdicts."
_ONE_REFERENCE = "A true claim that is not in the first reference counts as wrong."
_OVERALL: dict[str, Any] = {
    "source": "RAGChecker (Ru et al. 2024)",
    "judges": "answer",
    "against": "references",
    "sets": ("ragchecker.overall",),
}
_RETRIEVER: dict[str, Any] = {**_OVERALL, "judges": "contexts", "sets": ("ragchecker.retriever",)}
_GENERATOR: dict[str, Any] = {**_OVERALL, "against": "contexts", "sets": ("ragchecker.generator",)}
# In a conversation, earlier turns and their chunks may support a claim.
_GROUNDED: dict[str, Any] = {"optional": ("answer_claims_in_history",)}


@metric(
    "ragchecker.precision",
    **_OVERALL,
    misleads=f"{_JUDGED} {_ONE_REFERENCE} Short answers are easily precise.",
    version=2,
)
def precision(answer_claims_in_reference: Sequence[str], answer: str) -> float:
    """Share of the answer that is right.

    Answer claims that the reference entails / answer claims. An empty answer: 0. Skipped if the answer makes no claims.
    """
    if not answer.strip() and not answer_claims_in_reference:
        return Share(0.0, Items(ANSWER_CLAIM, ((1, 0.0, 1.0),)))
    return share(ANSWER_CLAIM, supports(answer_claims_in_reference), NO_ANSWER_CLAIMS, answer_claims_in_reference)


@metric("ragchecker.recall", **_OVERALL, misleads=f"{_JUDGED} Long answers easily cover the reference.")
def recall(reference_claims_in_answer: Sequence[str]) -> float:
    """Share of the reference that the answer covers.

    Reference claims that the answer entails / reference claims. Skipped if the reference makes no claims.
    """
    return _complete(reference_claims_in_answer)


@metric(
    "ragchecker.f1",
    **_OVERALL,
    misleads=f"{_JUDGED} {_ONE_REFERENCE} It hides which of the two is low.",
    headline=13,
    version=2,
)
def f1(answer_claims_in_reference: Sequence[str], reference_claims_in_answer: Sequence[str]) -> float:
    """Overall quality of the answer.

    Harmonic mean of precision and recall per row, 0 if either is 0 or the answer makes no claims. Skipped if the
    reference makes no claims.
    """
    complete = _complete(reference_claims_in_answer)
    # A refusal is not skipped: that would reward systems that refuse more.
    right = answer_claims_in_reference
    exact = share(ANSWER_CLAIM, supports(right), "", right) if right else Share(0.0, Items(ANSWER_CLAIM, ()))
    return harmonic_mean(exact, complete)


def _complete(in_answer: Sequence[str]) -> Share:
    return share(REFERENCE_CLAIM, supports(in_answer), NO_REFERENCE_CLAIMS, in_answer)


@metric(
    "ragchecker.claim_recall",
    **_RETRIEVER,
    misleads=f"{_JUDGED} More chunks always help, even if they add noise.",
    headline=6,
    good=Threshold(0.8, order=1),
    advice=FIND_MORE,
)
def claim_recall(reference_claims_in_contexts: Matrix) -> float:
    """Share of the reference that was retrieved: below 1 the chunks do not contain the full answer.

    Reference claims that at least one chunk entails / reference claims. Nothing retrieved: 0. Skipped if the reference
    makes no claims.
    """
    founded = best_supports(reference_claims_in_contexts)
    return share(REFERENCE_CLAIM, founded, NO_REFERENCE_CLAIMS, reference_claims_in_contexts)


@metric(
    "ragchecker.context_precision",
    **_RETRIEVER,
    misleads=f"{_JUDGED} A chunk with one claim counts as much as one with all; rank does not count.",
    headline=7,
    good=Threshold(0.3, order=5, decides=False, share_of_chunks=True),
    advice=FEWER,
)
def context_precision(reference_claims_in_contexts: Matrix) -> float:
    """Share of the retrieved chunks that are useful for the right answer.

    Chunks that entail at least one reference claim / chunks. Skipped if nothing was retrieved or the reference makes no
    claims.
    """
    if not reference_claims_in_contexts:
        raise Skip(NO_REFERENCE_CLAIMS)
    return share(CHUNK, chunk_relevance(reference_claims_in_contexts), NOTHING_RETRIEVED)


@metric(
    "ragchecker.context_utilization",
    **_GENERATOR,
    misleads=f"{_JUDGED} A generator that already knows the answer seems to use the chunks.",
    headline=16,
    good=Threshold(0.8, order=7),
    advice=USE,
)
def context_utilization(reference_claims_in_contexts: Matrix, reference_claims_in_answer: Sequence[str]) -> float:
    """Share of the relevant retrieved information that the answer uses.

    Reference claims entailed by a chunk and by the answer / reference claims entailed by a chunk. Skipped if no chunk
    entails one.
    """
    if not reference_claims_in_contexts:
        raise Skip(NO_REFERENCE_CLAIMS)
    if not may_be_supported(reference_claims_in_contexts):
        raise Skip("no chunk supports a claim of the reference")
    retrieved = best_supports(reference_claims_in_contexts)
    used = [there * said for there, said in zip(retrieved, supports(reference_claims_in_answer), strict=True)]
    words = words_of(reference_claims_in_answer)
    return weighed(REFERENCE_CLAIM, used, retrieved, words) if words else Share.of(REFERENCE_CLAIM, used, retrieved)


@metric(
    "ragchecker.noise_sensitivity_in_relevant",
    **_GENERATOR,
    better="lower",
    misleads=f"{_JUDGED} {_ONE_REFERENCE}",
    aliases=("ragchecker.relevant_noise_sensitivity",),
    good=Threshold(0.1, order=11),
    advice=REASON_FIRST,
)
def noise_sensitivity_in_relevant(
    answer_claims_in_reference: Sequence[str], answer_claims_in_contexts: Matrix, reference_claims_in_contexts: Matrix
) -> float:
    """Share of the answer that is wrong and comes from relevant chunks.

    Answer claims that the reference does not entail but a relevant chunk does / answer claims. Skipped if the answer
    makes no claims.
    """
    correct = supports(answer_claims_in_reference)
    wrong = misled(correct, answer_claims_in_contexts, reference_claims_in_contexts, by_relevant=True)
    return share(ANSWER_CLAIM, wrong, NO_ANSWER_CLAIMS, answer_claims_in_reference)


@metric(
    "ragchecker.noise_sensitivity_in_irrelevant",
    **_GENERATOR,
    better="lower",
    misleads=f"{_JUDGED} {_ONE_REFERENCE} It is always low if few chunks are irrelevant.",
    aliases=("ragchecker.irrelevant_noise_sensitivity",),
    good=Threshold(0.1, order=12),
    advice=REASON_FIRST,
)
def noise_sensitivity_in_irrelevant(
    answer_claims_in_reference: Sequence[str], answer_claims_in_contexts: Matrix, reference_claims_in_contexts: Matrix
) -> float:
    """Share of the answer that is wrong and comes from irrelevant chunks.

    Answer claims that neither the reference nor a relevant chunk entails, but an irrelevant chunk does / answer claims.
    Skipped if the answer makes no claims.
    """
    correct = supports(answer_claims_in_reference)
    wrong = misled(correct, answer_claims_in_contexts, reference_claims_in_contexts, by_relevant=False)
    return share(ANSWER_CLAIM, wrong, NO_ANSWER_CLAIMS, answer_claims_in_reference)


@metric(
    "ragchecker.hallucination",
    **_GENERATOR,
    **_GROUNDED,
    better="lower",
    misleads=f"{_JUDGED} {_ONE_REFERENCE}",
    headline=15,
    good=Threshold(0.1, order=10),
    advice=GROUND,
)
def hallucination(
    answer_claims_in_reference: Sequence[str],
    answer_claims_in_contexts: Matrix,
    answer_claims_in_history: Sequence[str] | None = None,
) -> float:
    """Share of the answer that is wrong and in no chunk: made up.

    Answer claims that neither the reference nor any chunk entails / answer claims. In a conversation, a claim that the
    earlier turns entail is not made up either. Skipped if the answer makes no claims.
    """
    founded = grounded(best_supports(answer_claims_in_contexts), answer_claims_in_history)
    wrong = _unfounded(answer_claims_in_reference, founded, correct=False)
    return share(ANSWER_CLAIM, wrong, NO_ANSWER_CLAIMS, answer_claims_in_reference)


@metric(
    "ragchecker.self_knowledge",
    **_GENERATOR,
    **_GROUNDED,
    better="none",
    misleads=f"{_JUDGED} Whether it is good depends on whether the generator should add knowledge.",
    good=Threshold(0.0, order=13),
)
def self_knowledge(
    answer_claims_in_reference: Sequence[str],
    answer_claims_in_contexts: Matrix,
    answer_claims_in_history: Sequence[str] | None = None,
) -> float:
    """Share of the answer that is right but in no chunk: the generator knew it without them.

    Answer claims that the reference entails and no chunk (and, in a conversation, no earlier turn) does / answer claims.
    Skipped if the answer makes no claims.
    """
    founded = grounded(best_supports(answer_claims_in_contexts), answer_claims_in_history)
    known = _unfounded(answer_claims_in_reference, founded, correct=True)
    return share(ANSWER_CLAIM, known, NO_ANSWER_CLAIMS, answer_claims_in_reference)


@metric(
    "ragchecker.faithfulness",
    **{**_GENERATOR, **_GROUNDED, "sets": ("ragchecker.generator", "reference_free")},
    misleads=f"{_JUDGED} A claim that needs two chunks counts as unsupported. Repeating a wrong chunk counts as good.",
    headline=14,
    good=Threshold(0.8, order=8),
    advice=GROUND,
)
def faithfulness(answer_claims_in_contexts: Matrix, answer_claims_in_history: Sequence[str] | None = None) -> float:
    """Share of the answer that the retrieved chunks support.

    Answer claims that at least one chunk (or, in a conversation, the earlier turns) entails / answer claims. Nothing
    retrieved: 0. Skipped if the answer makes no claims.
    """
    founded = grounded(best_supports(answer_claims_in_contexts), answer_claims_in_history)
    return share(ANSWER_CLAIM, founded, NO_ANSWER_CLAIMS, answer_claims_in_contexts)


def _unfounded(in_reference: Sequence[str], founded: Sequence[float], correct: bool) -> list[float]:
    """How far each answer claim is unfounded and correct (or, if `correct` is false, incorrect)."""
    pairs = zip(supports(in_reference), founded, strict=True)
    return [(1.0 - there) * (right if correct else 1.0 - right) for right, there in pairs]


@metric(
    "self_consistency",
    family="consistency",
    judges="answer",
    against="contexts",
    source="self-consistency (Wang et al. 2023), for verdicts",
    misleads="A judge can repeat an error. At temperature 0 it agrees with itself trivially.",
    # It needs several verdicts per claim.
    slow=True,
)
def self_consistency(verdict_agreement: Sequence[float]) -> float:
    """How often the judge repeats its verdict.

    Mean over the claims of the share of verdicts that agree. Skipped if there is one verdict per claim or no claims.
    """
    if not verdict_agreement:
        raise Skip("there are no claims to give verdicts on")
    return Share.of(ANSWER_CLAIM, verdict_agreement)
