"""What a run would cost, before anything is spent: the same plan and the same prompts, with nobody asked.

Each row is walked through with guesses in place of replies (its sentences for its claims, say), so that the number of calls
and the length of the prompts come from the code that really asks. Replies in the cache are used and cost nothing.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from ragstone.engine.batches import collect_all
from ragstone.engine.evaluation import DEFAULT_CONCURRENCY, Request, make_request
from ragstone.engine.execution import run_to_end
from ragstone.engine.ingest import ingest
from ragstone.engine.judging import JudgingOptions
from ragstone.engine.ledger import Ledger
from ragstone.engine.planning import Plan
from ragstone.engine.progress import silent
from ragstone.engine.watching import Watch
from ragstone.formats import open_reader
from ragstone.llm.recording import Call
from ragstone.storage.places import open_place
from ragstone.storage.runs import read_table
from ragstone.text.matchers import Matcher

# More rows say little more about the mean, and take longer.
MOST_ROWS = 300
# How long a call takes is the server's secret; a rule of thumb for hosted models.
_SECONDS_A_CALL, _SECONDS_A_TOKEN = 0.6, 0.012


@dataclass(frozen=True)
class QuoteLine:
    """What one metric would take if it were the only one."""

    name: str
    calls: float
    input_tokens: float
    output_tokens: float
    # None: the price of a model is not known.
    cost_usd: float | None
    seconds: float


@dataclass(frozen=True)
class Quote:
    """What a run would take: all of it, which is less than the sum of the metrics since they share evidence, and each metric."""

    rows: int
    sampled_rows: int
    total: QuoteLine
    metrics: tuple[QuoteLine, ...]
    skipped: Mapping[str, str]


def quote(
    data: Any,
    metrics: str | Sequence[str] | None = None,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
    matcher: str | Matcher = "citation",
    concurrency: int = DEFAULT_CONCURRENCY,
    **judging: Unpack[JudgingOptions],
) -> Quote:
    """Calls, tokens, money and time that `evaluate` with the same arguments would take. No call is made."""
    request = make_request(metrics, matcher, "", concurrency, judging, quoting=True)
    with tempfile.TemporaryDirectory(prefix="ragstone-") as home:
        samples = open_place(home) / "samples.parquet"
        profile = ingest(open_reader(data, format, columns, limit), samples, silent)
        table = read_table(samples)
    plan = request.plan(profile)
    chosen = np.unique(np.linspace(0, len(table) - 1, min(len(table), MOST_ROWS)).round().astype(int))
    calls = run_to_end(_walk(plan, request, table.take(pa.array(chosen))))
    factor = len(table) / max(len(chosen), 1)
    lines = [
        _line(step.name, calls, factor, concurrency, _makers(plan, step.metric.spec.needs)) for step in plan.metrics
    ]
    everyone = {step.spec.name for step in plan.evidence}
    total = _line("all together", calls, factor, concurrency, everyone)
    return Quote(len(table), len(chosen), total, tuple(line for line in lines if line.calls), plan.skipped)


async def _walk(plan: Plan, request: Request, rows: pa.Table) -> list[Call]:
    batch = pa.Table.to_batches(rows.combine_chunks())[0]
    opened = request.judging.open(quoting=True)
    watch = Watch(batch.column("id").to_pylist())
    try:
        gate = asyncio.Semaphore(request.concurrency)
        await collect_all(plan, Ledger(batch), {**request.tools, **opened.tools}, gate, watch)
    finally:
        await opened.close()
    return [call for call in watch.calls if not call.cached]


def _makers(plan: Plan, needs: Iterable[str]) -> set[str]:
    """The evidence functions that a metric rests on."""
    spec_of = {piece: step.spec for step in plan.evidence for piece in step.pieces}
    seen: set[str] = set()
    waiting = list(needs)
    while waiting:
        need = waiting.pop()
        if need in spec_of and need not in seen:
            seen.add(need)
            waiting += spec_of[need].needs_of([need])
    return {spec_of[piece].name for piece in seen}


def _line(name: str, calls: Sequence[Call], factor: float, concurrency: int, makers: set[str]) -> QuoteLine:
    return sum_calls(name, [call for call in calls if call.evidence in makers], concurrency, factor)


def sum_calls(name: str, calls: Sequence[Call], concurrency: int, factor: float = 1.0) -> QuoteLine:
    """What calls take together; `factor` is how many rows stand behind each that was looked at."""
    output = sum(call.output_tokens or 0 for call in calls)
    known = all(call.cost_usd is not None for call in calls)
    seconds = len(calls) * _SECONDS_A_CALL + output * _SECONDS_A_TOKEN
    return QuoteLine(
        name=name,
        calls=len(calls) * factor,
        input_tokens=sum(call.input_tokens or 0 for call in calls) * factor,
        output_tokens=output * factor,
        cost_usd=sum(call.cost_usd or 0.0 for call in calls) * factor if known else None,
        seconds=seconds * factor / concurrency,
    )
