"""Claims of answer and reference, their verdicts, and the counts that claim metrics (RAGChecker, RAGAS) share.

A verdict is entailment, neutral or contradiction; the local judge adds unsure. A share counts entailment as 1 and all else
as 0. A verdict with probabilities counts with its expected value, so that an unsure one counts in part. The claims of the
local extractor are parts of sentences, long and short: they count by their own words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypedDict, cast

from ragstone.data.share import Share
from ragstone.data.types import Chunk, Claim, Turn
from ragstone.data.verdict import ENTAILMENT, NEUTRAL, UNSURE, Verdict
from ragstone.errors import Skip
from ragstone.evidence_functions.conversation import history_text
from ragstone.registry import evidence
from ragstone.storage.images import texts_with_images
from ragstone.text.cited_parts import without_marks
from ragstone.text.words import FoldedText
from ragstone.tools.protocols import Checker, Earlier, Extractor, InContext, Joint, PickyChecker, Whole, check_text


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

    answer_claims_in_contexts: list[list[Verdict]]
    answer_claims_in_all_contexts: list[Verdict]
    reference_claims_in_contexts: list[list[Verdict]]
    reference_claims_in_all_contexts: list[Verdict]
    answer_claims_in_history: list[Verdict]
    verdict_agreement: list[float]


@evidence(prompts=("verdicts",))
async def answer_claims_in_reference(
    question: str, answer_claims: list[Claim], references: list[str], checker: Checker
) -> list[Verdict]:
    """Whether the first reference entails each claim of the answer."""
    verdicts = await check_text(checker, question, _texts(answer_claims), Whole(references[0]))
    return with_words(answer_claims, verdicts)


@evidence(prompts=("verdicts",))
async def reference_claims_in_answer(
    question: str, reference_claims: list[Claim], answer: str, checker: Checker
) -> list[Verdict]:
    """Whether the answer entails each claim of the reference."""
    verdicts = await check_text(checker, question, _texts(reference_claims), Whole(without_marks(answer)))
    return with_words(reference_claims, verdicts)


@evidence(
    yields={
        "answer_claims_in_contexts": ("answer_claims", "answer"),
        "answer_claims_in_all_contexts": ("answer_claims", "answer"),
        "reference_claims_in_contexts": ("reference_claims", "references"),
        "reference_claims_in_all_contexts": ("reference_claims", "references"),
        "answer_claims_in_history": ("answer_claims", "answer", "history"),
        "verdict_agreement": ("answer_claims", "answer"),
    },
    prompts=("context_verdicts",),
    images=True,
)
async def claims_in_contexts(
    question: str,
    answer_claims: list[Claim] | None,
    reference_claims: list[Claim] | None,
    answer: str | None,
    references: list[str] | None,
    contexts: list[Chunk],
    history: list[Turn] | None,
    checker: Checker,
) -> ContextVerdicts:
    """Whether the retrieved chunks entail each claim, one by one and taken together, and whether the earlier turns do.

    All claims, chunks and turns go into one call. The turns, with the chunks retrieved for them, are one text. An answer in a
    language that the checker does not read is left out; the claims of the reference are still read.
    """
    unread = [
        checker.cannot_read(_texts(claims)) if claims and isinstance(checker, PickyChecker) else None
        for claims in (answer_claims, reference_claims)
    ]
    from_answer = [] if unread[0] else InContext.of(_texts(answer_claims or ()), question, without_marks(answer or ""))
    from_reference = (
        [] if unread[1] else InContext.of(_texts(reference_claims or ()), question, (references or [""])[0])
    )
    claims, chunks = [*from_answer, *from_reference], texts_with_images(contexts)
    past = history_text(history or (), contexts) if from_answer else ""
    texts = [*chunks, Joint.of(chunks), *([Earlier(past)] if past else ())]
    checked = await checker.check(question, claims, texts)
    owners = [*(() if unread[0] else answer_claims or ()), *(() if unread[1] else reference_claims or ())]
    rows = [with_words([claim] * len(row), row) for claim, row in zip(owners, checked, strict=True)]
    first, at = len(from_answer), len(chunks)
    each, together = [row[:at] for row in rows], [row[at] for row in rows]
    agreement = [one.agreement for one in together]
    found: dict[str, Any] = {
        "answer_claims_in_contexts": each[:first],
        "answer_claims_in_all_contexts": together[:first],
        "reference_claims_in_contexts": each[first:],
        "reference_claims_in_all_contexts": together[first:],
        "answer_claims_in_history": [row[-1] if past else Verdict(NEUTRAL) for row in rows[:first]],
        "verdict_agreement": agreement[:first] if agreement and None not in agreement else _ONCE,
    }
    for whose, reason in zip(("answer", "reference"), unread, strict=True):
        found |= {name: reason for name in found if reason and name.startswith(whose)}
    return cast(ContextVerdicts, found)


def _texts(claims: Collection[Claim]) -> list[str]:
    return [claim.text for claim in claims]


def with_words(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Each verdict with the number of words of its claim."""
    return [
        verdict if claim.words is None else Verdict.from_text(verdict).standing_for(claim.words)
        for claim, verdict in zip(claims, verdicts, strict=True)
    ]


# Verdicts of claims (rows) by chunks (columns); with no chunk every row is empty. A text is a sequence of texts.
Matrix = Sequence[Sequence[str]]
# What claim metrics count.
ANSWER_CLAIM, REFERENCE_CLAIM, CHUNK = "answer claim", "reference claim", "chunk"
NO_ANSWER_CLAIMS = "the answer makes no claims"
NO_REFERENCE_CLAIMS = "the reference makes no claims"
NOTHING_RETRIEVED = "nothing was retrieved"


def support_of(verdict: str) -> float:
    """The value that a share counts for a verdict: its expected value from the local judge, otherwise 1 for entailment and else 0."""
    counted = Verdict.from_text(verdict).counted
    return float(verdict == ENTAILMENT) if counted is None else counted


def supports(verdicts: Iterable[str]) -> list[float]:
    """How far the text supports each claim."""
    return [support_of(verdict) for verdict in verdicts]


def best_supports(matrix: Matrix) -> list[float]:
    """How far the best chunk supports each claim; 0 without chunks."""
    return [max(supports(row), default=0.0) for row in matrix]


def grounded(founded: Sequence[float], in_history: Sequence[str] | None) -> list[float]:
    """The support of each claim by its best chunk (`founded`) or by the earlier turns, whichever is higher."""
    if in_history is None:
        return list(founded)
    return [max(pair) for pair in zip(founded, supports(in_history), strict=True)]


def chunk_relevance(reference_matrix: Matrix) -> list[float]:
    """How far each chunk supports the claim of the reference that it supports best."""
    return [max(supports(column)) for column in zip(*reference_matrix, strict=True)]


def may_be_supported(matrix: Matrix) -> bool:
    """Whether a chunk supports any of the claims, surely or perhaps."""
    return any(verdict in (ENTAILMENT, UNSURE) for row in matrix for verdict in row)


def share(kind: str, counted: Sequence[float], if_empty: str, by: Matrix = ()) -> Share:
    """Sum / number of the items of a kind; skipped for the reason given when there are none.

    With `by`, the verdicts on claims, each claim counts by its words, if their number is known for all of them.
    """
    if not counted:
        raise Skip(if_empty)
    words = words_of(by)
    return weighed(kind, counted, [1.0] * len(counted), words) if words else Share.of(kind, counted)


def weighed(kind: str, above: Sequence[float], below: Sequence[float], words: Sequence[float]) -> Share:
    """A share of claims that count by their words."""
    parts = [[value * count for value, count in zip(values, words, strict=True)] for values in (above, below)]
    return Share.of(kind, *parts, of=f"words in {kind}s")


def words_of(verdicts: Matrix) -> list[float]:
    """The words of each claim, from its verdict or the first verdict of its row; empty if one is not known."""
    firsts = [verdict if isinstance(verdict, str) else next(iter(verdict), "") for verdict in verdicts]
    words = [float(Verdict.from_text(verdict).words or 0) for verdict in firsts]
    return words if all(words) else []


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
