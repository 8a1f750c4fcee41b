"""Decisions of a cascade are counted where they were made."""

import asyncio

from ragstone.engine.results import add_up
from ragstone.llm.cascade_tally import Tally, tally_decisions, tally_into


def test_decisions_are_added_to_the_current_tally_only():
    one, other = Tally(), Tally()

    async def work():
        with tally_into(one):
            await asyncio.gather(asyncio.sleep(0), asyncio.to_thread(tally_decisions, [0.9, 0.8], 1, 2))
            with tally_into(other):
                tally_decisions([0.5], 0, 1)
        tally_decisions([1.0], 9, 9)

    asyncio.run(work())
    assert (one.decided, one.passed_on, one.calls_saved) == (2, 1, 2)
    assert (other.decided, other.passed_on, other.calls_saved) == (1, 0, 1)
    total = add_up([one, other]).totals()
    assert (total["decided_locally"], total["passed_on"], total["calls_saved"]) == (3, 1, 3)
    assert total["estimated_agreement"] == round((0.9 + 0.8 + 0.5 + 1) / 4, 4)


def test_without_decisions_there_is_no_agreement():
    assert Tally().totals()["estimated_agreement"] is None
