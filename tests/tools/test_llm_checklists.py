"""Checklists and tests that are passed or failed: replies that are repaired, and the probability of pass."""

import asyncio
import json
import math

import pytest

from ragstone.llm.base import Reply
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.testing import FakeLLM
from ragstone.tools.aspects import Aspect
from ragstone.tools.llm_checklists import BinaryJudge, probability_of_pass


def items(*words):
    return json.dumps({"items": [{"item": at, "verdict": word} for at, word in enumerate(words, start=1)]})


def check(replies, listed, **settings):
    llm = FakeLLM(replies)
    judge = Judge(llm, PromptBook())
    data = {"question": "q", "answer": "a"}
    return asyncio.run(BinaryJudge(judge).check(listed, data, ["question"], settings.get("reasons", False))), llm


def test_verdicts_are_read_in_any_spelling():
    found, _ = check([items("Yes", "NO.", "N/A", "not applicable")], ["a", "b", "c", "d"])
    assert [one.verdict for one in found] == ["yes", "no", "not_applicable", "not_applicable"]
    assert [one.item for one in found] == ["a", "b", "c", "d"]
    assert {one.reason for one in found} == {None}


def test_after_a_bad_reply_halves_are_asked_about():
    found, llm = check([items("yes"), items("no"), items("yes")], ["a", "b"])
    assert [one.verdict for one in found] == ["no", "yes"]
    assert len(llm.requests) == 3


def test_reasons_come_first():
    reply = json.dumps({"items": [{"item": 1, "reason": "It does.", "verdict": "yes"}]})
    found, llm = check([reply], ["a"], reasons=True)
    assert found[0].reason == "It does."
    assert '"reason"' in llm.requests[0].messages[0].content


def spelled(*tokens, others=()):
    text = "".join(tokens)
    pairs = tuple((token, -0.1) for token in tokens)
    alternatives = [((token, math.log(0.9)),) for token in tokens]
    for place, found in others:
        alternatives[place] = tuple((token, math.log(share)) for token, share in found)
    return Reply(text, "m", logprobs=pairs, alternatives=tuple(alternatives))


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (spelled('{"verdict": "', "pass", '"}', others=[(1, [("pass", 0.6), ("fail", 0.2)])]), 0.75),
        (spelled('{"verdict":', ' "pass', '"}', others=[(1, [(' "pass', 0.3), (' "fail', 0.6)])]), 1 / 3),
        (spelled('{"verdict": "', "pass", '"}', others=[(1, [("pass", 0.2), ("maybe", 0.7)])]), None),
        (Reply('{"verdict": "pass"}', "m"), None),
        (spelled("nothing"), None),
    ],
)
def test_the_probability_of_pass(reply, expected):
    assert probability_of_pass(reply) == (None if expected is None else pytest.approx(expected))


def test_a_graded_aspect_gets_words_for_pass_and_fail():
    aspect = Aspect("tone", "answer", "rudeness", "whether it is friendly")
    asked = BinaryJudge(Judge(FakeLLM([]), PromptBook())).pass_fail_prompt(aspect, ["answer"], "", reasons=False)
    assert '"pass": it is good enough in tone, which measures whether it is friendly' in asked.system
    assert '"fail": rudeness' in asked.system
