"""A language model that writes questions, and that answers them with and without their source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.evidence.judges.reader import JudgeReader
from ragstone.formats.documents import Passage
from ragstone.llm.judge import Judge
from ragstone.llm.replies import AnswerReply, NewQuestionReply
from ragstone.text.sentences import sentences
from ragstone.truth.synthesis.kinds import Job

PROMPTS = ("new_question", "answer_from_passages", "answer_from_memory", "answer_match")
_MATCHES = 0.5


@dataclass(frozen=True)
class Draft:
    """A question as it was written, with its answer, what it cites and what was asked before it."""

    job: Job
    question: str
    answer: str
    citations: list[str]
    history: list[str]

    @property
    def asked(self) -> str:
        """The question as somebody hears it: after the earlier ones of the talk."""
        return "\n".join([*self.history, self.question])


class Writer:
    """Writes and answers."""

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
        """A question of the job's kind, other than those that were asked."""
        texts = [passage.text for passage in job.passages]
        data = {"kind": job.kind, "passages": texts, "asked": list(asked)}
        reply = await self._judge.ask("new_question", NewQuestionReply, data, _guess(job))
        history = reply.history if job.kind == "conversational" else []
        return Draft(job, _one_line(reply.question), reply.answer.strip(), reply.citations, [*map(_one_line, history)])

    async def answer(self, draft: Draft, others: Sequence[Passage] = ()) -> AnswerReply:
        """What its passages answer, or these and others."""
        texts = dict.fromkeys(passage.text for passage in (*draft.job.passages, *others))
        data = {"question": draft.asked, "passages": list(texts)}
        guess = AnswerReply(answerable=True, answer=draft.answer)
        return await self._judge.ask("answer_from_passages", AnswerReply, data, guess)

    async def remember(self, draft: Draft) -> AnswerReply:
        """What is answered without any passage."""
        guess = AnswerReply(answerable=True, answer=draft.answer)
        return await self._judge.ask("answer_from_memory", AnswerReply, {"question": draft.asked}, guess)

    async def agrees(self, draft: Draft, answer: str) -> bool:
        """Whether an answer says what the draft's answer says."""
        found = await self._reader.matches(draft.asked, answer, [draft.answer])
        return found[0] > _MATCHES


def _guess(job: Job) -> NewQuestionReply:
    """What a reply may look like, for a quote: a sentence of each passage."""
    firsts = [passage.text[span.start : span.end] for passage in job.passages for span in sentences(passage.text)[:1]]
    answer = "" if job.kind == "unanswerable" else firsts[0]
    return NewQuestionReply(
        # Other for each job: equal questions would be counted as one.
        question=f"What ({job.kind}) is known about {job.passages[0].id}: {firsts[0][:40]}?",
        answer=answer,
        citations=firsts if answer else [],
        history=["What else is known about it?"] if job.kind == "conversational" else [],
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
