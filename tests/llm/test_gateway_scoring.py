"""Token probabilities by a model behind the gateway."""

import asyncio

import pytest

from ragstone.llm.base import LLMBusyError, Reply
from ragstone.llm.gateway import RemoteScorer
from ragstone.testing import FakeLLM


def score(reply, pairs):
    llm = FakeLLM(reply)
    scorer = RemoteScorer(llm)
    assert (scorer.name, scorer.signature) == (llm.name, llm.signature)
    return asyncio.run(scorer.log_probabilities(pairs)), llm.requests


def test_one_list_of_log_probabilities_per_text():
    def reply(request):
        return Reply("", "m", logprobs=tuple((word, -len(word)) for word in request.messages[1].content.split()))

    scores, requests = score(reply, [("before", "a bb"), ("", ""), ("x" * 9000, "ccc" + " y" * 2000)])
    assert scores[:2] == [[-1, -2], []]
    assert scores[2][0] == -3
    # An empty text needs no request, and long texts are cut.
    assert [tuple(len(message.content) for message in request.messages) for request in requests] == [
        (7, 4),
        (6001, 2000),
    ]
    assert all(request.logprobs for request in requests)


def test_a_quote_has_no_log_probabilities():
    assert score(["guess"], [("", "text")])[0] == [[-1.0]]


def test_errors_are_raised():
    with pytest.raises(LLMBusyError):
        score([LLMBusyError("down")], [("", "text")])
