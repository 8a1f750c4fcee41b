"""Everything that a run knows about one sample: its evidence, its cause, its scores, what the judge said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import ragstone.evidence  # noqa: F401  (so that it is known which evidence a metric rests on)
from ragstone.compare.cases import Case, read_case
from ragstone.compare.causes import find_causes
from ragstone.compare.counting import Counted, count_items
from ragstone.compare.findings import Outcome
from ragstone.errors import UnknownNameError, UsageError
from ragstone.registry import CATALOGUE
from ragstone.registry.expression import Metric, parse_metric
from ragstone.storage.runs import Run, read_table


@dataclass(frozen=True)
class Cell:
    """A score of the sample."""

    metric: str
    value: float | None
    status: str
    reason: str | None


@dataclass(frozen=True)
class Working:
    """How one score came about: its formula in words, and which items it counts."""

    cell: Cell
    meaning: str
    formula: str
    counts: tuple[Counted, ...]
    inputs: dict[str, Any]


@dataclass(frozen=True)
class Explanation:
    """What `ragstone explain` shows."""

    run: str
    row: int
    rows: int
    case: Case
    outcome: Outcome
    cells: tuple[Cell, ...]
    calls: tuple[dict[str, Any], ...]
    working: Working | None = None


def explain_sample(run: Run, wanted: str, metric: str | None = None) -> Explanation:
    """All about a sample, found by its id or its row number; with a metric, how its score came about."""
    ids = read_table(run.folder.samples, ["id"])["id"]
    row = find_row(ids, wanted)
    case = read_case(run, row)
    mine = run.scores.filter(pc.equal(run.scores["sample_id"], case.sample.id))
    cells = [Cell(*values) for values in zip(*(mine[name].to_pylist() for name in _CELL), strict=True)]
    calls = run.calls.filter(pc.equal(run.calls["sample_id"], case.sample.id)).to_pylist()
    working = None
    if metric is not None:
        cell, parsed = _find_cell(cells, metric, run)
        working = _work_out(cell, parsed, case)
        makers = _makers(parsed)
        cells, calls = [cell], [call for call in calls if call["evidence"] in makers]
    outcome = find_causes(case)
    return Explanation(run.name, row, len(ids), case, outcome, tuple(cells), tuple(calls), working)


_CELL = ("metric", "value", "status", "reason")


def find_row(ids: pa.ChunkedArray, wanted: str) -> int:
    """The place of a sample, by its id or else by its row number from 1."""
    row = int(pc.index(ids, wanted).as_py())
    if row >= 0:
        return row
    if wanted.isdecimal() and 1 <= int(wanted) <= len(ids):
        return int(wanted) - 1
    known = ids.to_pylist()
    raise UnknownNameError(
        "sample", wanted, known, f"There are {len(known)}, from {known[0]} to {known[-1]}." if known else ""
    )


def _find_cell(cells: Iterable[Cell], wanted: str, run: Run) -> tuple[Cell, Metric | None]:
    """The score that answers to a name, and the metric behind it; a user's own metric may not be known here."""
    by_name = {cell.metric: cell for cell in cells}
    try:
        parsed = parse_metric(wanted)
    except UsageError:
        parsed = None
    name = wanted if wanted in by_name else str(parsed)
    if name not in by_name:
        if name in run.info["skipped"]:
            raise UsageError(f"{name} was not computed: {run.info['skipped'][name]}")
        raise UnknownNameError("metric of this run", wanted, by_name, f"It has: {', '.join(by_name)}.")
    return by_name[name], parsed


def _work_out(cell: Cell, metric: Metric | None, case: Case) -> Working:
    if metric is None:
        return Working(cell, "", "", (), {})
    spec = metric.spec
    return Working(
        cell,
        spec.meaning,
        " ".join(spec.details.split()),
        tuple(count_items(spec.name, case, dict(metric.settings))),
        {name: case.evidence[name] for name in spec.needs if name in case.evidence},
    )


def _makers(metric: Metric | None) -> set[str]:
    """The evidence functions that a metric rests on."""
    if metric is None:
        return set()
    made = (CATALOGUE.evidence(name) for name in CATALOGUE.rests_on(metric.spec))
    return {spec.name for spec in made if spec}
