"""A language model that writes questions, and answers them with and without their passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.formats.documents import Passage
from ragstone.llm.prompted import Judge
from ragstone.llm.reply_types import AnswerReply, NewQuestionReply
from ragstone.text.refusals import find_refusal
from ragstone.text.sentences import sentences
from ragstone.tools.llm_judges import JudgeReader
from ragstone.truth.synthesis.question_plan import Job

PROMPTS = ("new_question", "answer_from_passages", "answer_from_memory", "answer_match")
_MATCHES = 0.5


@dataclass(frozen=True)
class Draft:
    """A written question with its answer, citations and earlier questions of the conversation."""

    job: Job
    question: str
    answer: str
    citations: list[str]
    history: list[str]

    @property
    def asked(self) -> str:
        """The question after the earlier ones of the conversation."""
        return "\n".join([*self.history, self.question])


class Writer:
    """Writes and answers questions."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._reader = JudgeReader(judge)

    @property
    def signature(self) -> str:
        """The model."""
        return self._judge.signature

    @property
    def prompts(self) -> dict[str, str]:
        """The hashes of the prompts."""
        return {name: self._judge.prompt_hash(name) for name in PROMPTS}

    async def write(self, job: Job, asked: Sequence[str]) -> Draft:
        """Writes a question of the job's kind that differs from those in `asked`."""
        data = {"kind": job.kind, **_shown(job.passages), "asked": list(asked)}
        reply = await self._judge.ask("new_question", NewQuestionReply, data, _guess(job))
        history = reply.history if job.kind == "conversational" else []
        return Draft(job, _one_line(reply.question), reply.answer.strip(), reply.citations, [*map(_one_line, history)])

    async def answer(self, draft: Draft, others: Sequence[Passage] = ()) -> AnswerReply:
        """Answers from the draft's passages and `others`."""
        passages = {passage.text: passage for passage in (*draft.job.passages, *others)}
        data = {"question": draft.asked, **_shown(list(passages.values()))}
        guess = AnswerReply(answerable=bool(draft.answer), answer=draft.answer)
        return await self._judge.ask("answer_from_passages", AnswerReply, data, guess, _check_answer)

    async def remember(self, draft: Draft) -> AnswerReply:
        """Answers without any passage."""
        guess = AnswerReply(answerable=True, answer=draft.answer)
        data = {"question": draft.asked}
        return await self._judge.ask("answer_from_memory", AnswerReply, data, guess, _check_answer)

    async def agrees(self, draft: Draft, answer: str) -> bool:
        """Whether an answer means the same as the draft's answer."""
        scores = await self._reader.matches(draft.asked, answer, [draft.answer])
        return scores[0] > _MATCHES


def _shown(passages: Sequence[Passage]) -> dict[str, list[str]]:
    """The title and heading of each passage, and its text; apart, so that a citation cannot contain a title."""
    return {"titles": [passage.subject for passage in passages], "passages": [passage.text for passage in passages]}


def _check_answer(reply: AnswerReply) -> str | None:
    """The contradiction between the fields of a reply; None if there is none. A refusal is not an answer."""
    has_answer = bool(reply.answer.strip()) and find_refusal(reply.answer) is None
    if has_answer and not reply.answerable:
        return "there is an answer, but answerable is false"
    return "answerable is true, but there is no answer" if reply.answerable and not has_answer else None


def _guess(job: Job) -> NewQuestionReply:
    """A plausible reply for a cost estimate: one sentence per passage."""
    firsts = [passage.text[span.start : span.end] for passage in job.passages for span in sentences(passage.text)[:1]]
    answer = "" if job.kind == "unanswerable" else firsts[0]
    return NewQuestionReply(
        # Different per job, because equal questions count as one.
        question=f"What ({job.kind}) is known about {job.passages[0].id}: {firsts[0][:40]}?",
        answer=answer,
        citations=firsts if answer else [],
        history=["What else is known about it?"] if job.kind == "conversational" else [],
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
