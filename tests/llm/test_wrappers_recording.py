"""Every call as a row, under the sample and evidence for which it was made."""

import asyncio
from dataclasses import replace

import pytest

from ragstone.llm.base import LLMAccessError, LLMBusyError, LLMReplyError, Reply, UnsupportedFormatError
from ragstone.llm.wrappers import Call, Recorded, Retrying, record_calls
from ragstone.testing import FakeLLM
from tests.llm.asking import QUICK, request


def record(*replies):
    sink = []

    async def work():
        llm = Recorded(Retrying(FakeLLM(replies), QUICK))
        with record_calls(sink, "s1", "claims"):
            return await asyncio.gather(llm.complete(request(prompt="p", prompt_hash="h")), return_exceptions=True)

    asyncio.run(work())
    return sink


def test_a_reply():
    reply = Reply("four", "fake/model", 10, 2, cost_usd=0.5, latency_s=1.5)
    assert record(LLMBusyError("x"), reply) == [
        Call("s1", "claims", "p", "h", "fake/model", 10, 2, 0.5, 1.5, 2, False, None, "four")
    ]


@pytest.mark.parametrize(
    ("error", "attempts", "words", "raw"),
    [
        (LLMBusyError("down"), 6, "down; given up after 6 attempts", None),
        (LLMReplyError("not JSON", "{oops"), 1, "not JSON", "{oops"),
        (LLMAccessError("bad key"), 1, "bad key", None),
    ],
)
def test_a_failure(error, attempts, words, raw):
    (call,) = record(*[error] * attempts)
    assert (call.attempts, call.error, call.reply, call.cached) == (attempts, words, raw, False)
    assert (call.input_tokens, call.output_tokens, call.cost_usd) == (None, None, None)
    assert call.latency_s > 0


@pytest.mark.parametrize("attempts", [0, 1])
def test_a_refused_format_is_no_call(attempts):
    """The question is asked again in another format."""
    error = UnsupportedFormatError("plain text only")
    error.attempts = attempts
    assert record(error) == []


def test_calls_that_were_made():
    call = Call("s1", "claims", "p", "h", "m")
    assert [replace(call, **change).is_made for change in ({}, {"cached": True}, {"attempts": 0})] == [
        True,
        False,
        False,
    ]


def test_calls_of_parallel_samples_stay_apart():
    sinks = {name: [] for name in "abc"}

    async def sample(llm, name):
        with record_calls(sinks[name], name, "claims"):
            await asyncio.sleep(0)
            await asyncio.gather(*(llm.complete(request(f"{name}{number}")) for number in range(3)))

    async def work():
        llm = Recorded(FakeLLM(lambda asked: asked.messages[0].content))
        await asyncio.gather(*(sample(llm, name) for name in sinks))
        await llm.complete(request("nobody records this"))

    asyncio.run(work())
    assert {name: [call.reply for call in sink] for name, sink in sinks.items()} == {
        name: [f"{name}{number}" for number in range(3)] for name in "abc"
    }
    assert all(call.sample_id == name for name, sink in sinks.items() for call in sink)


def test_nested_blocks():
    outer, inner = [], []

    async def work():
        llm = Recorded(FakeLLM(["1", "2", "3"]))
        with record_calls(outer, "s", "one"):
            await llm.complete(request())
            with record_calls(inner, "s", "two"):
                await llm.complete(request())
            await llm.complete(request())

    asyncio.run(work())
    assert [(call.evidence, call.reply) for call in outer + inner] == [("one", "1"), ("one", "3"), ("two", "2")]
