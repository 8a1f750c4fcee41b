"""RAGAS (Es et al. 2024, and the library of that name): statements, generated questions, needed sentences, useful chunks.

Statements are RAGChecker's claims, so they are extracted once. Verdicts are on all chunks taken together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from ragstone.data.share import Items, Share
from ragstone.data.types import Chunk
from ragstone.errors import Skip
from ragstone.evidence_functions.claims import (
    ANSWER_CLAIM,
    CHUNK,
    NO_ANSWER_CLAIMS,
    NO_REFERENCE_CLAIMS,
    NOTHING_RETRIEVED,
    REFERENCE_CLAIM,
    Matrix,
    grounded,
    misled,
    share,
    supports,
)
from ragstone.metrics.ragchecker import GROUND
from ragstone.metrics.retrieval import FIND_MORE
from ragstone.metrics.semantic import as_cosine
from ragstone.registry import Threshold, evidence, metric
from ragstone.storage.images import texts_with_images
from ragstone.text.sentences import sentences
from ragstone.tools.protocols import Grader, Judge

_JUDGED = "It depends on the judge."
_PAPER: dict[str, Any] = {"source": "RAGAS (Es et al. 2024)"}
_LIBRARY: dict[str, Any] = {"source": "the RAGAS library"}
_QUESTIONS = 3


class Questions(TypedDict):
    """The questions that a judge derives from an answer without seeing its question."""

    generated_questions: list[str]
    noncommittal: bool


@evidence(yields=("generated_questions", "noncommittal"), prompts=("questions",))
async def questions_answered(answer: str, judge: Judge) -> Questions:
    """Questions that the answer would answer, and whether it is evasive, from one call."""
    if not answer.strip():
        raise Skip("the answer is empty")
    guess = await judge.guess_questions(answer, _QUESTIONS)
    return {"generated_questions": guess.questions, "noncommittal": guess.noncommittal}


@evidence(transient=True)
def context_sentences(contexts: list[Chunk]) -> list[list[str]]:
    """The sentences of each retrieved chunk."""
    return [[chunk.text[start:end] for start, end in sentences(chunk.text)] for chunk in contexts]


@evidence(prompts=("needed_sentences",))
async def needed_sentences(question: str, context_sentences: list[list[str]], judge: Judge) -> list[int]:
    """The sentences needed to answer the question, numbered from 0 over all chunks."""
    lines = [line for chunk in context_sentences for line in chunk]
    return await judge.needed_sentences(question, lines) if lines else []


@evidence(prompts=("usefulness",), either=("references", "answer"), images=True)
async def chunk_usefulness(
    question: str, contexts: list[Chunk], references: list[str] | None, answer: str | None, grader: Grader
) -> list[bool]:
    """Whether each retrieved chunk helps to arrive at the reference, or at the answer if there is no reference."""
    target = references[0] if references else str(answer)
    return await grader.useful_chunks(question, target, texts_with_images(contexts)) if contexts else []


@metric(
    "ragas.faithfulness",
    **_PAPER,
    judges="answer",
    against="contexts",
    misleads=f"{_JUDGED} Repeating a wrong chunk faithfully counts as good.",
    aliases=("triad.groundedness", "groundedness"),
    sets=("reference_free", "triad"),
    good=Threshold(0.8, order=9, unless=("ragchecker.faithfulness",)),
    advice=GROUND,
    optional=("answer_claims_in_history",),
)
def faithfulness(
    answer_claims_in_all_contexts: Sequence[str], answer_claims_in_history: Sequence[str] | None = None
) -> float:
    """Share of the answer that follows from the retrieved chunks taken together.

    Statements of the answer that the contexts (or, in a conversation, the earlier turns) entail / statements. Skipped if
    the answer makes no claims.
    """
    founded = grounded(supports(answer_claims_in_all_contexts), answer_claims_in_history)
    return share(ANSWER_CLAIM, founded, NO_ANSWER_CLAIMS, answer_claims_in_all_contexts)


@metric(
    "ragas.answer_relevancy",
    **_PAPER,
    bounds=(-1.0, 1.0),
    judges="answer",
    against="question",
    misleads="A wrong answer to the right question is fully relevant. Values of different embedding models cannot be compared.",
    aliases=("ragas.answer_relevance", "ragas.response_relevancy", "triad.answer_relevance"),
    sets=("reference_free", "triad"),
    headline=18,
)
def answer_relevancy(question_similarities: Sequence[float], noncommittal: bool) -> float:
    """How well the answer addresses the question that was asked.

    Mean cosine of the question and the questions that a judge derives from the answer. Noncommittal answers: 0. Skipped
    if no question can be derived.
    """
    if noncommittal:
        return 0.0
    if not question_similarities:
        raise Skip("no question could be derived from the answer")
    return as_cosine(sum(question_similarities) / len(question_similarities))


@metric(
    "ragas.context_relevance",
    **_PAPER,
    judges="contexts",
    against="question",
    misleads=f"{_JUDGED} Large chunks score low even if they contain the answer.",
    aliases=("ragas.context_precision_sentences", "ragas.context_relevancy", "triad.context_relevance"),
    sets=("reference_free", "triad"),
)
def context_relevance(needed_sentences: Sequence[int], context_sentences: Sequence[Sequence[str]]) -> float:
    """Share of the retrieved text that is needed to answer the question.

    Needed sentences / sentences in all chunks. 0 if none is needed or they do not suffice. Skipped if the chunks have no
    sentences.
    """
    total, needed = sum(map(len, context_sentences)), set(needed_sentences)
    if not total:
        raise Skip("the retrieved chunks have no sentences" if context_sentences else NOTHING_RETRIEVED)
    texts = [text for chunk in context_sentences for text in chunk]
    items = Items.counted("sentence", [at in needed for at in range(total)], texts=texts)
    return Share(len(needed) / total, items)


@metric(
    "ragas.context_precision",
    **_LIBRARY,
    judges="ranking",
    against="references",
    misleads=f"{_JUDGED} One useful chunk at the top gives 1, even if others were missed.",
    aliases=("ragas.llm_context_precision_with_reference",),
)
def context_precision(chunk_usefulness: Sequence[bool]) -> float:
    """How early the useful chunks come.

    Mean of the precision at the rank of each useful chunk: useful for the reference, or for the answer without a
    reference. No useful chunk: 0. Skipped if nothing was retrieved.
    """
    if not chunk_usefulness:
        raise Skip(NOTHING_RETRIEVED)
    ranks = [rank for rank, useful in enumerate(chunk_usefulness, start=1) if useful]
    precisions = {rank: hits / rank for hits, rank in enumerate(ranks, start=1)}
    added = [precisions.get(rank, 0.0) for rank in range(1, len(chunk_usefulness) + 1)]
    items = Items.counted(CHUNK, added, whole=float(len(ranks)), of="useful chunks")
    return Share(sum(precisions.values()) / len(ranks) if ranks else 0.0, items)


@metric(
    "ragas.context_recall",
    **_LIBRARY,
    judges="contexts",
    against="references",
    misleads=f"{_JUDGED} More chunks always help, even if they add noise.",
    aliases=("ragas.llm_context_recall",),
    good=Threshold(0.8, order=2, unless=("ragchecker.claim_recall",)),
    advice=FIND_MORE,
)
def context_recall(reference_claims_in_all_contexts: Sequence[str]) -> float:
    """Share of the reference that follows from the retrieved chunks taken together.

    Statements of the reference that the contexts entail / statements. Skipped if the reference makes no claims.
    """
    founded = supports(reference_claims_in_all_contexts)
    return share(REFERENCE_CLAIM, founded, NO_REFERENCE_CLAIMS, reference_claims_in_all_contexts)


@metric(
    "ragas.context_entity_recall",
    **_LIBRARY,
    judges="contexts",
    against="references",
    misleads="A name does not imply the facts about it. Other spellings are not found.",
    aliases=("ragas.context_entities_recall",),
)
def context_entity_recall(reference_entities_in_contexts: Sequence[bool]) -> float:
    """Share of the reference's names, places, dates and numbers that the retrieved chunks contain.

    Entities of the reference found in the contexts / entities. Skipped if the reference names none.
    """
    return share("entity", reference_entities_in_contexts, "the reference names no entities")


@metric(
    "ragas.answer_correctness",
    **_LIBRARY,
    judges="answer",
    against="references",
    misleads=f"{_JUDGED} It mixes `ragchecker.f1` and `semantic_similarity`.",
    headline=17,
)
def answer_correctness(
    answer_claims_in_reference: Sequence[str],
    reference_claims_in_answer: Sequence[str],
    answer_similarities: Sequence[float],
    weight: float = 0.75,
) -> float:
    """Correctness of the answer in its statements and its overall meaning.

    weight × F1 + (1 − weight) × cosine of answer and first reference (at least 0), where F1 = TP / (TP + (FP + FN) / 2).
    TP and FP are answer claims that the reference entails or not, FN reference claims that the answer does not entail.
    Skipped if neither text makes a claim.
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"weight must be from 0 to 1, got {weight:g}")
    if not answer_claims_in_reference and not reference_claims_in_answer:
        raise Skip("neither the answer nor the reference makes a claim")
    if not answer_similarities:
        raise Skip("there is no reference to compare with")
    counts = [
        next(iter(share(kind, supports(verdicts), "", verdicts).counts)) if verdicts else Items(kind, ())
        for kind, verdicts in (
            (ANSWER_CLAIM, answer_claims_in_reference),
            (REFERENCE_CLAIM, reference_claims_in_answer),
        )
    ]
    (hits, claimed), (said, wanted) = (count.sums for count in counts)
    f1 = hits / (hits + (claimed - hits + wanted - said) / 2) if hits else 0.0
    value = weight * f1 + (1 - weight) * max(0.0, as_cosine(answer_similarities[0]))
    return Share(value, *counts)


@metric(
    "ragas.noise_sensitivity",
    **_LIBRARY,
    better="lower",
    judges="answer",
    against="contexts",
    misleads=f"{_JUDGED} A true claim that is not in the first reference counts as wrong.",
    aliases={
        "ragas.noise_sensitivity_relevant": {"mode": "relevant"},
        "ragas.noise_sensitivity_irrelevant": {"mode": "irrelevant"},
    },
)
def noise_sensitivity(
    answer_claims_in_reference: Sequence[str],
    answer_claims_in_contexts: Matrix,
    reference_claims_in_contexts: Matrix,
    mode: Literal["relevant", "irrelevant"] = "relevant",
) -> float:
    """Share of the answer that is wrong and comes from the retrieved chunks.

    Answer claims that the reference does not entail but a relevant chunk does / answer claims; with `mode=irrelevant`,
    claims that only irrelevant chunks entail. Skipped if the answer makes no claims.
    """
    correct = supports(answer_claims_in_reference)
    wrong = misled(correct, answer_claims_in_contexts, reference_claims_in_contexts, by_relevant=mode == "relevant")
    return share(ANSWER_CLAIM, wrong, NO_ANSWER_CLAIMS, answer_claims_in_reference)
