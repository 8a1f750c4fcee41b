"""Many questions through one system."""

import asyncio

import pytest

from ragstone.engine.ask_system import Asked, answer_all
from ragstone.errors import StopRunError
from ragstone.llm.cache import Cache
from tests.llm.systems import using


def questions(count):
    return [Asked(f"q{number}", f"question {number}") for number in range(count)]


def test_outcomes_are_in_order_and_failures_stay_with_their_row():
    async def rag(question):
        number = int(question.split()[1])
        await asyncio.sleep(0.001 * (10 - number))
        if number % 3 == 0:
            raise ValueError(f"no luck with {number}")
        return question

    told = []
    found = using(rag, lambda system: answer_all(system, questions(10), 5, told.append))
    assert [outcome.asked.id for outcome in found] == [f"q{number}" for number in range(10)]
    assert [bool(outcome.error) for outcome in found] == [number % 3 == 0 for number in range(10)]
    assert all((outcome.answer is None) == bool(outcome.error) for outcome in found)
    assert "no luck with 9" in found[9].error
    assert {outcome.asked.id for outcome in told} == {outcome.asked.id for outcome in found}


def test_no_more_at_once_than_wanted():
    running = most = 0

    async def rag(question):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.002)
        running -= 1
        return question

    using(rag, lambda system: answer_all(system, questions(30), 3), concurrency=16)
    assert most == 3


def test_what_is_wrong_for_all_is_raised_as_itself():
    with pytest.raises(StopRunError, match="no-such-program"):
        using("cmd:no-such-program", lambda system: answer_all(system, questions(3), 2))


def test_cached_answers_are_told_apart(tmp_path):
    def rag(question):
        return question

    for cached in (False, True):
        found = using(rag, lambda system: answer_all(system, questions(3), 2), cache=Cache(tmp_path), version="1")
        assert [outcome.cached for outcome in found] == [cached] * 3
        assert [outcome.cost_usd for outcome in found] == [0.0] * 3
