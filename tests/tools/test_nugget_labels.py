"""Labels of nuggets: from the verdicts of a judge with probabilities, from tokens, from JSON, and from a cascade."""

import asyncio
import json

import pytest

from ragstone.data.verdict import Verdict
from ragstone.llm.base import LLMReplyError
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.testing import FakeLLM
from ragstone.tools.checkers import TokenCascade
from ragstone.tools.llm_judges import JudgeChecker
from ragstone.tools.nugget_labels import labels_by_parts, worth_of
from ragstone.tools.token_judges import TokenChecker
from tests.tools.checking import labels
from tests.tools.test_token_judges import YesNo

TWO = "The lake is deep. The lake is cold."
VERDICTS = {
    "The lake is deep.": "entailment",
    "The lake is cold.": "neutral",
    "The lake is warm.": "contradiction",
    "The lake is old.": "unsure",
}


async def check(claims):
    return [Verdict(VERDICTS.get(claim, "neutral"), 0.5, 0.1) for claim in claims]


@pytest.mark.parametrize(
    ("nugget", "label"),
    [
        ("The lake is deep.", "support"),
        ("The lake is old.", "partial_support"),
        ("The lake is cold.", "not_support"),
        ("The lake is warm.", "not_support"),
        (TWO, "partial_support"),
        ("The lake is deep. The lake is warm.", "not_support"),
        ("The lake is cold. The lake is green.", "not_support"),
    ],
)
def test_verdicts_become_labels(nugget, label):
    (found,) = asyncio.run(labels_by_parts([nugget], check))
    assert found == label
    assert found.counted == worth_of(label)
    assert found.support == 0.5


def reply(*labels):
    return json.dumps({"labels": [{"nugget": at, "label": label} for at, label in enumerate(labels, start=1)]})


def labels_of(replies, nuggets, answer="an answer", **settings):
    llm = FakeLLM(replies)
    return asyncio.run(labels(JudgeChecker(Judge(llm, PromptBook()), **settings), "q", nuggets, answer)), llm


def test_a_language_model_labels_all_nuggets_in_one_call():
    found, llm = labels_of([reply("support", "Partial support.", "not-support")], ["a", "b", "c"])
    assert found == ["support", "partial_support", "not_support"]
    assert len(llm.requests) == 1
    found, llm = labels_of([reply("support"), reply("not_support")], ["a", "b"], claims_per_call=1)
    assert found == ["support", "not_support"]


def test_an_empty_answer_costs_nothing():
    assert labels_of([], ["a", "b"], " ")[0] == ["not_support"] * 2


def test_the_majority_of_repeats_counts():
    said = [reply("support"), reply("partial_support"), reply("partial_support")]
    assert labels_of(said, ["a"], repeats=3)[0] == ["partial_support"]


def test_a_missing_label_is_asked_for_again():
    found, llm = labels_of([reply("support", "support"), reply("support")], ["a"])
    assert found == ["support"]
    assert "there is no nugget 2" in llm.requests[1].messages[-1].content
    with pytest.raises(LLMReplyError, match="no label for nugget 1"):
        labels_of([json.dumps({"labels": []})] * 2, ["a"])


def likely(support, part):
    return YesNo(lambda kind, *_: support if kind == "support" else part)


@pytest.mark.parametrize(
    ("support", "part", "label", "calls"),
    [(0.9, 0.0, "support", 1), (0.3, 0.8, "partial_support", 2), (0.3, 0.2, "not_support", 2)],
)
def test_tokens_are_asked_for_the_whole_and_then_for_a_part(support, part, label, calls):
    model = likely(support, part)
    (found,) = asyncio.run(labels(TokenChecker(model, PromptBook()), "q", ["The lake is deep."], "The lake is."))
    assert found == label
    assert found.support == support
    assert [request.prompt for request in model.requests] == ["token_support", "token_part"][:calls]


def test_a_refusal_contains_nothing():
    model = likely(1.0, 1.0)
    assert asyncio.run(labels(TokenChecker(model, PromptBook()), "q", ["a"], "I do not know.")) == ["not_support"]
    assert model.requests == []


def test_a_cascade_escalates_what_is_unsure_or_partial():
    below = TokenChecker(YesNo(lambda kind, _, claim: {"sure": 0.99, "no": 0.01}.get(claim, 0.6)), PromptBook())
    llm = FakeLLM([reply("not_support")])
    ladder = TokenCascade(below, JudgeChecker(Judge(llm, PromptBook())), 0.9)
    assert asyncio.run(labels(ladder, "q", ["sure", "doubt"], "an answer")) == ["support", "not_support"]
    assert len(llm.requests) == 1
