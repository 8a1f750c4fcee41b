"""Asks a user's system many questions from synchronous code, or estimates the cost."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from ragstone.data.types import Chunk, Turn
from ragstone.engine.evaluate import check_backend
from ragstone.engine.execute import run_to_end
from ragstone.engine.progress import Progress, Report, silent
from ragstone.engine.quote import sample_positions, sum_calls
from ragstone.llm.answers import Answer
from ragstone.llm.base import LLMError
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.llm.wrappers import Call, record_calls
from ragstone.tools.open_tools import gateway_settings

if TYPE_CHECKING:
    from ragstone.llm.gateway import Gateway
    from ragstone.llm.systems import System
    from ragstone.tools.judging_options import JudgingOptions


DEFAULT_CONCURRENCY = 8


class SystemOptions(TypedDict, total=False):
    """How a user's system is asked."""

    # A file with the text that a bare model is asked with.
    template: str | os.PathLike[str] | None
    # Identifies the state of a system whose code cannot be read.
    version: str | None
    base_url: str | Sequence[str] | None
    concurrency: int
    timeout_s: float
    deadline_s: float | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    # An amount, or a Budget that several calls share.
    budget: Any
    # False: answers of earlier runs are not used.
    cache: bool
    # Passed to the system by name.
    parameters: Mapping[str, Any] | None
    # Where the system runs: local, or on the workers of ray.
    backend: str
    workers: int | None


@dataclass(frozen=True)
class Asking:
    """A system's outcomes, one per question, in the order of the questions."""

    system: str
    signature: str
    outcomes: list[SystemReply]
    problem: str | None = None

    @property
    def failures(self) -> list[SystemReply]:
        """Those without an answer."""
        return [outcome for outcome in self.outcomes if outcome.answer is None]

    @property
    def cached(self) -> int:
        """How many were answered in an earlier run."""
        return sum(outcome.cached for outcome in self.outcomes)

    @property
    def cost_usd(self) -> float | None:
        """The total cost; None if the cost of one answer is unknown."""
        costs = [outcome.cost_usd for outcome in self.outcomes]
        return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)


@dataclass(frozen=True)
class SystemQuote:
    """Estimated cost of asking a system."""

    system: str
    questions: int
    calls: float
    input_tokens: float
    output_tokens: float
    # None: the price is unknown.
    cost_usd: float | None
    seconds: float


def describe_system(spec: Any, **options: Unpack[SystemOptions]) -> tuple[str, str]:
    """The name and the signature of a system; raises an error if the system is misconfigured, before any call."""
    system, _ = _open(spec, options, quoting=True)
    return system.name, system.signature


def ask_system(
    spec: Any,
    questions: Sequence[Asked],
    *,
    needs_contexts: bool = False,
    progress: Report = silent,
    told: Callable[[SystemReply], None] | None = None,
    **options: Unpack[SystemOptions],
) -> Asking:
    """Ask a system all questions; `told` is called with each outcome as it arrives."""
    done = -1

    def report(outcome: SystemReply | None) -> None:
        nonlocal done
        done += 1
        if told is not None and outcome is not None:
            told(outcome)
        progress(Progress("asking", done, len(questions)))

    if check_backend(options.get("backend", "local"), options.get("workers")) == "ray":
        system, _ = _open(spec, options, quoting=True)
        if needs_contexts:
            system.require_contexts()
        report(None)
        return Asking(system.name, system.signature, _ask_on_ray(spec, questions, options, report))
    system, outcomes, problem = run_to_end(_ask(spec, questions, needs_contexts, options, report))
    return Asking(system.name, system.signature, outcomes, problem)


def _ask_on_ray(
    spec: Any, questions: Sequence[Asked], options: SystemOptions, report: Callable[[SystemReply], None]
) -> list[SystemReply]:
    from ragstone.engine.backends.ray import Job, share_out  # noqa: PLC0415  (slow import)

    def start(shared: Callable[[], Mapping[str, Any]]) -> Callable[[Any], list[tuple[int, SystemReply]]]:
        (system, _), loop = _open(spec, options, shared=shared()), asyncio.new_event_loop()

        def ask(block: Sequence[tuple[int, Asked]]) -> list[tuple[int, SystemReply]]:
            answers = loop.run_until_complete(answer_all(system, [one for _, one in block], _concurrency(options)))
            return [(position, answer) for (position, _), answer in zip(block, answers, strict=True)]

        return ask

    users = {} if isinstance(spec, str) else {"the system": spec}
    job = Job(start, options, _concurrency(options), _concurrency(options), options.get("workers"), users)
    outcomes: dict[int, SystemReply] = {}
    for position, outcome in share_out(job, list(enumerate(questions))):
        outcomes[position] = outcome
        report(outcome)
    return [outcomes[position] for position in sorted(outcomes)]


def quote_system(
    spec: Any, questions: Sequence[Asked], *, needs_contexts: bool = False, **options: Unpack[SystemOptions]
) -> SystemQuote:
    """Calls, tokens, money and time that `ask_system` would take. No call is made; what the cache has costs nothing."""
    chosen = [questions[position] for position in sample_positions(len(questions))]
    system, outcomes, _ = run_to_end(_ask(spec, chosen, needs_contexts, options, quoting=True))
    calls = [call for outcome in outcomes for call in outcome.calls if not call.cached]
    line = sum_calls(system.name, calls, _concurrency(options), len(questions) / max(len(chosen), 1))
    return SystemQuote(
        system=system.name,
        questions=len(questions),
        calls=line.calls,
        input_tokens=line.input_tokens,
        output_tokens=line.output_tokens,
        cost_usd=line.cost_usd if system.is_priced else None,
        seconds=line.seconds,
    )


async def _ask(
    spec: Any,
    questions: Sequence[Asked],
    needs_contexts: bool,
    options: SystemOptions,
    report: Callable[[SystemReply | None], None] = lambda _: None,
    quoting: bool = False,
) -> tuple[System, list[SystemReply], str | None]:
    """The system, its outcomes, and a problem that did not stop the run; `report` is called with None before the first call."""
    system, gateway = _open(spec, options, quoting)
    try:
        if needs_contexts:
            system.require_contexts()
        report(None)
        return system, await answer_all(system, questions, _concurrency(options), report), gateway.problem
    finally:
        await gateway.close()


def _concurrency(options: SystemOptions) -> int:
    return max(1, options.get("concurrency", DEFAULT_CONCURRENCY))


def _open(
    spec: Any, options: SystemOptions, quoting: bool = False, shared: Mapping[str, Any] | None = None
) -> tuple[System, Gateway]:
    """The system, and the gateway that the caller closes; a gateway without calls has nothing to close."""
    from ragstone.llm.gateway import Gateway  # noqa: PLC0415
    from ragstone.llm.systems import open_system  # noqa: PLC0415

    settings = gateway_settings(cast("JudgingOptions", options), _concurrency(options))
    gateway = Gateway(replace(settings, **(shared or {})), quoting=quoting)
    template, version, parameters = options.get("template"), options.get("version"), options.get("parameters")
    return open_system(spec, gateway, template, version, parameters), gateway


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to a system. `contexts` are passages to answer from."""

    id: str
    question: str
    contexts: list[Chunk] | None = None
    documents: list[str] = field(default_factory=list)
    repeat: int = 0
    # The earlier turns of its conversation.
    history: list[Turn] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SystemReply:
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
    on_outcome: Callable[[SystemReply], None] | None = None,
) -> list[SystemReply]:
    """Return the outcomes in the order of the questions. `on_outcome` is called with each outcome as soon as it is known.

    Errors that affect all questions, such as a wrong key, are raised.
    """
    waiting = enumerate(questions)
    outcomes: dict[int, SystemReply] = {}

    async def work() -> None:
        for position, asked in waiting:
            outcomes[position] = await answer_one(system, asked)
            if on_outcome is not None:
                on_outcome(outcomes[position])

    await gather_or_cancel(work() for _ in range(max(1, concurrency)))
    return [outcomes[position] for position in sorted(outcomes)]


async def answer_one(system: System, asked: Asked) -> SystemReply:
    """Ask one question; an LLMError becomes the reason for a missing answer."""
    calls: list[Call] = []
    started = time.perf_counter()
    answer, error = None, None
    with record_calls(calls, asked.id, "system"):
        try:
            answer = await system.answer(asked.question, asked.contexts, asked.documents, asked.repeat, asked.history)
        except LLMError as failure:
            error = str(failure)
    return SystemReply(asked, answer, error, time.perf_counter() - started, tuple(calls))
