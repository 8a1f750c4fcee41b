"""Several calls at once, of which none is left running when one has failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

Result = TypeVar("Result")


async def side_by_side(work: Iterable[Awaitable[Result]]) -> list[Result]:
    """The results in order, or the first failure, when all have ended: what the others were told is paid for and worth keeping."""
    found = await asyncio.gather(*work, return_exceptions=True)
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return [one for one in found if not isinstance(one, BaseException)]
