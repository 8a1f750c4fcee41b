"""Claims of answer and reference, their verdicts, and the counts that claim metrics (RAGChecker, RAGAS) share.

A verdict is entailment, neutral or contradiction. Only entailment counts as support.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TypedDict

from ragstone.data.types import Chunk, Claim
from ragstone.errors import Skip
from ragstone.registry import evidence
from ragstone.text.words import FoldedText
from ragstone.tools.protocols import Checker, Extractor


class ReferenceContent(TypedDict):
    """The claims and the named entities of the reference."""

    reference_claims: list[Claim]
    reference_entities: list[str]


@evidence(prompts=("claims",))
async def answer_claims(question: str, answer: str, extractor: Extractor) -> list[Claim]:
    """The claims that the answer makes, each a sentence that can be checked by itself."""
    return await extractor.claims(question, answer)


@evidence(yields=("reference_claims", "reference_entities"), prompts=("claims", "claims_and_entities"))
async def reference_content(
    question: str, references: list[str], extractor: Extractor, wanted: frozenset[str]
) -> ReferenceContent:
    """The claims that the first reference makes, and the names in it."""
    claims, entities = await extractor.content(question, references[0], wanted)
    return {"reference_claims": claims, "reference_entities": entities}


@evidence
def reference_entities_in_contexts(reference_entities: list[str], contexts: list[Chunk]) -> list[bool]:
    """Which of the reference's names occur in a retrieved chunk; case, punctuation and white space do not matter."""
    chunks = [FoldedText(chunk.text) for chunk in contexts]
    return [any(chunk.find(name) for chunk in chunks) for name in map(FoldedText, reference_entities)]


_ONCE = Skip("each verdict was asked for once; --repeats 3 asks three times")


class ContextVerdicts(TypedDict):
    """Claims against the retrieved chunks: per claim one verdict per chunk, and one verdict for all chunks together."""

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
    verdicts = await checker.against_chunks(
        question, [*from_answer, *from_reference], [chunk.text for chunk in contexts]
    )
    first = len(from_answer)
    return {
        "answer_claims_in_contexts": verdicts.each[:first],
        "answer_claims_in_all_contexts": verdicts.together[:first],
        "reference_claims_in_contexts": verdicts.each[first:],
        "reference_claims_in_all_contexts": verdicts.together[first:],
        "verdict_agreement": _ONCE if verdicts.agreement is None else verdicts.agreement[:first],  # type: ignore[typeddict-item]
    }


def _texts(claims: Collection[Claim]) -> list[str]:
    return [claim.text for claim in claims]


# Verdicts of claims (rows) by chunks (columns); with no chunk every row is empty.
Matrix = Sequence[Sequence[str]]
SUPPORT = "entailment"
NO_ANSWER_CLAIMS = "the answer makes no claims"
NO_REFERENCE_CLAIMS = "the reference makes no claims"
NOTHING_RETRIEVED = "nothing was retrieved"


def supported(verdicts: Iterable[str]) -> list[bool]:
    """Whether the text entails each claim."""
    return [verdict == SUPPORT for verdict in verdicts]


def supported_somewhere(matrix: Matrix) -> list[bool]:
    """Whether each claim is entailed by at least one chunk."""
    return [SUPPORT in row for row in matrix]


def relevant_chunks(reference_matrix: Matrix) -> set[int]:
    """The positions of the chunks that entail at least one claim of the reference."""
    return {chunk for row in reference_matrix for chunk, verdict in enumerate(row) if verdict == SUPPORT}


def share(counted: Sequence[bool], if_empty: str) -> float:
    """True ones / all; skipped for the reason given when there are none."""
    if not counted:
        raise Skip(if_empty)
    return sum(counted) / len(counted)


def misled(correct: Sequence[bool], answer_matrix: Matrix, reference_matrix: Matrix, by_relevant: bool) -> list[bool]:
    """Whether each answer claim is wrong and comes from a relevant chunk, or else from irrelevant ones only."""
    relevant = relevant_chunks(reference_matrix)
    flags = []
    for right, row in zip(correct, answer_matrix, strict=True):
        origins = [chunk in relevant for chunk, verdict in enumerate(row) if verdict == SUPPORT]
        flags.append(not right and bool(origins) and any(origins) == by_relevant)
    return flags
