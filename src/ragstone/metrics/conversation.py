"""Conversations: whether an answer uses the earlier turns, how good rewritten questions are, and what stays unanswered.

All other metrics apply to each turn. Their question is the completed one (`standalone_question`), and earlier turns may
support the claims of an answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.data.share import Items, Share
from ragstone.data.types import Chunk, Turn
from ragstone.data.verdict import ENTAILMENT
from ragstone.errors import Skip
from ragstone.evidence_functions.claims import NO_ANSWER_CLAIMS, Matrix
from ragstone.registry import metric
from ragstone.text.overlap import content_stems
from ragstone.text.refusals import find_refusal

_COMPLETED = "It depends on how the question is completed; the local rule joins it to the one that it continues."


@metric(
    "context_carryover",
    family="conversation",
    judges="answer",
    against="history",
    source="Ragstone",
    misleads=f"{_COMPLETED} Words count, not meaning.",
)
def context_carryover(
    carried_words: Sequence[str],
    answer: str,
    contexts: Sequence[Chunk],
    answer_claims_in_contexts: Matrix,
    answer_claims_in_history: Sequence[str],
) -> float:
    """Whether the answer to a follow-up is about the subject of the earlier turns.

    Carried words: content words of the completed question that the question lacks. Carried words in the answer,
    or in a text that supports one of its claims / carried words. The texts are the chunks and, as one text with
    all carried words, the earlier turns. Skipped if the question does not depend on earlier turns or the answer makes no
    claims.
    """
    if not carried_words:
        raise Skip("the question does not depend on earlier turns")
    if not answer_claims_in_contexts:
        raise Skip(NO_ANSWER_CLAIMS)
    matrix = answer_claims_in_contexts
    used = [chunk.text for at, chunk in enumerate(contexts) if any(row[at] == ENTAILMENT for row in matrix)]
    there = content_stems(answer).union(*map(content_stems, used))
    in_history = ENTAILMENT in answer_claims_in_history
    return Share.of("carried word", [in_history or word in there for word in carried_words], texts=carried_words)


@metric(
    "question_rewriting",
    family="conversation",
    judges="question",
    against="history",
    source="Ragstone; the task is that of QReCC (Anantha et al. 2021)",
    misleads=f"{_COMPLETED} Words count, not meaning.",
    aliases=("standalone_question", "query_rewriting"),
)
def question_rewriting(standalone_question: str, rewritten_question: str) -> float:
    """How well the system's rewritten question agrees with the completed question.

    F1 of their content words, as sets of stems: 2 · common words / (words of one + words of the other). Skipped if the
    completed question has no content words.
    """
    wanted, there = content_stems(standalone_question), content_stems(rewritten_question)
    if not wanted:
        raise Skip("the completed question has no content words")
    sides = ((sorted(wanted), there), (sorted(there), wanted))
    items = [Items.counted("word", [word in other for word in words], texts=words) for words, other in sides]
    return Share(2 * len(wanted & there) / (len(wanted) + len(there)), *items)


@metric(
    "conversation_completeness",
    family="conversation",
    judges="answer",
    against="history",
    source="Ragstone",
    version=2,
    misleads="Wrong answers count; refusals never do, even right ones. Refusals are "
    "found by their phrases. A file with all turns counts the first turns several times.",
)
def conversation_completeness(answer: str, history: Sequence[Turn]) -> float:
    """Share of the questions of the conversation, up to this turn, that got an answer.

    User messages with a reply that is not empty and does not decline / user messages, this turn included.
    """
    answered: list[bool] = []
    # The last reply is the answer.
    for turn in [*history, Turn("user", "the question"), Turn("assistant", answer)]:
        if turn.role == "user":
            answered.append(False)
        elif turn.role == "assistant" and answered:
            answered[-1] = answered[-1] or bool(turn.text.strip() and not find_refusal(turn.text))
    return Share.of("question", answered)
