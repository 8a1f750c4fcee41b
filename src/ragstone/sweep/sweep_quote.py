"""Estimates the cost of a sweep without any call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragstone.data.dataset import Dataset
from ragstone.data.types import Chunk, Sample
from ragstone.engine.ask_system import SystemQuote
from ragstone.engine.quote import QuoteLine, quote
from ragstone.errors import RagstoneError, UsageError
from ragstone.sweep.plan import SweepPlan
from ragstone.sweep.sweep_questions import read_questions, system_options
from ragstone.tools.model_options import ModelOptions
from ragstone.truth.collect import quote_collecting

_TYPICAL = "According to the documents it is what the question asks for, in a sentence or two of usual length."


@dataclass(frozen=True)
class SweepQuote:
    """The most that a sweep takes: every setting answers all questions. Settings that are stopped early take less."""

    settings: int
    questions: int
    system: str
    system_calls: float
    # None: a price is unknown.
    system_usd: float | None
    judge_calls: float
    judge_usd: float | None
    seconds: float
    # The settings that cannot be opened, with the reason.
    failed: Mapping[str, str]


def quote_sweep(plan: SweepPlan, root: str) -> SweepQuote:
    """The calls, money and time of all settings together. Cached answers cost nothing."""
    plan, questions = read_questions(plan, root)
    asked: list[SystemQuote] = []
    failed: dict[str, str] = {}
    for setting in plan.settings:
        try:
            asked.append(quote_collecting(questions, plan.target, **system_options(plan, setting)))
        except RagstoneError as error:
            failed[setting.name] = str(error).splitlines()[0]
    if not asked:
        raise UsageError(f"no setting can be opened: {next(iter(failed.values()))}")
    judged = _quote_judge(plan, questions)
    return SweepQuote(
        settings=len(plan.settings),
        questions=len(questions),
        system=asked[0].system,
        system_calls=sum(one.calls for one in asked),
        system_usd=_total([one.cost_usd for one in asked]),
        judge_calls=judged.calls * len(asked),
        judge_usd=_total([judged.cost_usd] * len(asked)),
        seconds=sum(one.seconds for one in asked) + judged.seconds * len(asked),
        failed=failed,
    )


def _quote_judge(plan: SweepPlan, questions: Sequence[Sample]) -> QuoteLine:
    """The judge for one setting. The answers do not exist yet: those of the data are used, otherwise references."""
    rows = [_guess(sample) for sample in questions]
    metrics = [*(plan.metrics or ["quick"]), plan.objective]
    models = {**ModelOptions(**plan.models).keywords(), "budget": None}
    return quote(Dataset.from_samples(rows), metrics, **models).total


def _guess(sample: Sample) -> Sample:
    answer = sample.answer or next(iter(sample.references or ()), _TYPICAL)
    texts = sample.reference_contexts or [fact.text for fact in sample.facts or ()] or [_TYPICAL]
    return replace(sample, answer=answer, contexts=sample.contexts or [Chunk(text) for text in texts])


def _total(costs: Sequence[float | None]) -> float | None:
    return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)
