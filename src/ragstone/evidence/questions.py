"""Questions that the answer would answer, and whether it commits itself at all (RAGAS answer relevancy)."""

from __future__ import annotations

from typing import TypedDict

from ragstone.errors import Skip
from ragstone.evidence.tools import Judge
from ragstone.registry import evidence

_COUNT = 3


class Questions(TypedDict):
    """What a judge makes of an answer that it sees without its question."""

    generated_questions: list[str]
    noncommittal: bool


@evidence(yields=("generated_questions", "noncommittal"), prompts=("questions",))
async def questions_answered(answer: str, judge: Judge) -> Questions:
    """Some questions to which the answer is one, and whether it evades: one call."""
    if not answer.strip():
        raise Skip("the answer is empty")
    found = await judge.guess_questions(answer, _COUNT)
    return {"generated_questions": found.questions, "noncommittal": found.noncommittal}
