"""Calls at once: in order, and none outlives the failure of another."""

import asyncio

import pytest

from ragstone.llm.side_by_side import side_by_side


async def say(word, after_s, ended):
    await asyncio.sleep(after_s)
    ended.append(word)
    if word == "bad":
        raise ValueError(word)
    return word


def test_results_come_in_order():
    ended = []
    assert asyncio.run(side_by_side(say(word, after_s, ended) for word, after_s in (("one", 0.02), ("two", 0)))) == [
        "one",
        "two",
    ]
    assert ended == ["two", "one"]


def test_a_failure_waits_for_the_others():
    ended = []

    async def main():
        with pytest.raises(ValueError, match="bad"):
            await side_by_side([say("bad", 0, ended), say("slow", 0.02, ended)])
        assert ended == ["bad", "slow"]

    asyncio.run(main())


def test_whoever_is_cancelled_cancels_them_all():
    ended = []

    async def main():
        task = asyncio.ensure_future(side_by_side([say("one", 10, ended), say("two", 10, ended)]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert ended == []
