"""One limit and one budget for many workers, and what happens to the places and the money of one that dies."""

import asyncio

import pytest

from ragstone.llm.base import LLMBusyError, LLMStoppedError
from ragstone.llm.shared_limits import DistantBudget, DistantLimiter, Referee, Rules


def ways_to(referee):
    """How a worker reaches a referee that lives next door."""

    async def ask(method, *arguments):
        return await getattr(referee, method)(*arguments)

    def tell(method, *arguments):
        told.append(asyncio.ensure_future(getattr(referee, method)(*arguments)))

    told = []
    return ask, tell


def test_places_are_counted_over_all_workers():
    async def main():
        referee = Referee(Rules(2, None, None, None))
        ask, tell = ways_to(referee)
        one, other = (DistantLimiter(name, ask, tell, counts_tokens=False) for name in ("one", "other"))
        began = await one.enter()
        await other.enter()
        third = asyncio.ensure_future(one.enter())
        await asyncio.sleep(0.01)
        assert not third.done()
        one.leave(began)
        await asyncio.wait_for(third, 1)

    asyncio.run(main())


def test_a_worker_that_comes_back_has_no_places_left():
    async def main():
        referee = Referee(Rules(1, None, None, None))
        ask, tell = ways_to(referee)
        await referee.join("one/1")
        dead, other, again = (
            DistantLimiter(name, ask, tell, counts_tokens=False) for name in ("one/1", "other/1", "one/2")
        )
        await dead.enter()
        # The calls of the dead process that still wait get the slot first; they give it back.
        orphans = [asyncio.ensure_future(dead.enter()) for _ in range(3)]
        waiting = asyncio.ensure_future(other.enter())
        await asyncio.sleep(0.01)
        assert not any(one.done() for one in (*orphans, waiting))
        await referee.join("one/2")
        other.leave(await asyncio.wait_for(waiting, 1))
        began = await asyncio.wait_for(again.enter(), 1)
        # What the dead process sent late releases nothing.
        await referee.leave("one/1", 0, 0.0, None, [0, 0])
        late = asyncio.ensure_future(other.enter())
        await asyncio.sleep(0.01)
        assert not late.done()
        again.leave(began)
        await asyncio.wait_for(late, 1)

    asyncio.run(main())


def test_a_server_that_asks_for_less_is_heard_by_all():
    async def main():
        referee = Referee(Rules(4, None, None, None))
        ask, tell = ways_to(referee)
        one, other = (DistantLimiter(name, ask, tell, counts_tokens=False) for name in ("one", "other"))
        began = await one.enter()
        one.leave(began, LLMBusyError("429", slow_down=True))
        await asyncio.sleep(0.01)
        # Half as many as before: two.
        await other.enter()
        await other.enter()
        third = asyncio.ensure_future(other.enter())
        await asyncio.sleep(0.01)
        assert not third.done()
        third.cancel()

    asyncio.run(main())


def test_money_is_counted_over_all_workers_and_that_of_the_dead_is_spent():
    async def main():
        referee = Referee(Rules(4, None, None, 1.0))
        ask, tell = ways_to(referee)
        one, other = (DistantBudget(1.0, name, ask, tell) for name in ("one/1", "other/1"))
        await referee.join("one/1")
        await one.reserve(0.4)
        await other.reserve(0.5)
        other.settle(0.5, 0.1)
        await asyncio.sleep(0.01)
        assert (await referee.spent())[0] == pytest.approx(0.1)
        await referee.join("other/1")
        await other.reserve(0.2)
        late = asyncio.ensure_future(one.reserve(0.4))
        await asyncio.sleep(0.01)
        assert not late.done()
        await referee.join("one/2")
        assert (await referee.spent())[0] == pytest.approx(0.5)
        # What a call of the dead process waited for is free again.
        other.settle(0.2, 0.0)
        await asyncio.wait_for(late, 1)
        await asyncio.wait_for(other.reserve(0.45), 1)
        with pytest.raises(LLMStoppedError, match=r"the budget of 1 usd is spent"):
            await one.reserve(0.6)

    asyncio.run(main())
