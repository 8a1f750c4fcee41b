"""A user's system over many questions, from plain code: opened, asked, closed; or only quoted."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

import numpy as np

from ragstone.engine.execution import run_to_end
from ragstone.engine.judging import gateway_settings
from ragstone.engine.progress import Progress, Report, silent

if TYPE_CHECKING:
    from ragstone.engine.judging import JudgingOptions
    from ragstone.llm.answering import Asked, Outcome
    from ragstone.llm.gateway import Gateway
    from ragstone.llm.systems import System

DEFAULT_CONCURRENCY = 8
# More questions say little more about the mean, and take longer.
MOST_QUOTED = 300
_SECONDS_A_CALL, _SECONDS_A_TOKEN = 0.6, 0.012


class SystemOptions(TypedDict, total=False):
    """How a user's system is asked."""

    # A file with the text that a bare model is asked with.
    template: str | os.PathLike[str] | None
    # What tells one state of the system from the next where its code cannot be seen.
    version: str | None
    base_url: str | None
    concurrency: int
    timeout_s: float
    deadline_s: float | None
    requests_per_minute: float | None
    tokens_per_minute: float | None
    budget: str | float | None
    # False: answers of earlier runs are not used.
    cache: bool


@dataclass(frozen=True)
class Asking:
    """A system's outcomes, one a question and in their order."""

    system: str
    signature: str
    outcomes: list[Outcome]
    problem: str | None = None

    @property
    def failures(self) -> list[Outcome]:
        """Those without an answer."""
        return [outcome for outcome in self.outcomes if outcome.answer is None]

    @property
    def cached(self) -> int:
        """How many were answered in an earlier run."""
        return sum(outcome.cached for outcome in self.outcomes)

    @property
    def cost_usd(self) -> float | None:
        """What all of them cost; None where nobody knows."""
        costs = [outcome.cost_usd for outcome in self.outcomes]
        return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)


@dataclass(frozen=True)
class SystemQuote:
    """What asking a system would take."""

    system: str
    questions: int
    calls: float
    input_tokens: float
    output_tokens: float
    # None: what a call costs is known to the system alone, or its price is not.
    cost_usd: float | None
    seconds: float


def describe_system(spec: Any, **options: Unpack[SystemOptions]) -> tuple[str, str]:
    """The name and the signature of a system; complains about what is wrong with it before anything is asked."""
    gateway = _open_gateway(options, quoting=True)
    system = _open(spec, gateway, options)
    return system.name, system.signature


def ask_system(
    spec: Any,
    questions: Sequence[Asked],
    *,
    needs_contexts: bool = False,
    progress: Report = silent,
    told: Callable[[Outcome], None] | None = None,
    **options: Unpack[SystemOptions],
) -> Asking:
    """What a system answers to all questions; `told` hears of each outcome when it is there."""
    return run_to_end(_ask(spec, questions, needs_contexts, progress, told, options))


async def _ask(
    spec: Any,
    questions: Sequence[Asked],
    needs_contexts: bool,
    progress: Report,
    told: Callable[[Outcome], None] | None,
    options: SystemOptions,
) -> Asking:
    from ragstone.llm.answering import answer_all  # noqa: PLC0415

    gateway = _open_gateway(options)
    try:
        system = _open(spec, gateway, options)
        if needs_contexts:
            system.require_contexts()
        done = 0
        progress(Progress("asking", done, len(questions)))

        def hear(outcome: Outcome) -> None:
            nonlocal done
            done += 1
            if told is not None:
                told(outcome)
            progress(Progress("asking", done, len(questions)))

        outcomes = await answer_all(system, questions, _concurrency(options), hear)
        return Asking(system.name, system.signature, outcomes, gateway.problem)
    finally:
        await gateway.close()


def quote_system(
    spec: Any, questions: Sequence[Asked], *, needs_contexts: bool = False, **options: Unpack[SystemOptions]
) -> SystemQuote:
    """Calls, tokens, money and time that `ask_system` would take. No call is made; what the cache has costs nothing."""
    chosen = np.unique(np.linspace(0, len(questions) - 1, min(len(questions), MOST_QUOTED)).round().astype(int))
    return run_to_end(_quote(spec, [questions[place] for place in chosen], len(questions), needs_contexts, options))


async def _quote(
    spec: Any, questions: Sequence[Asked], total: int, needs_contexts: bool, options: SystemOptions
) -> SystemQuote:
    from ragstone.llm.answering import answer_all  # noqa: PLC0415

    gateway = _open_gateway(options, quoting=True)
    try:
        system = _open(spec, gateway, options)
        if needs_contexts:
            system.require_contexts()
        outcomes = await answer_all(system, questions, _concurrency(options))
    finally:
        await gateway.close()
    factor = total / max(len(questions), 1)
    calls = [call for outcome in outcomes for call in outcome.calls if not call.cached]
    costs = [call.cost_usd for call in calls]
    known = system.is_priced and all(cost is not None for cost in costs)
    output = sum(call.output_tokens or 0 for call in calls)
    return SystemQuote(
        system=system.name,
        questions=total,
        calls=len(calls) * factor,
        input_tokens=sum(call.input_tokens or 0 for call in calls) * factor,
        output_tokens=output * factor,
        cost_usd=sum(cost or 0.0 for cost in costs) * factor if known else None,
        seconds=(len(calls) * _SECONDS_A_CALL + output * _SECONDS_A_TOKEN) * factor / _concurrency(options),
    )


def _concurrency(options: SystemOptions) -> int:
    return max(1, options.get("concurrency", DEFAULT_CONCURRENCY))


def _open(spec: Any, gateway: Gateway, options: SystemOptions) -> System:
    from ragstone.llm.systems import open_system  # noqa: PLC0415

    return open_system(spec, gateway, options.get("template"), options.get("version"))


def _open_gateway(options: SystemOptions, quoting: bool = False) -> Gateway:
    from ragstone.llm.gateway import Gateway  # noqa: PLC0415

    return Gateway(gateway_settings(cast("JudgingOptions", options), _concurrency(options)), quoting=quoting)
