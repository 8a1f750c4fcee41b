"""Many questions through one system: so many at once, each with an outcome; a failure is a row with its reason."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ragstone.data.types import Chunk
from ragstone.llm.answers import Answer
from ragstone.llm.failures import LLMError
from ragstone.llm.recording import Call, record_calls
from ragstone.llm.systems import System


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to a system; `id` says which one, `contexts` are passages to answer from."""

    id: str
    question: str
    contexts: list[Chunk] | None = None
    documents: list[str] = field(default_factory=list)
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer, or the reason why there is none; and what it took."""

    asked: Asked
    answer: Answer | None
    error: str | None = None
    seconds: float = 0.0
    calls: tuple[Call, ...] = ()

    @property
    def cached(self) -> bool:
        """Whether no call was made for it."""
        return bool(self.calls) and all(call.cached for call in self.calls)

    @property
    def cost_usd(self) -> float | None:
        """What it cost; None where nobody knows."""
        costs = [call.cost_usd for call in self.calls if call.error is None]
        return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)


async def answer_all(
    system: System,
    questions: Iterable[Asked],
    concurrency: int,
    told: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """The outcomes in the order of the questions; `told` hears of each as soon as it is there.

    What is wrong for all questions alike (a key, an address) is raised.
    """
    waiting = enumerate(questions)
    found: dict[int, Outcome] = {}

    async def work(places: Iterator[tuple[int, Asked]]) -> None:
        for place, asked in places:
            found[place] = await _answer(system, asked)
            if told is not None:
                told(found[place])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, concurrency)):
                group.create_task(work(waiting))
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [found[place] for place in sorted(found)]


async def _answer(system: System, asked: Asked) -> Outcome:
    calls: list[Call] = []
    started = time.perf_counter()
    answer, error = None, None
    with record_calls(calls, asked.id, "system"):
        try:
            answer = await system.answer(asked.question, asked.contexts, asked.documents, asked.repeat)
        except LLMError as failure:
            error = str(failure)
    return Outcome(asked, answer, error, time.perf_counter() - started, tuple(calls))
