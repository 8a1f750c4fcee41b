"""Answers held against references as a whole: whether they say the same, and how much of one the other supports."""

from __future__ import annotations

from typing import TypedDict

from ragstone.evidence.tools import Estimator, Grader
from ragstone.registry import evidence


class SupportShares(TypedDict):
    """A share for each reference."""

    answer_supported: list[float]
    references_supported: list[float]


@evidence(prompts=("answer_match",))
async def reference_matches(question: str, answer: str, references: list[str], grader: Grader) -> list[float]:
    """For each reference the probability that the answer says the same in reply to the question."""
    return await grader.matches(question, answer, references)


@evidence(yields=("answer_supported", "references_supported"))
async def support_shares(question: str, answer: str, references: list[str], estimator: Estimator) -> SupportShares:
    """Which share of the answer each reference supports, and which share of each reference the answer supports."""
    found = await estimator.shares(question, answer, references)
    return {"answer_supported": found.of_answer, "references_supported": found.of_references}
