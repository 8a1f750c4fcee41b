"""Estimates the cost of a run with the same plan and the same prompts, without any call.

The code of the run makes its prompts for a sample of rows, with guesses in place of replies: the sentences of an answer are its
claims, for example. So the number of calls and the length of the prompts are real. Cached replies are used and cost nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from ragstone.engine.batch import collect_all
from ragstone.engine.exam import ask_first_items, examines
from ragstone.engine.execute import run_to_end
from ragstone.engine.function_calls import CallRecorder
from ragstone.engine.ingest import Profile, ingest
from ragstone.engine.ledger import Ledger
from ragstone.engine.plan import Plan
from ragstone.engine.progress import silent
from ragstone.engine.request import Metrics, RunRequest, make_request
from ragstone.formats import open_reader
from ragstone.llm.wrappers import Call, ordinary_calls
from ragstone.registry import CATALOGUE
from ragstone.storage.leftovers import temporary_folder
from ragstone.storage.places import Place, open_place
from ragstone.storage.runs import read_table
from ragstone.text.matchers import Matcher
from ragstone.tools.judge_exam import EXAM
from ragstone.tools.judging_options import DEFAULT_CONCURRENCY, JudgingOptions

# More rows hardly improve the estimate.
MOST_ROWS = 300
# A rule of thumb for models that were never asked; the speed of others was measured.
_SECONDS_A_CALL, _SECONDS_A_TOKEN = 0.6, 0.012
# Tokens of a prompt that a model in this process reads: two cores, half of the tokens kept from the call before.
_SECONDS_A_TOKEN_READ = 0.02


@dataclass(frozen=True)
class QuoteLine:
    """The estimate for one metric if it were computed alone."""

    name: str
    calls: float
    input_tokens: float
    output_tokens: float
    # None: the price of a model is not known.
    cost_usd: float | None
    seconds: float


@dataclass(frozen=True)
class Quote:
    """The estimate for a run and for each metric. Metrics share evidence, so the total is less than their sum."""

    rows: int
    sampled_rows: int
    total: QuoteLine
    metrics: tuple[QuoteLine, ...]
    skipped: Mapping[str, str]
    # Whether language models are asked in batches, at the price of batches.
    in_batches: bool = False


def quote(
    data: Any,
    metrics: Metrics | None = None,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    split_contexts: str | None = None,
    encoding: str | None = None,
    limit: int | None = None,
    matcher: str | Matcher = "citation",
    concurrency: int = DEFAULT_CONCURRENCY,
    **judging: Unpack[JudgingOptions],
) -> Quote:
    """Calls, tokens, money and time that `evaluate` with the same arguments would take. No call is made."""
    request = make_request(metrics, matcher, "", concurrency, judging, dry_run=True, large=True)
    try:
        reader = open_reader(data, format, columns, limit, split_contexts, encoding)
        with temporary_folder() as home:
            samples = open_place(home) / "samples.parquet"
            profile = ingest(reader, samples, silent)
            request.judging.settle_large(partial(seconds_of_large, request, profile, samples))
            plan = request.plan(profile)
            calls, factor = _sample_calls(plan, request, samples)
    finally:
        request.close()

    def line(name: str, makers: set[str]) -> QuoteLine:
        return sum_calls(name, [call for call in calls if call.evidence in makers], request.concurrency, factor)

    lines = [line(step.name, _makers(plan, step.metric.spec.needs)) for step in plan.metrics]
    total = _add(
        line("all together", {step.spec.name for step in plan.evidence}),
        sum_calls(EXAM, [call for call in calls if call.evidence == EXAM], request.concurrency),
    )
    called = tuple(line for line in lines if line.calls)
    sampled = min(profile.rows, MOST_ROWS)
    return Quote(profile.rows, sampled, total, called, plan.skipped, bool(request.judging.options.get("batch")))


def _add(line: QuoteLine, exam: QuoteLine) -> QuoteLine:
    """A line with the calls of the exam before the run."""
    cost = None if line.cost_usd is None or exam.cost_usd is None else line.cost_usd + exam.cost_usd
    names = ("calls", "input_tokens", "output_tokens", "seconds")
    return replace(line, cost_usd=cost, **{name: getattr(line, name) + getattr(exam, name) for name in names})


def seconds_of_large(request: RunRequest, profile: Profile, samples: Place, roles: Collection[str]) -> float:
    """The time of the calls of the large judge if it is used by default, in these roles."""
    settings = (request.metrics, request.chosen_matcher, "", request.concurrency, request.judging.options)
    trial = make_request(*settings, dry_run=True, large=True)
    plan = trial.plan(profile)
    makers = _makers(plan, [piece for step in plan.evidence if {*roles} & {*step.spec.needs} for piece in step.pieces])
    plan = replace(plan, evidence=tuple(step for step in plan.evidence if step.spec.name in makers))
    calls, factor = _sample_calls(plan, trial, samples)
    return sum_calls("", [call for call in calls if _is_inside(call)], 1, factor).seconds


def _sample_calls(plan: Plan, request: RunRequest, samples: Place) -> tuple[list[Call], float]:
    """The calls for some rows, and the number of rows per sampled row."""
    table = read_table(samples)
    chosen = sample_positions(len(table))
    calls = run_to_end(_walk(plan, request, table.take(pa.array(chosen)), len(table)))
    return calls, len(table) / max(len(chosen), 1)


async def _walk(plan: Plan, request: RunRequest, rows: pa.Table, count: int) -> list[Call]:
    batch = pa.Table.to_batches(rows.combine_chunks())[0]
    opened = request.judging.open()
    recorder = CallRecorder(batch.column("id").to_pylist())
    try:
        if examines(request.judging, plan, count):
            with ordinary_calls():
                await ask_first_items(opened.tools["checker"], recorder.calls)
        gate = asyncio.Semaphore(request.concurrency)
        await collect_all(plan, Ledger(batch, plan.folder), {**request.tools, **opened.tools}, gate, recorder)
    finally:
        await opened.close()
    return [call for call in recorder.calls if not call.cached]


def _makers(plan: Plan, needs: Iterable[str]) -> set[str]:
    """The names of the evidence functions that a metric depends on in this plan."""
    planned = {piece for step in plan.evidence for piece in step.pieces}
    closure = CATALOGUE.closure(needs, replaced=plan.replaced)
    closure = CATALOGUE.closure(needs, closure.evidence.keys() - planned, plan.replaced)
    return {closure.evidence[piece].name for piece in closure.order}


def sample_positions(count: int) -> np.ndarray:
    """At most `MOST_ROWS` positions, evenly spread over all rows."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_ROWS)).round().astype(int))


def sum_calls(name: str, calls: Sequence[Call], concurrency: int, factor: float = 1.0) -> QuoteLine:
    """The total of some calls; `factor` is the number of rows per sampled row."""
    known = all(call.cost_usd is not None for call in calls)
    # A model in this process answers one call after the other.
    seconds = sum(_seconds(call) / (1 if _is_inside(call) else concurrency) for call in calls)
    return QuoteLine(
        name=name,
        calls=len(calls) * factor,
        input_tokens=sum(call.input_tokens or 0 for call in calls) * factor,
        output_tokens=sum(call.output_tokens or 0 for call in calls) * factor,
        cost_usd=sum(call.cost_usd or 0.0 for call in calls) * factor if known else None,
        seconds=seconds * factor,
    )


def _is_inside(call: Call) -> bool:
    return str(call.model).startswith("llama/")


def _seconds(call: Call) -> float:
    """The time of a call by earlier calls of its model, otherwise by a rule of thumb."""
    if call.latency_s:
        return call.latency_s
    reading = (call.input_tokens or 0) * _SECONDS_A_TOKEN_READ if _is_inside(call) else _SECONDS_A_CALL
    return reading + (call.output_tokens or 0) * _SECONDS_A_TOKEN
