"""CRAG (Yang et al. 2024): +1 for a correct answer, 0 for a missing one, −1 for an incorrect one.

An answer that equals a reference is correct. An empty answer and one that declines are missing, unless the reference
declines too. Of the others, the judge of `answer_match` decides. The metrics use its stored verdicts and make no calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragstone.data.verdict import CONTRADICTION
from ragstone.registry import evidence, metric
from ragstone.text.refusal_phrases import phrases_signature
from ragstone.text.refusals import find_refusal
from ragstone.text.squad import tokens

CORRECT, MISSING, INCORRECT = "correct", "missing", "incorrect"
# The probability from which on an answer matches a reference.
_MATCHES = 0.5
_COMMON: dict[str, Any] = {
    "family": "crag",
    "judges": "answer",
    "against": "references",
    "source": "CRAG (Yang et al. 2024)",
    # It costs nothing if `answer_match` is computed, but has the same information.
    "slow": True,
}
_MISLEADS = (
    "It depends on the judge of `answer_match`. A right answer that is not among the references counts as incorrect. "
    "Refusals are found by their phrases."
)
_POINTS = {CORRECT: 1.0, MISSING: 0.0, INCORRECT: -1.0}


@evidence(signature=phrases_signature)
def crag_outcome(answer: str, references: list[str], reference_matches: list[float]) -> str:
    """Whether the answer is correct, missing or incorrect, by CRAG's rules."""
    said = tokens(answer)
    if said and said in map(tokens, references):
        return CORRECT
    if not answer.strip():
        return MISSING
    if find_refusal(answer):
        return CORRECT if any(map(find_refusal, references)) else MISSING
    return CORRECT if max(reference_matches) >= _MATCHES else INCORRECT


@metric("crag.score", **_COMMON, bounds=(-1.0, 1.0), misleads=_MISLEADS, aliases=("crag.truthfulness",))
def score(crag_outcome: str) -> float:
    """Truthfulness: a wrong answer costs as much as a right one earns, and declining costs nothing.

    1 if the answer is correct, 0 if it is missing, −1 if it is incorrect. Correct: it equals a reference (SQuAD
    normalisation) or matches one by the judge. Missing: it is empty or declines, and no reference declines. The mean is the
    share of correct minus the share of incorrect answers.
    """
    return _POINTS[crag_outcome]


@metric(
    "crag.graded_score",
    **_COMMON,
    bounds=(-1.0, 1.0),
    misleads=f"{_MISLEADS} In CRAG people decide what is acceptable; here a contradicted claim does, which is stricter.",
)
def graded_score(crag_outcome: str, answer_claims_in_reference: Sequence[str]) -> float:
    """Truthfulness with half a point for an acceptable answer: one that is correct but also contains an error.

    As `crag.score`, but a correct answer counts 0.5 if the first reference contradicts one of its claims (perfect 1,
    acceptable 0.5, missing 0, incorrect −1).
    """
    if crag_outcome == CORRECT and CONTRADICTION in answer_claims_in_reference:
        return 0.5
    return _POINTS[crag_outcome]


@metric("crag.accuracy", **_COMMON, misleads=f"{_MISLEADS} It rewards guessing.")
def accuracy(crag_outcome: str) -> float:
    """Share of correct answers.

    By the rules of `crag.score`.
    """
    return float(crag_outcome == CORRECT)


@metric("crag.missing", **_COMMON, better="lower", misleads=_MISLEADS)
def missing(crag_outcome: str) -> float:
    """Share of missing answers.

    Empty or declining, by the rules of `crag.score`.
    """
    return float(crag_outcome == MISSING)


@metric(
    "crag.hallucination_rate",
    **_COMMON,
    better="lower",
    misleads=f"{_MISLEADS} A system that always declines has none.",
    aliases=("crag.incorrect",),
)
def hallucination(crag_outcome: str) -> float:
    """Share of incorrect answers, which CRAG calls hallucinated.

    Neither correct nor missing by the rules of `crag.score`.
    """
    return float(crag_outcome == INCORRECT)
