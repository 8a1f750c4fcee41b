"""Ask one system many questions concurrently. A failure is an outcome with its reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ragstone.data.types import Chunk
from ragstone.llm.answers import Answer
from ragstone.llm.base import LLMError
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.llm.systems import System
from ragstone.llm.wrappers import Call, record_calls


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to a system. `contexts` are passages to answer from."""

    id: str
    question: str
    contexts: list[Chunk] | None = None
    documents: list[str] = field(default_factory=list)
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer or the reason why there is none, with its duration and calls."""

    asked: Asked
    answer: Answer | None
    error: str | None = None
    seconds: float = 0.0
    calls: tuple[Call, ...] = ()

    @property
    def cached(self) -> bool:
        """Whether all calls were answered from the cache."""
        return bool(self.calls) and all(call.cached for call in self.calls)

    @property
    def cost_usd(self) -> float | None:
        """The cost, or None if unknown."""
        costs = [call.cost_usd for call in self.calls if call.error is None]
        return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)


async def answer_all(
    system: System,
    questions: Iterable[Asked],
    concurrency: int,
    on_outcome: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Return the outcomes in the order of the questions. `on_outcome` is called with each outcome as soon as it is known.

    Errors that affect all questions, such as a wrong key, are raised.
    """
    waiting = enumerate(questions)
    outcomes: dict[int, Outcome] = {}

    async def work() -> None:
        for position, asked in waiting:
            outcomes[position] = await _answer(system, asked)
            if on_outcome is not None:
                on_outcome(outcomes[position])

    await gather_or_cancel(work() for _ in range(max(1, concurrency)))
    return [outcomes[position] for position in sorted(outcomes)]


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
