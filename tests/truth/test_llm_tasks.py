"""Many items are asked concurrently, and each failure stays with its item."""

import asyncio

import pytest

from ragstone.errors import UsageError
from ragstone.llm.base import LLMError
from ragstone.truth.llm_tasks import Done, Work, ask_each, is_local


def test_results_come_in_order_with_the_reason_of_each_failure():
    running, most, seen = 0, 0, []

    async def ask(number):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01 * (3 - number))
        running -= 1
        if number == 1:
            raise LLMError("no reply")
        return number * 10

    items = [(f"case {number}", number) for number in range(3)]
    done = asyncio.run(ask_each(items, ask, Work("local", concurrency=2), [], seen.append))
    assert done == [Done(0), Done(None, "no reply"), Done(20)]
    assert most == 2
    assert [progress.done for progress in seen] == [1, 2, 3]


def test_other_errors_are_raised():
    async def ask(_):
        raise ValueError("bug")

    with pytest.raises(ValueError, match="bug"):
        asyncio.run(ask_each([("a", 1)], ask, Work("local"), [], lambda _: None))


def test_local_models_and_cascades():
    assert is_local("local")
    assert not is_local("openai/gpt-4o-mini")
    with pytest.raises(UsageError, match="cascade"):
        is_local("local>openai/gpt-4o-mini")
