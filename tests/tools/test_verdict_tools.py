"""The trial that decides how a model is asked for verdicts, and the tools that follow from it."""

import asyncio

import pytest

from ragstone.llm.base import LLMBusyError, LLMRefusedError, LLMStoppedError, Reply
from ragstone.llm.prompts import PromptBook
from ragstone.tools.open_tools import ToolFactory
from ragstone.tools.verdict_tools import find_token_fault
from tests.tools.test_token_judges import THINKS, YesNo


def fault_of(likely):
    model = YesNo(likely)
    return asyncio.run(find_token_fault(model, PromptBook())), len(model.requests)


def raising(error):
    def likely(*_):
        raise error

    return likely


def test_a_model_with_probabilities():
    assert fault_of(lambda *_: 0.9) == (None, 1)


def test_one_reply_without_them_decides_nothing():
    replies = [Reply("Yes", "m"), Reply("Yes", "m", alternatives=((),)), 0.9]
    assert fault_of(lambda *_: replies.pop(0)) == (None, 3)


@pytest.mark.parametrize(
    ("likely", "words", "requests"),
    [
        (lambda *_: None, "no log-probabilities of tokens, asked 3 times", 3),
        (lambda *_: THINKS, "began with '<think>'", 1),
        (raising(LLMRefusedError("logprobs are not allowed")), "not allowed", 1),
    ],
)
def test_models_that_cannot_be_asked_this_way(likely, words, requests):
    fault, made = fault_of(likely)
    assert words in fault
    assert made == requests


@pytest.mark.parametrize("error", [LLMBusyError("down"), LLMStoppedError("spent")])
def test_a_model_that_does_not_answer_now_is_not_at_fault(error):
    assert fault_of(raising(error))[0] is None


def judging(**options):
    return ToolFactory({"judge": "ollama/x", "base_url": "http://127.0.0.1:9/v1", **options}, 1)


@pytest.mark.parametrize(
    ("options", "needs", "models"),
    [
        ({}, {"checker"}, ["ollama/x"]),
        ({}, {"pair_judge", "rater", "embedder"}, []),
        ({"verdicts": "tokens"}, {"pair_judge"}, ["ollama/x"]),
        ({"verdicts": "json"}, {"checker"}, []),
        ({"repeats": 3}, {"checker"}, []),
        ({"verdicts": {"ollama/x": "tokens"}}, {"checker"}, []),
        ({"checker": "ollama/y"}, {"checker", "grader"}, ["ollama/y", "ollama/x"]),
        ({"batch": "files"}, {"checker"}, []),
        ({"judge": "local"}, {"checker"}, []),
    ],
)
def test_which_models_are_tried(options, needs, models):
    assert judging(**options).untried(needs) == models


def test_each_way_has_a_signature_of_its_own():
    found = judging()
    signatures = []
    for way in ("tokens", "json"):
        found.settle_verdicts({"ollama/x": way})
        signatures += [found.tools["checker"].signature, found.tools["grader"].signature]
    assert ["verdicts=tokens/" in signature for signature in signatures] == [True, True, False, False]
    named = judging(verdicts="tokens")
    named.settle_verdicts({"ollama/x": "json"})
    assert "verdicts=tokens/" in named.tools["checker"].signature, "the user decided"
