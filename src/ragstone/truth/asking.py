"""A language model at work on ground truth: opened through the gateway, asked about many things at once, each failure kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ragstone.engine.judging import JudgingOptions, gateway_settings
from ragstone.engine.progress import Progress, Report
from ragstone.engine.roles import choose
from ragstone.errors import UsageError
from ragstone.llm.failures import LLMError
from ragstone.llm.gateway import Gateway
from ragstone.llm.judge import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.llm.recording import Call, record_calls

T = TypeVar("T")
R = TypeVar("R")
DEFAULT_CONCURRENCY = 16


@dataclass(frozen=True)
class Work:
    """How a model is asked: which one, under what limits, and whether it is only said what it would cost."""

    judge: Any
    options: JudgingOptions = field(default_factory=JudgingOptions)
    concurrency: int = DEFAULT_CONCURRENCY
    quoting: bool = False


@dataclass(frozen=True)
class Done(Generic[R]):
    """What came of one item, or the reason why nothing did."""

    value: R | None
    reason: str | None = None


def is_local(judge: Any) -> bool:
    """Whether nobody is to be asked but the models on this machine; a ladder is refused."""
    chosen = choose(judge)
    if chosen.is_ladder:
        raise UsageError(f"'{judge}': a ladder of judges cannot write. Name one model, or local.")
    return chosen.remote is None


@asynccontextmanager
async def opened_judge(work: Work) -> AsyncIterator[Judge]:
    """The model with the prompts, until the end of the block."""
    gateway = Gateway(gateway_settings(work.options, work.concurrency), quoting=work.quoting)
    folder = work.options.get("prompts")
    try:
        yield Judge(gateway.open_llm(work.judge), PromptBook(None if folder is None else str(folder)))
    finally:
        await gateway.close()


async def ask_each(
    items: Sequence[tuple[str, T]],
    ask: Callable[[T], Awaitable[R]],
    work: Work,
    calls: list[Call],
    told: Report,
) -> list[Done[R]]:
    """What came of each item, in their order; calls are added to the list under the item's name."""
    gate = asyncio.Semaphore(work.concurrency)
    finished = 0

    async def one(name: str, item: T) -> Done[R]:
        nonlocal finished
        async with gate:
            try:
                with record_calls(calls, name, "truth"):
                    found = Done(await ask(item))
            except LLMError as error:
                found = Done(None, str(error))
        finished += 1
        told(Progress("asking", finished, len(items)))
        return found

    return list(await asyncio.gather(*(one(name, item) for name, item in items)))
