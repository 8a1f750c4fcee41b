"""Questions that the answer would answer, and whether it commits itself at all (RAGAS answer relevancy)."""

from __future__ import annotations

from typing import TypedDict

from ragstone.errors import Skip
from ragstone.llm.judge import Judge
from ragstone.llm.replies import QuestionsReply
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
    guess = QuestionsReply(
        questions=["What is it that this answer says about its subject?"] * _COUNT, noncommittal=False
    )
    data = {"answer": answer, "count": str(_COUNT)}
    reply = await judge.ask("questions", QuestionsReply, data, guess, _check_questions)
    return {"generated_questions": reply.questions[:_COUNT], "noncommittal": reply.noncommittal}


def _check_questions(reply: QuestionsReply) -> str | None:
    if any(not question.strip() for question in reply.questions):
        return "a question is empty"
    return None if reply.questions or reply.noncommittal else "there is no question"
