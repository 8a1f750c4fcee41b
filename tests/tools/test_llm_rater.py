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
from ragstone.tools.aspects import _USERS, Aspect, packaged_aspects, read_aspects
from ragstone.tools.llm_pairs import JudgePair
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


def pair_requests(aspect="quality", reference=None, **settings):
    llm = FakeLLM(lambda request: request.guess)
    pair = JudgePair(Judge(llm, PromptBook()), aspect, **settings)
    asyncio.run(pair.compare("Which fee?", "None.", "5 crowns.", ["5 crowns a day."], reference))
    return pair, llm.requests


@pytest.mark.parametrize("aspect", packaged_aspects())
def test_pairs_can_be_shown_examples_of_every_aspect(aspect):
    """Each pair of example answers in both orders, so that no position wins more often."""
    _, requests = pair_requests(aspect, manners=["few-shot"])
    shown = [json.loads(one.content)["winner"] for one in requests[0].messages if one.role == "assistant"]
    assert shown
    assert shown.count("A") == shown.count("B") == shown.count("tie")
    assert shown[-1] == "A"


def test_examples_of_pairs_show_a_reference_where_the_pair_has_one():
    with_one, without = (pair_requests(reference=text, manners=["few-shot"])[1][0] for text in ("5 crowns.", None))
    assert [("<reference" in request.messages[1].content) for request in (with_one, without)] == [True, False]


def test_manners_of_pairs_are_in_the_signature_and_the_prompt():
    plain, reasoned = (pair_requests(manners=manners)[0] for manners in ([], ["cot", "few-shot", "rubric"]))
    assert reasoned.signature == f"{plain.signature},cot,few-shot"
    assert plain.prompts == {"pair": ("pair",)}
    assert reasoned.prompts == {"pair": ("pair_reasoned",)}
    assert plain.prompt_hash("pair") != reasoned.prompt_hash("pair")
    assert plain.prompt_hash("own_reference") == reasoned.prompt_hash("own_reference")


def test_an_aspect_without_examples_cannot_show_pairs(tmp_path, monkeypatch):
    path = tmp_path / "ours.toml"
    path.write_text('[brevity_of_pairs]\ntask = "t"\nopposite = "o"\ninstruction = "i"\n')
    monkeypatch.setitem(_USERS, "brevity_of_pairs", None)  # forgotten after the test
    read_aspects(path)
    with pytest.raises(UsageError, match="leave out few-shot"):
        pair_requests("brevity_of_pairs", manners=["few-shot"])
