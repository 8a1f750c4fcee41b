"""The writer passes its passages to the model and cleans the replies."""

import asyncio
import json

import pytest

from ragstone.formats.documents import Passage
from ragstone.formats.documents.base import Document, Section, make_passages
from ragstone.llm.base import LLMReplyError
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.llm.reply_types import AnswerReply, NewQuestionReply
from ragstone.testing import FakeLLM
from ragstone.truth.synthesis.writer import PROMPTS, Draft, Job, Writer

PASSAGE = Passage("a#1", "The Maren is 48 metres long.", "a")
OTHER = Passage("b#1", "The Heron is 30 metres long.", "b")


class FakeJudge:
    """Replies with the guess, or with a fixed reply, and records the data."""

    signature = "fake/1"

    def __init__(self, reply=None):
        self.reply, self.asked = reply, []

    def prompt_hash(self, name):
        return f"hash of {name}"

    async def ask(self, prompt, _type, data, guess, check=None):
        self.asked.append((prompt, data))
        return self.reply or guess


def test_a_question_is_cleaned_and_keeps_its_history_only_in_a_conversation():
    reply = NewQuestionReply(question=" How\nlong? ", answer=" 48 metres ", citations=["c"], history=["The  Maren?"])
    draft = asyncio.run(Writer(FakeJudge(reply)).write(Job("single", (PASSAGE,)), ["Earlier?"]))
    assert (draft.question, draft.answer, draft.history) == ("How long?", "48 metres", [])
    talk = asyncio.run(Writer(FakeJudge(reply)).write(Job("single", (PASSAGE,), "follow-up"), []))
    assert talk.asked == "The Maren?\nHow long?"


def test_answers_come_from_the_passages_or_from_none():
    judge = FakeJudge()
    writer, draft = Writer(judge), Draft(Job("single", (PASSAGE,)), "How long?", "48 metres", [], [])
    reply = asyncio.run(writer.answer(draft, [PASSAGE, OTHER, PASSAGE]))
    asyncio.run(writer.remember(draft))
    assert reply == AnswerReply(answerable=True, answer="48 metres")
    assert judge.asked[0][1]["passages"] == [PASSAGE.text, OTHER.text]
    assert judge.asked[1] == ("answer_from_memory", {"question": "How long?"})


def test_an_estimate_has_an_answer_only_for_answerable_questions():
    for kind, answered in (("single", True), ("unanswerable", False)):
        draft = asyncio.run(Writer(FakeJudge()).write(Job(kind, (PASSAGE,)), []))
        assert bool(draft.answer) is bool(draft.citations) is answered


def test_the_identity_is_that_of_the_model_and_its_prompts():
    writer = Writer(FakeJudge())
    assert writer.signature == "fake/1"
    assert writer.prompts == {name: f"hash of {name}" for name in PROMPTS}


def test_the_model_gets_the_title_and_the_heading_of_each_passage():
    sections = [Section("", "Paracetamol 500 mg"), Section("Adults take 4 g a day at most.", "Dosage")]
    passages = make_passages(Document("leaflet.md", sections))
    judge = FakeJudge()
    job = Job("single", (*passages, OTHER))
    draft = asyncio.run(Writer(judge).write(job, []))
    asyncio.run(Writer(judge).answer(draft, job.passages))
    for _, data in judge.asked:
        assert data["titles"] == ["Paracetamol 500 mg › Dosage", "b"]
        assert data["passages"] == ["Adults take 4 g a day at most.", OTHER.text]


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ({"answerable": False, "answer": "48 metres"}, "answerable is false"),
        ({"answerable": True, "answer": " "}, "no answer"),
        ({"answerable": True, "answer": "I cannot answer this question from the documents."}, "no answer"),
        ({"answerable": False, "answer": "I cannot answer this question from the documents."}, None),
        ({"answerable": False, "answer": ""}, None),
        ({"answerable": True, "answer": "48 metres"}, None),
    ],
)
def test_fields_that_contradict_each_other_are_rejected(reply, fault):
    draft = Draft(Job("single", (PASSAGE,)), "How long?", "48 metres", [], [])
    for name in ("answer", "remember"):
        ask = getattr(Writer(Judge(FakeLLM([json.dumps(reply)] * 2), PromptBook())), name)
        shown = [[PASSAGE]] if name == "answer" else []
        if fault is None:
            assert asyncio.run(ask(draft, *shown)) == AnswerReply(**reply)
        else:
            with pytest.raises(LLMReplyError, match=fault):
                asyncio.run(ask(draft, *shown))
