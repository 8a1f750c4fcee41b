"""Concurrent calls: order of results, errors and cancellation."""

import asyncio
import sys
import threading

import pytest

from ragstone.llm.concurrency import gather_or_cancel, gather_then_raise, run_in_thread


async def say(word, after_s, ended):
    await asyncio.sleep(after_s)
    ended.append(word)
    if word == "bad":
        raise ValueError(word)
    return word


@pytest.mark.parametrize("gather", [gather_or_cancel, gather_then_raise])
def test_results_are_in_order(gather):
    ended = []
    words = asyncio.run(gather(say(word, after_s, ended) for word, after_s in (("one", 0.02), ("two", 0))))
    assert (words, ended) == (["one", "two"], ["two", "one"])


@pytest.mark.parametrize(("gather", "all_ended"), [(gather_or_cancel, ["bad"]), (gather_then_raise, ["bad", "slow"])])
def test_an_error_cancels_the_others_or_waits_for_them(gather, all_ended):
    ended = []

    async def main():
        with pytest.raises(ValueError, match="bad"):
            await gather([say("slow", 0.02, ended), say("bad", 0, ended)])
        assert ended == all_ended
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_the_first_of_several_errors_is_raised():
    async def fail(error):
        raise error

    with pytest.raises(KeyError):
        asyncio.run(gather_then_raise([fail(KeyError("a")), fail(ValueError("b"))]))


@pytest.mark.parametrize("gather", [gather_or_cancel, gather_then_raise])
def test_cancelling_the_caller_cancels_all_calls(gather):
    ended = []

    async def main():
        task = asyncio.ensure_future(gather([say("one", 10, ended), say("two", 10, ended)]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert ended == []


def test_run_in_thread_returns_and_raises():
    async def main():
        assert await run_in_thread(lambda a, b: (a, b, threading.current_thread().daemon), 1, b=2) == (1, 2, True)
        with pytest.raises(ZeroDivisionError):
            await run_in_thread(lambda: 1 / 0)
        with pytest.raises(RuntimeError, match="SystemExit"):
            await run_in_thread(sys.exit)
        with pytest.raises(RuntimeError, match="StopIteration"):
            await asyncio.wait_for(run_in_thread(next, iter(())), 60)

    asyncio.run(main())
