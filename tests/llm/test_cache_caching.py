"""A model behind a cache: what is asked once, what is asked again."""

import asyncio
from dataclasses import replace

import pytest

from ragstone.llm.base import LLMBusyError, LLMError, Message, Reply, Request, UnsupportedFormatError
from ragstone.llm.cache import Cache, Cached
from ragstone.testing import FakeLLM
from tests.llm.asking import ask, request

FULL = Reply("four", "fake/model", 10, 2, "length", (("four", -0.5),), cost_usd=0.25, latency_s=3.0, attempts=4)


def complete(llm, *requests):
    async def work():
        return [await llm.complete(one) for one in requests]

    return asyncio.run(work())


def test_the_second_time_it_is_free(tmp_path):
    llm = Cached(FakeLLM([FULL]), Cache(tmp_path))
    first, second = complete(llm, request(), request())
    assert first == FULL
    assert 0 < second.latency_s < 1
    assert second == replace(FULL, cached=True, cost_usd=0.0, attempts=0, latency_s=second.latency_s)


def test_another_process_has_it_too(tmp_path):
    complete(Cached(FakeLLM(["four"]), Cache(tmp_path)), request())
    (reply,) = complete(Cached(FakeLLM([]), Cache(tmp_path)), request())
    assert (reply.text, reply.cached) == ("four", True)


DIFFERENT = [
    request("What is 2 + 3?"),
    Request((Message("system", "What is 2 + 2?"),)),
    Request((Message("user", "What is"), Message("user", " 2 + 2?"))),
    request(reply_format="json_object"),
    request(reply_format="json_schema", schema={"type": "object"}),
    request(reply_format="json_schema", schema={"type": "array"}),
    request(temperature=0.5),
    request(max_tokens=5),
    request(repeat=1),
    request(logprobs=True),
]
SAME = [request(guess="5"), request(prompt="sums"), request(prompt_hash="12")]


def test_whatever_changes_the_reply_changes_the_key(tmp_path):
    cached = Cached(FakeLLM([]), Cache(tmp_path))
    keys = [cached.key(one) for one in (request(), *DIFFERENT)]
    others = [
        Cached(FakeLLM([], "fake/other"), Cache(tmp_path)).key(request()),
        Cached(FakeLLM([]), Cache(tmp_path), address="http://elsewhere").key(request()),
    ]
    assert len({*keys, *others}) == len(DIFFERENT) + 3
    assert {cached.key(one) for one in SAME} == {cached.key(request())}


def test_equal_requests_that_fail_at_once_are_one_failed_call(tmp_path):
    class Broken(FakeLLM):
        async def complete(self, request):
            await asyncio.sleep(0.01)
            raise LLMBusyError("down", 3.0, timed_out=True)

    async def work():
        llm = Cached(Broken([]), Cache(tmp_path))
        return await asyncio.gather(*(llm.complete(request()) for _ in range(3)), return_exceptions=True)

    errors = asyncio.run(work())
    assert sorted(error.attempts for error in errors) == [0, 0, 1]
    assert {(str(error), error.retry_after_s, error.timed_out) for error in errors} == {("down", 3.0, True)}


def test_equal_requests_at_once_are_one(tmp_path, loopback):
    loopback.delay_s = 0.05
    replies = ask(loopback, *[request("same")] * 5, request("other"), cache=Cache(tmp_path))
    assert len(loopback.asked) == 2
    assert sorted(reply.cached for reply in replies) == [False, False, True, True, True, True]
    assert [reply.cost_usd for reply in replies if reply.cached] == [0.0] * 4


def test_errors_are_shared_but_not_kept(tmp_path):
    async def work():
        fake = FakeLLM([LLMError("no"), "yes"])
        llm = Cached(fake, Cache(tmp_path))
        both = await asyncio.gather(llm.complete(request()), llm.complete(request()), return_exceptions=True)
        again = await llm.complete(request())
        return both, again, len(fake.requests)

    both, again, asked = asyncio.run(work())
    assert [str(error) for error in both] == ["no", "no"] or [type(both[0]), both[1].text] == [LLMError, "yes"]
    assert again.text == "yes"
    assert asked == 2


def test_who_waits_for_a_cancelled_one_asks_himself(tmp_path):
    class Slow(FakeLLM):
        async def complete(self, request):
            self.requests.append(request)
            await asyncio.sleep(0.05)
            return Reply("yes", self.name)

    async def work():
        slow = Slow([])
        llm = Cached(slow, Cache(tmp_path))
        first, second, third = (asyncio.create_task(llm.complete(request())) for _ in range(3))
        await asyncio.sleep(0.01)
        third.cancel()
        first.cancel()
        found = await asyncio.gather(first, second, third, return_exceptions=True)
        return found, len(slow.requests)

    (first, second, third), asked = asyncio.run(work())
    assert isinstance(first, asyncio.CancelledError)
    assert isinstance(third, asyncio.CancelledError)
    assert (second.text, asked) == ("yes", 2)


@pytest.mark.parametrize(
    "stored",
    [
        None,
        7,
        [],
        {},
        {"text": "x"},
        {**dict.fromkeys(("text", "model", "input_tokens", "output_tokens", "finish_reason", "logprobs")), "text": 3},
    ],
)
def test_what_is_no_reply_is_a_miss(tmp_path, stored):
    cache = Cache(tmp_path)
    llm = Cached(FakeLLM(["yes"]), cache)
    cache.write(llm.key(request()), stored)
    (reply,) = complete(llm, request())
    assert (reply.text, reply.cached) == ("yes", False)


def test_a_cache_that_cannot_be_written_does_not_fail_the_run(tmp_path, loopback):
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file")
    replies = ask(loopback, request("1"), request("2"), cache=cache)
    assert [reply.text for reply in replies] == ["fine", "fine"]
    assert "replies are not stored" in cache.problem


def test_a_run_again_makes_no_call(tmp_path, loopback):
    requests = [request(str(number)) for number in range(30)]
    ask(loopback, *requests, cache=Cache(tmp_path))
    replies = ask(loopback, *requests, cache=Cache(tmp_path))
    assert len(loopback.asked) == 30
    assert all(reply.cached for reply in replies)


def test_another_address_is_another_model(tmp_path, loopback):
    ask(loopback, cache=Cache(tmp_path))
    ask(f"http://localhost:{loopback.port}/v1", cache=Cache(tmp_path))
    assert len(loopback.asked) == 2


def test_a_format_that_the_server_refuses_is_not_tried_in_the_next_run(tmp_path):
    first = FakeLLM([UnsupportedFormatError("no json_schema"), "four"])
    with pytest.raises(UnsupportedFormatError, match="no json_schema"):
        complete(Cached(first, Cache(tmp_path)), request(reply_format="json_schema"))
    second = FakeLLM(["four"])
    with pytest.raises(UnsupportedFormatError, match=r"fake/model.*json_schema"):
        complete(Cached(second, Cache(tmp_path)), request("other", reply_format="json_schema"))
    assert second.requests == []
    # Neither another format nor the same model at another address is meant.
    assert complete(Cached(second, Cache(tmp_path)), request(reply_format="json_object"))[0].text == "four"
    elsewhere = Cached(FakeLLM(["five"]), Cache(tmp_path), address="http://elsewhere")
    assert complete(elsewhere, request(reply_format="json_schema"))[0].text == "five"


@pytest.mark.parametrize("count", [10**22, -5, float("nan"), "12"])
def test_a_cached_reply_with_an_absurd_count_is_read_without_it(tmp_path, count):
    cache, fake = Cache(tmp_path), FakeLLM("fine")
    cached = Cached(fake, cache)
    stored = {"text": "stored", "model": "m", "finish_reason": "stop", "logprobs": None}
    cache.write(cached.key(request()), {**stored, "input_tokens": count, "output_tokens": count})
    reply = asyncio.run(cached.complete(request()))
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("stored", None, None)
