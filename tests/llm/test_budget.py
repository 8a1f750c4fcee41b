"""Money and time: never more than allowed, whatever runs at the same time."""

import asyncio
import time

import pytest

from ragstone.errors import UsageError
from ragstone.llm.budget import Budget, Budgeted, Deadline, parse_budget
from ragstone.llm.failures import LLMBusyError, LLMStoppedError
from ragstone.llm.prices import Price, Prices
from ragstone.testing import FakeLLM
from tests.http.loopback import DRIP, HANG, completion
from tests.llm.asking import MODEL, ask, request

# A dollar a token, so that sums are easy.
DEAR = Prices({MODEL: Price(1e6, 1e6), "fake/model": Price(1e6, 1e6)})


@pytest.mark.parametrize(
    ("text", "usd"),
    [
        ("5usd", 5),
        ("5 USD", 5),
        ("$5", 5),
        ("0.5", 0.5),
        (" 0.50 usd ", 0.5),
        (".5usd", 0.5),
        ("5$", 5),
        (3, 3),
        (1e-5, 1e-5),
    ],
)
def test_ways_to_write_a_budget(text, usd):
    assert parse_budget(text).limit_usd == usd


@pytest.mark.parametrize(
    "text", ["", "0", "0usd", "-1", "5eur", "usd", "1e9usd", "five", "5 5", 0, -2.0, float("nan"), float("inf")]
)
def test_what_is_no_budget(text):
    with pytest.raises(UsageError, match=r"is no budget. Write an amount of US dollars, such as 5usd"):
        parse_budget(text)


def test_costs_are_those_of_the_table(loopback):
    prices = Prices({MODEL: Price(0.15, 0.6)})
    assert ask(loopback, prices=prices).cost_usd == pytest.approx((10 * 0.15 + 2 * 0.6) / 1e6)
    assert ask(loopback, prices=Prices()).cost_usd is None
    assert ask(loopback, model="ollama/llama", prices=Prices()).cost_usd == 0


def test_a_reply_without_usage_is_priced_by_estimate(loopback):
    loopback.handler = lambda asked: completion("one two three four", usage=None)
    reply = ask(loopback, request("one two three four five"), prices=DEAR)
    # 5 words and 4 words at 0.91, 4 for the message and 3 for the conversation.
    assert reply.cost_usd == round(5 * 0.91) + 7 + round(4 * 0.91)
    assert (reply.input_tokens, reply.output_tokens) == (None, None)


@pytest.mark.parametrize("at_once", [1, 3, 16])
def test_parallel_calls_cannot_exceed_it(loopback, at_once):
    """Each call costs 12 and may cost 27.3: 1.3 times the 11 tokens that are sent, and 13 that may come back.

    When six are paid for, 72, there is room for a seventh; then 84 + 27.3 is more than 100.
    """
    loopback.delay_s = 0.003
    budget = Budget(100)
    replies = ask(
        loopback,
        *(request(f"{number} what?", max_tokens=13) for number in range(40)),
        concurrency=at_once,
        budget=budget,
        prices=DEAR,
    )
    good = [reply for reply in replies if not isinstance(reply, Exception)]
    stopped = [reply for reply in replies if isinstance(reply, LLMStoppedError)]
    assert len(good) + len(stopped) == 40
    assert len(good) == len(loopback.asked) == 7
    assert (budget.spent_usd, budget.calls) == (84, 7)
    assert str(stopped[-1]).startswith("the budget of 100 usd is spent: 84.0000 usd so far, and the next call could")


def test_when_it_is_spent_no_smaller_call_is_made():
    async def work():
        budget = Budget(10)
        with pytest.raises(LLMStoppedError):
            await budget.reserve(11)
        with pytest.raises(LLMStoppedError):
            await budget.reserve(1)

    asyncio.run(work())


def test_waiting_calls_are_stopped_when_it_is_spent():
    async def work():
        budget = Budget(10)
        await budget.reserve(8)
        waiting = [asyncio.create_task(budget.reserve(5)) for _ in range(2)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        budget.settle(8, 8)
        return await asyncio.gather(*waiting, return_exceptions=True)

    assert [type(found) for found in asyncio.run(work())] == [LLMStoppedError] * 2


def test_failures_cost_nothing_and_free_what_was_set_aside():
    async def work():
        budget = Budget(1500)
        llm = Budgeted(FakeLLM([LLMBusyError("no"), "yes"]), DEAR, budget)
        with pytest.raises(LLMBusyError):
            await llm.complete(request())
        assert (budget.spent_usd, budget._reserved) == (0, 0)
        await llm.complete(request())
        return budget._reserved, budget.spent_usd

    reserved, spent = asyncio.run(work())
    assert reserved == 0
    assert spent > 0


def test_a_call_that_is_cut_off_counts_as_spent(loopback):
    """The server may go on and charge for it."""
    loopback.handler = lambda asked: HANG
    budget = Budget(1000)
    ask(loopback, request(max_tokens=10), budget=budget, prices=DEAR, deadline_s=0.2)
    assert 10 < budget.spent_usd < 40


def test_what_is_set_aside_grows_with_the_longest_reply():
    async def work():
        from ragstone.llm.base import Reply

        llm = Budgeted(FakeLLM([Reply("", "fake", 1, 8000)]), DEAR, Budget(1e9))
        before = llm._most_usd(request(), Price(0, 1e6)), llm._most_usd(request(guess="word " * 1000), Price(0, 1e6))
        await llm.complete(request())
        return *before, llm._most_usd(request(), Price(0, 1e6)), llm._most_usd(request(max_tokens=9), Price(0, 1e6))

    assert asyncio.run(work()) == (1024, 3 * 910, 10_000, 9)


def test_a_model_without_a_price_is_refused_with_the_way_to_give_one():
    with pytest.raises(UsageError, match="the price of openai/nameless is not known") as raised:
        ask("http://localhost:1", model="openai/nameless", budget=Budget(1))
    assert '"openai/nameless" = [' in str(raised.value)
    assert "RAGSTONE_PRICES=" in str(raised.value)


@pytest.mark.parametrize("trouble", [HANG, DRIP])
def test_calls_in_flight_and_waiting_end_at_the_deadline(loopback, trouble):
    loopback.handler = lambda asked: trouble
    started = time.perf_counter()
    errors = ask(loopback, *(request(str(number)) for number in range(8)), concurrency=2, deadline_s=0.3, timeout_s=60)
    assert 0.25 < time.perf_counter() - started < 2
    assert [type(error) for error in errors] == [LLMStoppedError] * 8
    assert {str(error) for error in errors} == {
        "the deadline of 0.3 s has passed. Run again to go on: what was answered is not asked again."
    }
    assert len(loopback.asked) == 2


def test_after_the_deadline_nothing_is_asked():
    async def work():
        now = 0.0
        llm = FakeLLM(["yes"])
        budgeted = Budgeted(llm, Prices(), None, Deadline(5, lambda: now))
        assert (await budgeted.complete(request())).text == "yes"
        now = 5.0
        with pytest.raises(LLMStoppedError):
            await budgeted.complete(request())
        return len(llm.requests)

    assert asyncio.run(work()) == 1


def test_a_timeout_of_somebody_else_is_not_the_deadline():
    async def work():
        async with Deadline(5).watch():
            raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        asyncio.run(work())
