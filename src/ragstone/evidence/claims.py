"""Claims of answer and reference, their verdicts, and the counts that claim metrics (RAGChecker, RAGAS) share.

A verdict is entailment, neutral or contradiction; the local judge adds unsure. A share counts entailment as 1 and all else
as 0. A verdict with probabilities counts with its expected value, so that an unsure one counts in part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypedDict, cast

from ragstone.data.types import Chunk, Claim, ScoredVerdict, Turn
from ragstone.errors import Skip
from ragstone.evidence.conversation import history_text
from ragstone.registry import evidence
from ragstone.text.cited_parts import without_marks
from ragstone.text.words import FoldedText
from ragstone.tools.protocols import NEUTRAL, Checker, Extractor, PickyChecker


class ReferenceContent(TypedDict):
    """The claims and the named entities of the reference."""

    reference_claims: list[Claim]
    reference_entities: list[str]


@evidence(prompts=("claims",))
async def answer_claims(question: str, answer: str, extractor: Extractor) -> list[Claim]:
    """The claims that the answer makes, each a sentence that can be checked by itself; citation marks are not read."""
    return await extractor.claims(question, without_marks(answer))


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

    answer_claims_in_contexts: list[list[ScoredVerdict]]
    answer_claims_in_all_contexts: list[ScoredVerdict]
    reference_claims_in_contexts: list[list[ScoredVerdict]]
    reference_claims_in_all_contexts: list[ScoredVerdict]
    answer_claims_in_history: list[ScoredVerdict]
    verdict_agreement: list[float]


@evidence(prompts=("verdicts",))
async def answer_claims_in_reference(
    question: str, answer_claims: list[Claim], references: list[str], checker: Checker
) -> list[ScoredVerdict]:
    """Whether the first reference entails each claim of the answer."""
    return _verdicts(await checker.against_text(question, _texts(answer_claims), references[0]))


@evidence(prompts=("verdicts",))
async def reference_claims_in_answer(
    question: str, reference_claims: list[Claim], answer: str, checker: Checker
) -> list[ScoredVerdict]:
    """Whether the answer entails each claim of the reference."""
    return _verdicts(await checker.against_text(question, _texts(reference_claims), without_marks(answer)))


@evidence(
    yields={
        "answer_claims_in_contexts": ("answer_claims",),
        "answer_claims_in_all_contexts": ("answer_claims",),
        "reference_claims_in_contexts": ("reference_claims",),
        "reference_claims_in_all_contexts": ("reference_claims",),
        "answer_claims_in_history": ("answer_claims", "history"),
        "verdict_agreement": ("answer_claims",),
    },
    prompts=("context_verdicts",),
)
async def claims_in_contexts(
    question: str,
    answer_claims: list[Claim] | None,
    reference_claims: list[Claim] | None,
    contexts: list[Chunk],
    history: list[Turn] | None,
    checker: Checker,
) -> ContextVerdicts:
    """Whether the retrieved chunks entail each claim, one by one and taken together, and whether the earlier turns do.

    All claims, chunks and turns go into one call. The turns, with the chunks retrieved for them, are one text. An answer in a
    language that the checker does not read is left out; the claims of the reference are still read.
    """
    unread = [_unread(checker, claims or ()) for claims in (answer_claims, reference_claims)]
    from_answer = [] if unread[0] else _texts(answer_claims or ())
    from_reference = [] if unread[1] else _texts(reference_claims or ())
    claims, chunks = [*from_answer, *from_reference], [chunk.text for chunk in contexts]
    past = history_text(history or (), contexts) if from_answer else ""
    if past:
        verdicts, in_past = await checker.against_conversation(question, claims, chunks, past)
    else:
        verdicts, in_past = await checker.against_chunks(question, claims, chunks), [NEUTRAL] * len(claims)
    first = len(from_answer)
    each, together = [_verdicts(row) for row in verdicts.each], _verdicts(verdicts.together)
    found: dict[str, Any] = {
        "answer_claims_in_contexts": each[:first],
        "answer_claims_in_all_contexts": together[:first],
        "reference_claims_in_contexts": each[first:],
        "reference_claims_in_all_contexts": together[first:],
        "answer_claims_in_history": _verdicts(in_past[:first]),
        "verdict_agreement": _ONCE if verdicts.agreement is None else verdicts.agreement[:first],
    }
    for whose, reason in zip(("answer", "reference"), unread, strict=True):
        found |= {name: reason for name in found if reason and name.startswith(whose)}
    return cast(ContextVerdicts, found)


def _unread(checker: Checker, claims: Collection[Claim]) -> Skip | None:
    return checker.cannot_read(_texts(claims)) if claims and isinstance(checker, PickyChecker) else None


def _verdicts(words: Iterable[str]) -> list[ScoredVerdict]:
    return [ScoredVerdict.from_text(word) for word in words]


def _texts(claims: Collection[Claim]) -> list[str]:
    return [claim.text for claim in claims]


# Verdicts of claims (rows) by chunks (columns); with no chunk every row is empty.
Matrix = Sequence[Sequence[str]]
SUPPORT, UNSURE = "entailment", "unsure"
NO_ANSWER_CLAIMS = "the answer makes no claims"
NO_REFERENCE_CLAIMS = "the reference makes no claims"
NOTHING_RETRIEVED = "nothing was retrieved"


def support_of(verdict: str) -> float:
    """The value that a share counts for a verdict: its expected value from the local judge, otherwise 1 for entailment and else 0."""
    counted = verdict.counted if isinstance(verdict, ScoredVerdict) else ScoredVerdict.from_text(verdict).counted
    return float(verdict == SUPPORT) if counted is None else counted


def supports(verdicts: Iterable[str]) -> list[float]:
    """How far the text supports each claim."""
    return [support_of(verdict) for verdict in verdicts]


def best_supports(matrix: Matrix) -> list[float]:
    """How far the best chunk supports each claim; 0 without chunks."""
    return [max(supports(row), default=0.0) for row in matrix]


def grounded(founded: Sequence[float], in_history: Sequence[str] | None) -> list[float]:
    """How far the chunks or the earlier turns support each claim; `founded` is how far the chunks do."""
    if in_history is None:
        return list(founded)
    return [max(pair) for pair in zip(founded, supports(in_history), strict=True)]


def chunk_relevance(reference_matrix: Matrix) -> list[float]:
    """How far each chunk supports the claim of the reference that it supports best."""
    return [max(supports(column)) for column in zip(*reference_matrix, strict=True)]


def may_be_supported(matrix: Matrix) -> bool:
    """Whether a chunk supports any of the claims, surely or perhaps."""
    return any(verdict in (SUPPORT, UNSURE) for row in matrix for verdict in row)


def share(counted: Sequence[float], if_empty: str) -> float:
    """Sum / number; skipped for the reason given when there are none."""
    if not counted:
        raise Skip(if_empty)
    return sum(counted) / len(counted)


def misled(correct: Sequence[float], answer_matrix: Matrix, reference_matrix: Matrix, by_relevant: bool) -> list[float]:
    """How far each answer claim is wrong and comes from a relevant chunk, or else from irrelevant ones only."""
    relevance = chunk_relevance(reference_matrix)
    misleading = []
    for right, row in zip(correct, answer_matrix, strict=True):
        founded = supports(row)
        # Chunks are relevant to nothing if the reference makes no claims.
        relevant = max((value * grade for value, grade in zip(founded, relevance, strict=False)), default=0.0)
        part = relevant if by_relevant else max(founded, default=0.0) - relevant
        misleading.append((1.0 - right) * part)
    return misleading
