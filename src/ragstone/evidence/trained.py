"""What a judge that was trained on a user's own labels says."""

from __future__ import annotations

from ragstone.data.types import Chunk
from ragstone.errors import Skip
from ragstone.evidence.tools import LabelGuesser
from ragstone.registry import evidence


@evidence(either=("question", "contexts", "references"))
async def expected_label(
    question: str | None,
    answer: str,
    contexts: list[Chunk] | None,
    references: list[str] | None,
    trained_judge: LabelGuesser,
) -> float:
    """The label that people would give the answer, as a share of their scale."""
    if not answer.strip():
        raise Skip("the answer is empty")
    chunks = None if contexts is None else [chunk.text for chunk in contexts]
    return await trained_judge.judge(question, answer, chunks, references)
