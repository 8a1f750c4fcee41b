"""What of the retrieved text is needed: sentences for the question (RAGAS context relevance), chunks for the answer."""

from __future__ import annotations

from ragstone.data.types import Chunk
from ragstone.evidence.tools import Grader, Judge
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
    return await judge.needed_sentences(question, lines) if lines else []


@evidence(prompts=("usefulness",), either=("references", "answer"))
async def chunk_usefulness(
    question: str, contexts: list[Chunk], references: list[str] | None, answer: str | None, grader: Grader
) -> list[bool]:
    """Which retrieved chunks help to come to the reference, or to the answer where there is no reference."""
    target = references[0] if references else str(answer)
    return await grader.useful_chunks(question, target, [chunk.text for chunk in contexts]) if contexts else []
