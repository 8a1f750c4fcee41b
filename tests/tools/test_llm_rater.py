"""Grades by a language model: the prompt, the reply, and the expected grade."""

import asyncio
import json
import math

import pytest

from ragstone.errors import UnknownNameError, UsageError
from ragstone.llm.base import Reply
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.testing import FakeLLM
from ragstone.tools.aspects import Aspect
from ragstone.tools.llm_rater import SCALES, JudgeRater, expected_grade

ASPECT = Aspect("politeness", "how polite it is", "rude", "Look at the tone.", rubric=("rude", "polite"))


def rater(*replies, **options):
    llm = FakeLLM([json.dumps(reply) for reply in replies])
    return llm, JudgeRater(Judge(llm, PromptBook()), **options)


def grade(tool, aspect=ASPECT):
    return asyncio.run(tool.grade(aspect, "Where?", "There, please.", [], None))


def test_a_grade_on_its_scale():
    llm, tool = rater({"grade": 4}, scale="stars")
    found = grade(tool)
    assert (found.value, found.lowest, found.highest, found.reasoning) == (4, 1.0, 5.0, None)
    prompt = llm.requests[0].messages[0].content + llm.requests[0].messages[-1].content
    assert "Look at the tone." in prompt
    assert "There, please." in prompt


def test_reasons_and_rubric():
    llm, tool = rater({"reasoning": "It says please.", "grade": 5}, scale="stars", manners=["cot", "rubric"])
    assert grade(tool).reasoning == "It says please."
    assert "5: polite" in "".join(message.content for message in llm.requests[0].messages)


def test_the_signature_has_scale_and_manners():
    _, tool = rater(scale="ten", manners=["rubric", "cot"])
    assert tool.signature.endswith(",scale=ten,cot,rubric")


def test_mistakes():
    with pytest.raises(UnknownNameError, match="Choose from: cot"):
        rater(manners=["chain"])
    _, tool = rater({"grade": 5}, manners=["few-shot"])
    with pytest.raises(UsageError, match="no examples"):
        grade(tool)


def test_the_expected_grade_is_a_weighted_mean():
    tokens = ['{"grade": ', "4", "}"]
    alternatives = [(), (("4", math.log(0.75)), ("2", math.log(0.25))), ()]
    reply = Reply(
        "".join(tokens), "fake", logprobs=[(token, 0.0) for token in tokens], alternatives=list(map(list, alternatives))
    )
    assert expected_grade(reply, SCALES["stars"]) == pytest.approx(3.5)
    assert expected_grade(Reply('{"grade": 4}', "fake"), SCALES["stars"]) is None
