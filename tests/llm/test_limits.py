"""Places, rates and what the number of places does when servers complain."""

import asyncio
import time

import pytest

from ragstone.llm.base import LLMBusyError, LLMRefusedError, LLMStoppedError, Reply
from ragstone.llm.limits import Bucket, Limited, Limiter
from ragstone.testing import FakeLLM
from tests.http.loopback import completion
from tests.llm.asking import ask, request

SLOW_DOWN = LLMBusyError("429", slow_down=True)


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_never_more_in_flight_than_allowed(loopback):
    loopback.delay_s = 0.01
    ask(loopback, *(request(str(number)) for number in range(60)), concurrency=5)
    assert (loopback.most_in_flight, len(loopback.asked)) == (5, 60)


def test_all_places_are_used_in_order():
    async def work():
        limiter, order, most = Limiter(3), [], 0

        async def one(number):
            nonlocal most
            began = await limiter.enter()
            order.append(number)
            most = max(most, limiter._active)
            await asyncio.sleep(0)
            limiter.leave(began)

        await asyncio.gather(*map(one, range(20)))
        assert limiter._active == 0
        return order, most

    assert asyncio.run(work()) == (list(range(20)), 3)


def test_halved_once_per_round_trip_and_never_below_one():
    async def work():
        clock = Clock()
        limiter = Limiter(16, clock=clock)
        seen = []
        for _ in range(6):
            starts = [await limiter.enter() for _ in range(limiter.allowed)]
            clock.now += 1
            for began in starts:
                limiter.leave(began, SLOW_DOWN)
            clock.now += 1
            seen.append(limiter.allowed)
        return seen

    assert asyncio.run(work()) == [8, 4, 2, 1, 1, 1]


def test_grows_back_by_one_per_round_trip_and_no_further():
    async def work():
        limiter = Limiter(4, clock=Clock())
        limiter._allowed = 1.0
        seen = []
        for _ in range(5):
            for _ in range(limiter.allowed):
                limiter.leave(await limiter.enter())
            seen.append(limiter.allowed)
        return seen

    assert asyncio.run(work()) == [2, 2, 3, 4, 4]


@pytest.mark.parametrize(
    ("error", "allowed"),
    [(LLMBusyError("late", timed_out=True), 4), (LLMBusyError("500"), 8), (LLMRefusedError("400"), 8), (SLOW_DOWN, 4)],
)
def test_what_slows_down(error, allowed):
    async def work():
        limiter = Limiter(8)
        limiter.leave(await limiter.enter(), error)
        return limiter.allowed

    assert asyncio.run(work()) == allowed


def test_backs_off_and_recovers_against_a_real_server(loopback):
    """A server that bears four at once refuses the rest: the number in flight comes down, and all are answered."""
    loopback.delay_s = 0.005
    loopback.handler = lambda asked: completion() if loopback.in_flight <= 4 else (429, {})
    replies = ask(loopback, *(request(str(number)) for number in range(300)), concurrency=32)
    assert {reply.text for reply in replies} == {"fine"}
    assert len(loopback.asked) < 600  # without backing off most requests would be refused many times


def test_a_wait_that_one_is_told_holds_for_all(loopback):
    refused = []

    def once(asked):
        if not refused:
            refused.append(asked)
            return 429, {}, {"Retry-After": "0.4"}
        return completion()

    loopback.handler = once
    ask(loopback, *(request(str(number)) for number in range(8)), concurrency=1)
    first, *others = [asked.at for asked in loopback.asked]
    assert len(others) == 8
    assert min(others) - first >= 0.39


def test_a_cancelled_waiter_takes_no_place():
    async def work():
        limiter = Limiter(1)
        began = await limiter.enter()
        waiting = [asyncio.create_task(limiter.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        limiter.leave(began)
        waiting[1].cancel()  # its place was given to it in this very moment
        await asyncio.sleep(0)
        limiter.leave(await asyncio.wait_for(waiting[2], 1))
        return limiter._active

    assert asyncio.run(work()) == 0


def test_cancelled_while_waiting_for_the_rate():
    async def work():
        limiter = Limiter(2, requests_per_minute=1)
        limiter.leave(await limiter.enter())
        task = asyncio.create_task(limiter.enter())
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return limiter._active

    assert asyncio.run(work()) == 0


def test_a_bucket_by_hand():
    """120 a minute are two a second; two may go at once, the third waits half a second, the fourth a whole one."""
    clock = Clock()
    bucket = Bucket(120, clock)
    assert [bucket.take(1) for _ in range(4)] == [0, 0, 0.5, 1]
    clock.now += 1
    assert bucket.take(1) == pytest.approx(0.5)
    clock.now += 3600
    assert [bucket.take(1) for _ in range(3)] == [0, 0, 0.5]


def test_what_was_taken_too_much_is_given_back():
    bucket = Bucket(60, Clock())
    assert bucket.take(31) == 30
    bucket.give_back(30)
    assert bucket.take(1) == 1


def test_requests_per_minute(loopback):
    """300 a minute: five at once, then one every 0.2 s, so that the eighth is sent after 0.6 s."""
    started = time.monotonic()
    ask(loopback, *(request(str(number)) for number in range(8)), requests_per_minute=300)
    times = sorted(asked.at - started for asked in loopback.asked)
    assert times[4] < times[5]
    assert 0.19 < times[5] < times[6] < times[7]
    assert 0.59 < times[7] < 15


def test_tokens_per_minute_are_estimated_and_corrected():
    async def work():
        clock = Clock()
        limiter = Limiter(8, tokens_per_minute=6000, clock=clock)
        llm = Limited(FakeLLM(lambda _: Reply("four", "fake", input_tokens=70, output_tokens=20)), limiter)
        await llm.complete(request("What is 2 + 2?", guess="four"))
        return limiter._tokens._level

    # 6000 a minute is 100 a second, and a second's worth was there.
    assert asyncio.run(work()) == pytest.approx(100 - 90)


def test_tokens_of_a_reply_without_usage_and_of_a_failure_stay_estimated():
    async def work(*replies):
        limiter = Limiter(8, tokens_per_minute=6000, clock=Clock())
        llm = Limited(FakeLLM(replies), limiter)
        await asyncio.gather(llm.complete(request("one two three")), return_exceptions=True)
        return limiter._tokens._level

    assert asyncio.run(work("four")) == asyncio.run(work(LLMRefusedError("no"))) == 100 - 10


@pytest.mark.slow
def test_a_long_wait_of_one_call_does_not_pause_the_others(loopback, monkeypatch):
    monkeypatch.setattr("ragstone.llm.limits._PROBE_S", 0.1)
    monkeypatch.setattr("ragstone.llm.limits._POLL_S", 0.05)

    def unlucky(asked):
        return (429, {}, {"Retry-After": "30"}) if '"unlucky"' in asked.body.decode() else completion()

    loopback.handler = unlucky
    started = time.perf_counter()
    requests = [request(name) for name in ("unlucky", *map(str, range(20)))]
    replies = ask(loopback, *requests, concurrency=2, deadline_s=9)
    assert [type(reply) for reply in replies] == [LLMStoppedError, *[Reply] * 20]
    asked = [one.at for one in loopback.asked]
    assert asked[-1] - asked[0] < 8.0, time.perf_counter() - started


def test_while_the_server_refuses_one_call_at_a_time_is_sent(loopback, monkeypatch):
    monkeypatch.setattr("ragstone.llm.limits._PROBE_S", 0.1)
    monkeypatch.setattr("ragstone.llm.limits._POLL_S", 0.05)
    loopback.handler = lambda asked: (429, {}, {"Retry-After": "30"})
    ask(loopback, *(request(str(number)) for number in range(20)), concurrency=1, deadline_s=1.0)
    # One at the start, then after 0.1, 0.2 and 0.4 s.
    assert 2 <= len(loopback.asked) <= 4
