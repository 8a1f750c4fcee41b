"""The whole answer compared with whole references by a judge, without splitting either into claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from ragstone.registry import evidence, metric
from ragstone.text.cited_parts import without_marks
from ragstone.tools.protocols import Estimator, Grader

_COMMON: dict[str, Any] = {"family": "grades", "judges": "answer", "against": "references"}
_ESTIMATE: dict[str, Any] = {
    **_COMMON,
    "source": "the local judge",
    "misleads": "It is an estimate by a small model, not a count of claims: use it to compare systems, not single answers.",
}


class SupportShares(TypedDict):
    """One share per reference."""

    answer_supported: list[float]
    references_supported: list[float]


@evidence(prompts=("answer_match",))
async def reference_matches(question: str, answer: str, references: list[str], grader: Grader) -> list[float]:
    """For each reference, the probability that the answer means the same, given the question."""
    return await grader.matches(question, without_marks(answer), references)


@evidence(yields=("answer_supported", "references_supported"))
async def support_shares(question: str, answer: str, references: list[str], estimator: Estimator) -> SupportShares:
    """For each reference, the share of the answer that it supports and the share of it that the answer supports."""
    shares = await estimator.shares(question, without_marks(answer), references)
    return {"answer_supported": shares.of_answer, "references_supported": shares.of_references}


@metric(
    "answer_match",
    **_COMMON,
    source="answer equivalence (Bulian et al. 2022), by the local judge or a language model",
    misleads="A right answer that is not among the references counts as wrong. A small judge fails on arithmetic and world knowledge.",
    aliases=("answer_equivalence", "rgb.accuracy.judged"),
    headline=8,
)
def answer_match(reference_matches: Sequence[float]) -> float:
    """Probability that the answer means the same as a reference, given the question.

    From the local judge; a language model returns 1 or 0. Best over references.
    """
    return max(reference_matches)


@metric("support_precision", **_ESTIMATE)
def support_precision(answer_supported: Sequence[float]) -> float:
    """Share of the answer that a reference supports: claim precision without a language model.

    Estimated by the local judge; best over references. With claims, use `ragchecker.precision`.
    """
    return max(answer_supported)


@metric("support_recall", **_ESTIMATE)
def support_recall(references_supported: Sequence[float]) -> float:
    """Share of a reference that the answer supports: claim recall without a language model.

    Estimated by the local judge; best over references.
    """
    return max(references_supported)


@metric("support_f1", **_ESTIMATE)
def support_f1(answer_supported: Sequence[float], references_supported: Sequence[float]) -> float:
    """Mutual support of answer and reference.

    Harmonic mean of `support_precision` and `support_recall` per reference, 0 if both are 0; best over references.
    """
    pairs = zip(answer_supported, references_supported, strict=True)
    return max(2 * one * other / (one + other) if one + other else 0.0 for one, other in pairs)
