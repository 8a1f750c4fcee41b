"""Which text entails or contradicts which claim. Verdicts are words: entailment, neutral, contradiction."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypedDict

from ragstone.data.types import Chunk, Claim
from ragstone.errors import Skip
from ragstone.evidence.tools import Checker
from ragstone.registry import evidence

_ONCE = Skip("each verdict was asked for once; --repeats 3 asks three times")


class ContextVerdicts(TypedDict):
    """Claims against the retrieved chunks: a list a claim with a verdict a chunk, and a verdict for all chunks together."""

    answer_claims_in_contexts: list[list[str]]
    answer_claims_in_all_contexts: list[str]
    reference_claims_in_contexts: list[list[str]]
    reference_claims_in_all_contexts: list[str]
    verdict_agreement: list[float]


@evidence(prompts=("verdicts",))
async def answer_claims_in_reference(
    question: str, answer_claims: list[Claim], references: list[str], checker: Checker
) -> list[str]:
    """Whether the first reference entails each claim of the answer."""
    return await checker.against_text(question, _texts(answer_claims), references[0])


@evidence(prompts=("verdicts",))
async def reference_claims_in_answer(
    question: str, reference_claims: list[Claim], answer: str, checker: Checker
) -> list[str]:
    """Whether the answer entails each claim of the reference."""
    return await checker.against_text(question, _texts(reference_claims), answer)


@evidence(
    yields={
        "answer_claims_in_contexts": ("answer_claims",),
        "answer_claims_in_all_contexts": ("answer_claims",),
        "reference_claims_in_contexts": ("reference_claims",),
        "reference_claims_in_all_contexts": ("reference_claims",),
        "verdict_agreement": ("answer_claims",),
    },
    prompts=("context_verdicts",),
)
async def claims_in_contexts(
    question: str,
    answer_claims: list[Claim] | None,
    reference_claims: list[Claim] | None,
    contexts: list[Chunk],
    checker: Checker,
) -> ContextVerdicts:
    """Whether the retrieved chunks entail each claim, one by one and taken together: all claims in one call."""
    from_answer = _texts(answer_claims or ())
    from_reference = _texts(reference_claims or ())
    found = await checker.against_chunks(question, [*from_answer, *from_reference], [chunk.text for chunk in contexts])
    first = len(from_answer)
    return {
        "answer_claims_in_contexts": found.each[:first],
        "answer_claims_in_all_contexts": found.together[:first],
        "reference_claims_in_contexts": found.each[first:],
        "reference_claims_in_all_contexts": found.together[first:],
        "verdict_agreement": _ONCE if found.agreement is None else found.agreement[:first],  # type: ignore[typeddict-item]
    }


def _texts(claims: Collection[Claim]) -> list[str]:
    return [claim.text for claim in claims]
