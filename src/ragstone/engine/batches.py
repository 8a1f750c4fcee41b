"""One batch through the whole graph: evidence first, then the metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.columns import FAILED, SKIPPED, Cells, Gaps, Rows
from ragstone.engine.calls import Outcome, absent_cells, call_async, call_columnar, call_plain
from ragstone.engine.ledger import Absence, Entry, Ledger
from ragstone.engine.planning import EvidenceStep, MetricStep, Plan, Tool
from ragstone.registry.specs import WANTED

# A value may miss its bounds by what floating-point sums lose.
_TOLERANCE = 1e-9


@dataclass
class BatchResult:
    """The cells of every metric and the evidence under them."""

    batch: pa.RecordBatch
    cells: dict[str, Cells] = field(default_factory=dict)
    evidence: dict[str, Entry] = field(default_factory=dict)


async def evaluate_batch(
    plan: Plan, batch: pa.RecordBatch, tools: Mapping[str, Tool], gate: asyncio.Semaphore
) -> BatchResult:
    """Make all evidence of the plan, then compute all metrics."""
    ledger = Ledger(batch)
    result = BatchResult(batch)
    for step in plan.evidence:
        for entry in await _make_evidence(step, ledger, tools, gate):
            ledger.add(entry)
            if not step.spec.transient:
                result.evidence[entry.name] = entry
    for metric in plan.metrics:
        result.cells[metric.name] = _compute(metric, ledger)
    return result


async def _make_evidence(
    step: EvidenceStep, ledger: Ledger, tools: Mapping[str, Tool], gate: asyncio.Semaphore
) -> list[Entry]:
    spec = step.spec
    extra: dict[str, Any] = {need: tools[need] for need in spec.needs if need in tools and need not in ledger}
    if spec.wants_pieces:
        extra[WANTED] = frozenset(step.pieces)
    if spec.columnar:
        outcome = call_columnar(spec, ledger, extra, lambda value, size: _check_pieces(step, value, size), _join_pieces)
    elif spec.is_async:
        outcome = await call_async(spec, ledger, extra, gate)
    else:
        outcome = call_plain(spec, ledger, extra)
    if not spec.columnar:
        outcome.results = _split_pieces(step, outcome)
    return [_entry(piece, outcome) for piece in step.pieces]


def _split_pieces(step: EvidenceStep, outcome: Outcome) -> dict[str, Any]:
    """The rows' results as one column for each piece."""
    if step.spec.yields == (step.spec.name,):
        return {step.spec.name: Rows(outcome.results)}
    columns: dict[str, Any] = {}
    for piece in step.pieces:
        columns[piece] = Rows([result.get(piece) for result in outcome.results])
    return columns


def _check_pieces(step: EvidenceStep, value: Any, size: int) -> dict[str, Any]:
    single = step.spec.yields == (step.spec.name,)
    columns = {step.spec.name: value} if single else {piece: value[piece] for piece in step.pieces}
    for piece, column in columns.items():
        length = len(column.column if isinstance(column, Gaps) else column)
        if length != size:
            raise ValueError(f"evidence '{piece}' gave {length} values for {size} rows")
    return columns


def _join_pieces(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Row-by-row results of a columnar function as columns again."""
    pieces: dict[str, Any] = {}
    for piece in results[0] if results else ():
        values, reasons = [], {}
        for row, columns in enumerate(results):
            column = columns[piece]
            if isinstance(column, Gaps):
                reasons.update(dict.fromkeys([row], column.reasons[0]) if column.reasons else {})
                column = column.column
            values.append(column[0])
        pieces[piece] = Gaps(Rows(values), reasons) if reasons else Rows(values)
    return pieces


def _entry(piece: str, outcome: Outcome) -> Entry:
    rows, absent = outcome.rows, dict(outcome.absent)
    column = outcome.results.get(piece, Rows([]))
    if isinstance(column, Gaps):
        gaps = {int(rows[position]): Absence(SKIPPED, reason) for position, reason in column.reasons.items()}
        keep = np.array([row not in gaps for row in rows.tolist()], dtype=bool)
        column = column.column.take(np.flatnonzero(keep)) if gaps else column.column
        rows, absent = rows[keep] if gaps else rows, {**absent, **gaps}
    return Entry(piece, rows, column, absent)


def _compute(step: MetricStep, ledger: Ledger) -> Cells:
    spec, settings = step.metric.spec, dict(step.metric.settings)
    if spec.columnar:
        outcome = call_columnar(spec, ledger, settings, _check_cells, _join_cells)
        found: Cells = outcome.results
    else:
        outcome = call_plain(spec, ledger, settings)
        found = _cells_of(outcome.results)
    _check_values(found, spec.bounds)
    if not outcome.absent:
        return found
    cells = absent_cells(ledger.size, outcome.absent)
    cells.put(outcome.rows, found)
    return cells


def _check_cells(value: Any, size: int) -> Cells:
    cells = value if isinstance(value, Cells) else Cells.all_ok(value)
    if len(cells) != size:
        raise ValueError(f"the metric gave {len(cells)} values for {size} rows")
    return cells


def _join_cells(results: Sequence[Cells]) -> Cells:
    joined = Cells.all_ok(np.zeros(len(results)))
    for row, cells in enumerate(results):
        joined.put(np.array([row]), cells)
    return joined


def _cells_of(results: Sequence[Any]) -> Cells:
    """What a plain metric returned: numbers, None for nothing to say, or a mistake."""
    cells = Cells.all_ok(np.zeros(len(results)))
    for row, value in enumerate(results):
        if isinstance(value, int | float | np.number | np.bool_):
            cells.values[row] = value
        elif value is None:
            cells.fail(row, "the metric returned None", SKIPPED)
        else:
            cells.fail(row, f"the metric returned {value!r:.80}, not a number")
    return cells


def _check_values(cells: Cells, bounds: tuple[float | None, float | None]) -> None:
    """A value that is no number, or outside what the metric promises, is a failure and not a score."""
    ok = cells.status == 0
    low, high = (-np.inf if bounds[0] is None else bounds[0]), (np.inf if bounds[1] is None else bounds[1])
    wrong = ok & ~((cells.values >= low - _TOLERANCE) & (cells.values <= high + _TOLERANCE) & np.isfinite(cells.values))
    for row in np.flatnonzero(wrong).tolist():
        value = float(cells.values[row])
        reason = "is no number" if not np.isfinite(value) else f"is outside {bounds[0]} to {bounds[1]}"
        cells.fail(row, f"the metric returned {value}, which {reason}", FAILED)
    np.clip(cells.values, low, high, out=cells.values)
