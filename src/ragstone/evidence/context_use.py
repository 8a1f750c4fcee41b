"""What of the retrieved text is needed: sentences for the question (RAGAS context relevance), chunks for the answer."""

from __future__ import annotations

from functools import partial

from ragstone.data.types import Chunk
from ragstone.llm.judge import Judge
from ragstone.llm.replies import NeededSentencesReply, UsefulnessReply
from ragstone.registry import evidence
from ragstone.text.sentences import sentences


@evidence(transient=True)
def context_sentences(contexts: list[Chunk]) -> list[list[str]]:
    """The sentences of each retrieved chunk."""
    return [[chunk.text[start:end] for start, end in sentences(chunk.text)] for chunk in contexts]


@evidence(prompts=("needed_sentences",))
async def needed_sentences(question: str, context_sentences: list[list[str]], judge: Judge) -> list[int]:
    """Which sentences of the retrieved chunks are needed to answer the question, counted from 0 through all chunks."""
    lines = [line for chunk in context_sentences for line in chunk]
    if not lines:
        return []
    reply = await judge.ask(
        "needed_sentences",
        NeededSentencesReply,
        {"question": question, "sentences": lines},
        NeededSentencesReply(needed=[1, 2]),
        partial(_check_numbers, what="sentence", count=len(lines)),
    )
    return sorted({number - 1 for number in reply.needed})


@evidence(prompts=("usefulness",), either=("references", "answer"))
async def chunk_usefulness(
    question: str, contexts: list[Chunk], references: list[str] | None, answer: str | None, judge: Judge
) -> list[bool]:
    """Which retrieved chunks help to come to the reference, or to the answer where there is no reference."""
    if not contexts:
        return []
    reply = await judge.ask(
        "usefulness",
        UsefulnessReply,
        {
            "question": question,
            "answer": references[0] if references else str(answer),
            "chunks": [chunk.text for chunk in contexts],
        },
        UsefulnessReply(useful=[1]),
        partial(_check_numbers, what="chunk", count=len(contexts)),
    )
    return [number in reply.useful for number in range(1, len(contexts) + 1)]


def _check_numbers(reply: NeededSentencesReply | UsefulnessReply, what: str, count: int) -> str | None:
    numbers = reply.needed if isinstance(reply, NeededSentencesReply) else reply.useful
    strange = [number for number in numbers if not 1 <= number <= count]
    return f"there is no {what} {strange[0]}: they are numbered 1 to {count}" if strange else None
