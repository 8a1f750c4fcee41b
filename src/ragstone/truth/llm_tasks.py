"""Runs a language model over many items of ground truth: through the gateway, concurrently, with errors per item."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from ragstone.engine.progress import Progress, Report
from ragstone.errors import UsageError
from ragstone.llm.base import LLMError
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.llm.gateway import Gateway
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import PromptBook
from ragstone.llm.wrappers import Call, record_calls
from ragstone.tools.judging_options import JudgingOptions
from ragstone.tools.llama import in_process
from ragstone.tools.model_options import ModelOptions
from ragstone.tools.open_tools import gateway_settings
from ragstone.tools.roles import choose

T = TypeVar("T")
R = TypeVar("R")
DEFAULT_CONCURRENCY = 16


@dataclass(frozen=True)
class Work:
    """The model and its limits; with `quoting`, only the cost is estimated."""

    judge: Any
    options: ModelOptions = field(default_factory=ModelOptions)
    concurrency: int = DEFAULT_CONCURRENCY
    quoting: bool = False
    # Where it runs: local, or on the workers of ray.
    backend: str = "local"
    workers: int | None = None
    # Limits that workers share, as settings of the gateway.
    shared: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Done(Generic[R]):
    """The result of one item, or the reason for its failure."""

    value: R | None
    reason: str | None = None


def is_local(judge: Any) -> bool:
    """Whether only local models are used; raises UsageError for a cascade."""
    chosen = choose(judge)
    if chosen.is_cascade:
        raise UsageError(f"'{judge}': a cascade of judges cannot write text. Name one model, or local.")
    return chosen.remote is None


@asynccontextmanager
async def opened_judge(work: Work) -> AsyncIterator[Judge]:
    """Opens the model with its prompts until the end of the block."""
    settings = gateway_settings(cast("JudgingOptions", work.options.keywords()), work.concurrency)
    gateway = Gateway(replace(settings, **work.shared), quoting=work.quoting)
    folder = work.options.prompts
    try:
        yield Judge(gateway.open_llm(in_process(work.judge)), PromptBook(None if folder is None else str(folder)))
    finally:
        await gateway.close()


async def ask_each(
    items: Sequence[tuple[str, T]], ask: Callable[[T], Awaitable[R]], work: Work, calls: list[Call], report: Report
) -> list[Done[R]]:
    """The result per item, in order; calls are added to `calls` under the item's name."""
    gate = asyncio.Semaphore(work.concurrency)
    finished = 0

    async def one(name: str, item: T) -> Done[R]:
        nonlocal finished
        async with gate:
            try:
                with record_calls(calls, name, "truth"):
                    done = Done(await ask(item))
            except LLMError as error:
                done = Done(None, str(error))
        finished += 1
        report(Progress("asking", finished, len(items)))
        return done

    return await gather_or_cancel(one(name, item) for name, item in items)
