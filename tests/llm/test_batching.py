"""Single items gathered into batches."""

import asyncio
import time

import pytest

from ragstone.llm.batching import Batcher


def run(count, size, parallel, work):
    async def all_of_them():
        batcher = Batcher(work, size, parallel)
        return await asyncio.gather(*map(batcher.submit, range(count)), return_exceptions=True)

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(("size", "parallel"), [(1, 1), (4, 1), (4, 3), (100, 2)])
def test_sizes_and_number_at_once(size, parallel):
    sizes, running, most = [], 0, 0

    async def work(items):
        nonlocal running, most
        running += 1
        most = max(most, running)
        sizes.append(len(items))
        await asyncio.sleep(0.001)
        running -= 1
        return [item * 2 for item in items]

    assert run(30, size, parallel, work) == [number * 2 for number in range(30)]
    assert max(sizes) <= size
    assert most <= parallel
    assert sum(sizes) == 30


def test_a_failure_is_that_of_its_batch():
    async def work(items):
        if 0 in items:
            raise ValueError("zero")
        return items

    found = run(6, 3, 1, work)
    assert [type(one) for one in found] == [ValueError] * 3 + [int] * 3


def test_too_few_results_are_a_failure():
    async def work(items):
        return items[1:]

    assert isinstance(run(3, 3, 1, work)[-1], ValueError)


def test_one_alone_does_not_wait_long():
    async def work(items):
        return items

    started = time.perf_counter()
    assert run(1, 64, 1, work) == [0]
    assert time.perf_counter() - started < 0.5


def test_who_gave_up_is_left_out():
    seen = []

    async def work(items):
        seen.append(items)
        return items

    async def go():
        batcher = Batcher(work, 10, 1)
        tasks = [asyncio.create_task(batcher.submit(number)) for number in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(go())
    assert (found[0], found[2], seen) == (0, 2, [[0, 2]])
    assert isinstance(found[1], asyncio.CancelledError)
