"""The fake model that ships for users' own tests."""

import asyncio
import doctest

import pytest

import ragstone.testing
from ragstone.llm.base import LLM, Message, Reply, Request
from ragstone.testing import FakeLLM

ASKED = Request((Message("user", "Hello"),))


def complete(llm):
    return asyncio.run(llm.complete(ASKED))


def test_a_script():
    llm = FakeLLM(["one", Reply("two", "other/model"), ValueError("three")])
    assert isinstance(llm, LLM)
    assert complete(llm) == Reply("one", "fake/model")
    assert complete(llm).model == "other/model"
    with pytest.raises(ValueError, match="three"):
        complete(llm)
    assert llm.requests == [ASKED] * 3
    with pytest.raises(AssertionError, match="has no further reply for: Hello"):
        complete(llm)


def test_a_function():
    llm = FakeLLM(lambda request: request.messages[0].content[::-1], name="fake/mirror")
    assert complete(llm) == Reply("olleH", "fake/mirror")
    assert (llm.name, llm.signature) == ("fake/mirror", "fake/mirror")


def test_the_example():
    assert doctest.testmod(ragstone.testing) == (0, 1)
