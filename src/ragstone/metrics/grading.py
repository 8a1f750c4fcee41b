"""The answer against the references as a whole, by a judge: no claims are taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.registry import metric

_PLACE: dict[str, Any] = {"family": "grades", "judges": "answer", "against": "references"}
_ESTIMATE = "One number of a small model, averaged with shared words, not a count of claims: compare systems with it, not answers."


@metric(
    "answer_match",
    **_PLACE,
    source="answer equivalence (Bulian et al. 2022), by the local judge or a language model",
    misleads="A right answer that the references do not have counts as wrong. A small judge misses what takes arithmetic or knowledge.",
    aliases=("answer_equivalence", "rgb.accuracy.judged"),
)
def answer_match(reference_matches: Sequence[float]) -> float:
    """How likely the answer says what a reference says, given the question, whatever the words.

    The probability by the local judge, or 1 or 0 by a language model; the best over references.
    """
    return max(reference_matches)


@metric("support_precision", **_PLACE, source="the local judge", misleads=_ESTIMATE)
def support_precision(answer_supported: Sequence[float]) -> float:
    """How much of the answer a reference supports, estimated at once: the stand-in for claim precision without a language model.

    The share by the local judge; the best over references. The local judge brings it; with claims there is
    `ragchecker.precision`.
    """
    return max(answer_supported)


@metric("support_recall", **_PLACE, source="the local judge", misleads=_ESTIMATE)
def support_recall(references_supported: Sequence[float]) -> float:
    """How much of a reference the answer supports, estimated at once: the stand-in for claim recall without a language model.

    The share by the local judge; the best over references.
    """
    return max(references_supported)


@metric("support_f1", **_PLACE, source="the local judge", misleads=_ESTIMATE)
def support_f1(answer_supported: Sequence[float], references_supported: Sequence[float]) -> float:
    """How far answer and reference support each other, estimated at once.

    Harmonic mean of both shares, 0 where both are; the best over references.
    """
    pairs = zip(answer_supported, references_supported, strict=True)
    return max(2 * one * other / (one + other) if one + other else 0.0 for one, other in pairs)
