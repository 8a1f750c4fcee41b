"""Evaluates one batch: first all evidence, then all metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.columns import FAILED, Cells
from ragstone.engine.collect import collect
from ragstone.engine.function_calls import CallRecorder, Refused, absent_cells, call_columnar, call_plain
from ragstone.engine.ledger import Entry, Ledger
from ragstone.engine.plan import EvidenceStep, MetricStep, Plan
from ragstone.engine.stored_evidence import StoredEvidence
from ragstone.errors import Skip
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.tools.protocols import Tool

# A value may miss its bounds by what floating-point sums lose.
_TOLERANCE = 1e-9


@dataclass
class ScoredBatch:
    """The cells of every metric and the evidence behind them."""

    batch: pa.RecordBatch
    cells: dict[str, Cells]
    evidence: dict[str, Entry]


async def evaluate_batch(
    plan: Plan,
    batch: pa.RecordBatch,
    tools: Mapping[str, Tool],
    gate: asyncio.Semaphore,
    recorder: CallRecorder | None = None,
    stored: StoredEvidence | None = None,
) -> ScoredBatch:
    """Collect all evidence of the plan, then compute all metrics. Stored evidence is used for the steps that it covers."""
    ledger = Ledger(batch, plan.folder)
    if stored:
        stored.mark_outdated(ledger)
    recorder = recorder or CallRecorder(range(ledger.size))
    evidence = await collect_all(plan, ledger, tools, gate, recorder, stored)
    return ScoredBatch(batch, compute_metrics(plan, ledger), evidence)


async def collect_all(
    plan: Plan,
    ledger: Ledger,
    tools: Mapping[str, Tool],
    gate: asyncio.Semaphore,
    recorder: CallRecorder,
    stored: StoredEvidence | None = None,
) -> dict[str, Entry]:
    """Add all evidence of the plan to the ledger; returns the evidence to store. Async steps wait only for what they need."""
    kept: dict[str, Entry] = {}
    ready = {piece: asyncio.Event() for step in plan.evidence for piece in step.pieces}
    # Evidence that the data has in all rows replaces fields now, other evidence when it is made.
    given = {name: piece for name, piece in plan.replaced.items() if piece not in ready and piece in ledger}
    ledger.replace_fields(given)

    async def make(step: EvidenceStep) -> None:
        for need in (plan.replaced.get(need, need) for need in step.spec.needs):
            if need in ready and need not in step.pieces:
                await ready[need].wait()
        if stored and stored.covers(step, tools):
            entries = stored.recall(step, ledger)
        else:
            entries = await collect(step, ledger, tools, gate, recorder)
        for entry in entries:
            ledger.add(entry)
            ledger.replace_fields({step.spec.replaces: entry.name} if step.spec.replaces else {})
            ready[entry.name].set()
            if not step.spec.transient:
                kept[entry.name] = entry

    if plan.waits:
        await gather_or_cancel(make(step) for step in plan.evidence)
    else:
        for step in plan.evidence:
            await make(step)
    return kept


def compute_metrics(plan: Plan, ledger: Ledger) -> dict[str, Cells]:
    """Compute all metrics of the plan from the evidence in the ledger."""
    results: dict[str, Cells] = {}
    for step in plan.metrics:
        spec, settings, view = step.metric.spec, settings_of(step), ledger.seen_by(step.metric.spec)
        if spec.columnar:
            outcome = call_columnar(spec, view, settings, _check_cells, _join_cells)
            computed: Cells = outcome.results
        else:
            outcome = call_plain(spec, view, settings, _check_number)
            computed = Cells.all_ok(outcome.results)
        _check_values(computed, spec.bounds)
        results[step.name] = computed
        if outcome.absent:
            results[step.name] = absent_cells(ledger.size, outcome.absent)
            results[step.name].put(outcome.rows, computed)
    return results


def settings_of(step: MetricStep) -> dict[str, Any]:
    """The arguments of a metric that do not come from the data: its settings, and None for optional needs that cannot be made."""
    spec = step.metric.spec
    return dict(step.metric.settings) | dict.fromkeys(need for need in spec.optional if need not in spec.needs)


def _check_number(value: Any) -> float:
    """The return value of a plain metric as a number; None skips the row, any other type fails it."""
    if isinstance(value, int | float | np.integer | np.floating | np.bool_):
        try:
            return float(value)
        except OverflowError:
            raise Refused("the metric returned a number that is too large") from None
    if value is None:
        raise Skip("the metric returned None")
    raise Refused(f"the metric returned {value!r:.80}, not a number")


def _check_cells(value: Any, size: int) -> Cells:
    """The return value of a columnar metric as new cells: the array may be evidence that other metrics use."""
    if isinstance(value, Cells):
        cells = Cells(value.values.astype(np.float64), value.status.copy(), dict(value.reasons))
    else:
        cells = Cells.all_ok(np.array(value, dtype=np.float64))
    if cells.values.shape != (size,):
        raise Refused(f"the metric gave {' × '.join(map(str, cells.values.shape)) or 1} values for {size} rows")
    return cells


def _join_cells(results: Sequence[Cells]) -> Cells:
    joined = Cells.all_ok(np.zeros(len(results)))
    for row, cells in enumerate(results):
        joined.put(np.array([row]), cells)
    return joined


def _check_values(cells: Cells, bounds: tuple[float | None, float | None]) -> None:
    """A value that is not a number, or is outside the bounds of the metric, fails the row."""
    ok = cells.status == 0
    low, high = (-np.inf if bounds[0] is None else bounds[0]), (np.inf if bounds[1] is None else bounds[1])
    wrong = ok & ~((cells.values >= low - _TOLERANCE) & (cells.values <= high + _TOLERANCE) & np.isfinite(cells.values))
    for row in np.flatnonzero(wrong).tolist():
        value = float(cells.values[row])
        reason = "is not a number" if not np.isfinite(value) else f"is outside {bounds[0]} to {bounds[1]}"
        cells.fail(row, f"the metric returned {value}, which {reason}", FAILED)
    np.clip(cells.values, low, high, out=cells.values)
