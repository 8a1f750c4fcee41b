"""One batch through the whole graph: evidence first, then the metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.columns import FAILED, Cells
from ragstone.engine.collect import collect
from ragstone.engine.function_calls import Refused, Watch, absent_cells, call_columnar, call_plain
from ragstone.engine.ledger import Entry, Ledger
from ragstone.engine.plan import EvidenceStep, MetricStep, Plan
from ragstone.engine.stored_evidence import Recollection
from ragstone.errors import Skip
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.tools.protocols import Tool

# A value may miss its bounds by what floating-point sums lose.
_TOLERANCE = 1e-9


@dataclass
class BatchResult:
    """The cells of every metric and the evidence under them."""

    batch: pa.RecordBatch
    cells: dict[str, Cells] = field(default_factory=dict)
    evidence: dict[str, Entry] = field(default_factory=dict)


async def evaluate_batch(
    plan: Plan,
    batch: pa.RecordBatch,
    tools: Mapping[str, Tool],
    gate: asyncio.Semaphore,
    watch: Watch | None = None,
    recollection: Recollection | None = None,
) -> BatchResult:
    """Make all evidence of the plan, then compute all metrics; what a recollection covers is not made but remembered."""
    ledger = Ledger(batch)
    result = BatchResult(batch)
    if recollection:
        recollection.mark_outdated(ledger)
    result.evidence = await collect_all(plan, ledger, tools, gate, watch or Watch(range(ledger.size)), recollection)
    result.cells = compute_metrics(plan, ledger)
    return result


async def collect_all(
    plan: Plan,
    ledger: Ledger,
    tools: Mapping[str, Tool],
    gate: asyncio.Semaphore,
    watch: Watch,
    recollection: Recollection | None = None,
) -> dict[str, Entry]:
    """All evidence of the plan into the ledger; returns what is kept. Where something waits, each step waits only for what it needs."""
    kept: dict[str, Entry] = {}
    ready = {piece: asyncio.Event() for step in plan.evidence for piece in step.pieces}
    _replace_by_given(plan, ledger, ready)

    async def make(step: EvidenceStep) -> None:
        for need in (plan.replaced.get(need, need) for need in step.spec.needs):
            if need in ready and need not in step.pieces:
                await ready[need].wait()
        if recollection and recollection.covers(step, tools):
            entries = recollection.recall(step, ledger)
        else:
            entries = await collect(step, ledger, tools, gate, watch)
        for entry in entries:
            ledger.add(entry)
            if step.spec.replaces:
                ledger.replace_field(step.spec.replaces, entry.name)
            ready[entry.name].set()
            if not step.spec.transient:
                kept[entry.name] = entry

    if plan.waits:
        await gather_or_cancel(make(step) for step in plan.evidence)
    else:
        for step in plan.evidence:
            await make(step)
    return kept


def _replace_by_given(plan: Plan, ledger: Ledger, made: Collection[str]) -> None:
    """Replace fields by evidence that the data has in all rows; other evidence replaces them when it is made."""
    for name, piece in plan.replaced.items():
        if piece not in made and piece in ledger:
            ledger.replace_field(name, piece)


def compute_metrics(plan: Plan, ledger: Ledger) -> dict[str, Cells]:
    """All metrics of the plan from evidence that is there."""
    return {step.name: _compute(step, ledger) for step in plan.metrics}


def _compute(step: MetricStep, ledger: Ledger) -> Cells:
    spec, settings = step.metric.spec, dict(step.metric.settings)
    settings |= dict.fromkeys(need for need in spec.optional if need not in spec.needs)
    ledger = ledger.seen_by(spec.needs)
    if spec.columnar:
        outcome = call_columnar(spec, ledger, settings, _check_cells, _join_cells)
        computed: Cells = outcome.results
    else:
        outcome = call_plain(spec, ledger, settings, _check_number)
        computed = Cells.all_ok(outcome.results)
    _check_values(computed, spec.bounds)
    if not outcome.absent:
        return computed
    cells = absent_cells(ledger.size, outcome.absent)
    cells.put(outcome.rows, computed)
    return cells


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
