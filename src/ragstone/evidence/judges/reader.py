"""Contexts and answers read by a language model with an eye to the question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ragstone.evidence.tools import GuessedQuestions, Stance
from ragstone.llm.judge import Judge
from ragstone.llm.replies import AnswerMatchReply, NeededSentencesReply, QuestionsReply, StanceReply, UsefulnessReply

_LIKE_A_QUESTION = "What is it that this answer says about its subject?"


class JudgeReader:
    """Asks a language model."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def signature(self) -> str:
        """The model."""
        return self._judge.signature

    def prompt_hash(self, name: str) -> str:
        """Of a prompt that is asked."""
        return self._judge.prompt_hash(name)

    async def needed_sentences(self, question: str, sentences: Sequence[str]) -> list[int]:
        """The positions, from 0, of the sentences that are needed to answer."""
        data = {"question": question, "sentences": sentences}
        check = partial(_check_sentences, count=len(sentences))
        guess = NeededSentencesReply(needed=[1, 2][: len(sentences)])
        reply = await self._judge.ask("needed_sentences", NeededSentencesReply, data, guess, check)
        return sorted({number - 1 for number in reply.needed})

    async def useful_chunks(self, question: str, answer: str, chunks: Sequence[str]) -> list[bool]:
        """For each chunk whether it helps to come to the answer."""
        data = {"question": question, "answer": answer, "chunks": chunks}
        check = partial(_check_chunks, count=len(chunks))
        reply = await self._judge.ask("usefulness", UsefulnessReply, data, UsefulnessReply(useful=[1]), check)
        return [number in reply.useful for number in range(1, len(chunks) + 1)]

    async def matches(self, question: str, answer: str, references: Sequence[str]) -> list[float]:
        """For each reference 1 where the answer says the same, else 0; an answer without content says nothing."""
        if not answer.strip() or not references:
            return [0.0] * len(references)
        data = {"question": question, "references": references, "answer": answer}
        check = partial(_check_references, count=len(references))
        reply = await self._judge.ask("answer_match", AnswerMatchReply, data, AnswerMatchReply(matches=[1]), check)
        return [float(number in reply.matches) for number in range(1, len(references) + 1)]

    async def guess_questions(self, answer: str, count: int) -> GuessedQuestions:
        """Questions that the answer would answer; none where it evades and the model finds none."""
        data = {"answer": answer, "count": str(count)}
        guess = QuestionsReply(questions=[_LIKE_A_QUESTION] * count, noncommittal=False)
        reply = await self._judge.ask("questions", QuestionsReply, data, guess, _check_questions)
        return GuessedQuestions(reply.questions[:count], reply.noncommittal)

    async def stance(self, question: str, answer: str) -> Stance:
        """Whether the answer declines, and whether it says that its sources are wrong."""
        data = {"question": question, "answer": answer}
        guess = StanceReply(declines=False, reports_errors=True)
        reply = await self._judge.ask("stance", StanceReply, data, guess)
        return Stance(reply.declines, reply.reports_errors)


def _check_sentences(reply: NeededSentencesReply, count: int) -> str | None:
    return _check_numbers(reply.needed, "sentence", count)


def _check_chunks(reply: UsefulnessReply, count: int) -> str | None:
    return _check_numbers(reply.useful, "chunk", count)


def _check_references(reply: AnswerMatchReply, count: int) -> str | None:
    return _check_numbers(reply.matches, "reference", count)


def _check_numbers(numbers: Sequence[int], what: str, count: int) -> str | None:
    strange = [number for number in numbers if not 1 <= number <= count]
    return f"there is no {what} {strange[0]}: they are numbered 1 to {count}" if strange else None


def _check_questions(reply: QuestionsReply) -> str | None:
    return None if reply.questions or reply.noncommittal else "there is no question"
