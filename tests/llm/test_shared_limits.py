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
        await DistantLimiter("one", ask, tell, counts_tokens=False).enter()
        waiting = asyncio.ensure_future(DistantLimiter("other", ask, tell, counts_tokens=False).enter())
        await asyncio.sleep(0.01)
        assert not waiting.done()
        await referee.join("one")
        await asyncio.wait_for(waiting, 1)

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
        one, other = (DistantBudget(1.0, name, ask, tell) for name in ("one", "other"))
        await one.reserve(0.4)
        await other.reserve(0.5)
        other.settle(0.5, 0.1)
        await asyncio.sleep(0.01)
        assert await referee.spent_usd() == pytest.approx(0.1)
        await referee.join("one")
        assert await referee.spent_usd() == pytest.approx(0.5)
        await other.reserve(0.45)
        with pytest.raises(LLMStoppedError, match=r"the budget of 1 usd is spent"):
            await one.reserve(0.6)

    asyncio.run(main())
