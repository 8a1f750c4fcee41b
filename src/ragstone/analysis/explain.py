"""All results for one sample: evidence, cause, scores, the items behind them, model calls, and the steps of an agent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.causes import find_causes
from ragstone.analysis.diagnosis import with_reasons
from ragstone.analysis.sample_evidence import Case, read_case
from ragstone.data.share import Items
from ragstone.data.types import Step
from ragstone.engine.metric_items import items_of
from ragstone.errors import UnknownNameError, UsageError
from ragstone.evidence_functions.steps import first_finds, match_steps, new_chunks, step_ranks
from ragstone.registry import CATALOGUE
from ragstone.registry.expression import Metric, make_metric, parse_metric
from ragstone.storage.runs import Run, read_table
from ragstone.text.questions import MADE_ID

_CELL = ("metric", "value", "status", "reason")


@dataclass(frozen=True)
class Cell:
    """A score of the sample."""

    metric: str
    value: float | None
    status: str
    reason: str | None


@dataclass(frozen=True)
class Working:
    """How one score was computed: its formula in words, and the items that it counts."""

    cell: Cell
    meaning: str
    formula: str
    counts: tuple[Items, ...]
    inputs: dict[str, Any]


@dataclass(frozen=True)
class Explanation:
    """The content of `ragstone explain`."""

    run: str
    row: int
    rows: int
    case: Case
    outcome: Outcome
    cells: tuple[Cell, ...]
    calls: tuple[dict[str, Any], ...]
    working: Working | None = None


def explain_sample(run: Run, wanted: str, metric: str | None = None) -> Explanation:
    """Explain a sample, by id or row number; with a metric, explain its score."""
    ids = read_table(run.folder.samples, ["id"])["id"]
    row = find_row(ids, wanted)
    case = read_case(run, row)
    mine = run.scores.filter(pc.equal(run.scores["sample_id"], case.sample.id))
    cells = [Cell(*values) for values in zip(*(mine[name].to_pylist() for name in _CELL), strict=True)]
    calls = run.calls.filter(pc.equal(run.calls["sample_id"], case.sample.id)).to_pylist()
    working = None
    if metric is not None:
        cell, parsed = _find_cell(cells, metric, run)
        [working] = work_out([(cell, parsed)], case)
        makers = _makers(parsed)
        cells, calls = [cell], [call for call in calls if call["evidence"] in makers]
    [outcome] = with_reasons(run, [find_causes(case)])
    return Explanation(run.name, row, len(ids), case, outcome, tuple(cells), tuple(calls), working)


def find_row(ids: pa.ChunkedArray, wanted: str) -> int:
    """The row of a sample, by its id or otherwise by its row number from 1."""
    row = int(pc.index(ids, wanted).as_py())
    if row >= 0:
        return row
    if wanted.isdecimal() and 1 <= int(wanted) <= len(ids):
        return int(wanted) - 1
    known = ids.to_pylist()
    given = [name for name in known if not MADE_ID.fullmatch(name)]
    named = f", with ids from {given[0]} to {given[-1]}" if len(given) > 1 else ""
    rows = f"rows 1 to {len(known):,}" if len(known) > 1 else "one row"
    hint = f"The run has {rows}{named}." if known else ""
    turns = [name for name in known if name.startswith(wanted)]  # of a conversation
    raise UnknownNameError("sample", wanted, known, hint, turns[:3])


def _find_cell(cells: Iterable[Cell], wanted: str, run: Run) -> tuple[Cell, Metric | None]:
    """The score with this name and its metric; a user's metric may not be defined here."""
    by_name = {cell.metric: cell for cell in cells}
    try:
        parsed = parse_metric(wanted, stored=wanted in by_name)
    except UsageError:
        parsed = None
    name = wanted if wanted in by_name else str(parsed)
    if name not in by_name:
        if name in run.info.skipped:
            raise UsageError(f"{name} was not computed: {run.info.skipped[name]}")
        raise UnknownNameError("metric of this run", wanted, by_name, f"It has: {', '.join(by_name)}.")
    return by_name[name], parsed


def work_out(cells: Sequence[tuple[Cell, Metric | None]], case: Case) -> list[Working]:
    """How scores of a sample were computed; a metric that is not defined here has no definition."""
    wanted = [metric for cell, metric in cells if metric is not None and cell.status == "ok"]
    items = items_of(wanted, case.sample, case.evidence)
    return [_working(cell, metric, items, case) for cell, metric in cells]


def _working(cell: Cell, metric: Metric | None, items: Mapping[str, tuple[Items, ...]], case: Case) -> Working:
    if metric is None:
        return Working(cell, "", "", (), {})
    spec = metric.spec
    inputs = {name: case.evidence[name] for name in (*spec.needs, *spec.optional) if name in case.evidence}
    return Working(cell, spec.meaning, " ".join(spec.details.split()), items.get(str(metric), ()), inputs)


def count_items(metric: str, case: Case, settings: Mapping[str, Any]) -> list[Items]:
    """The items that a metric counts in a sample: one entry per share; empty if it is not a share or has no value."""
    known = make_metric(CATALOGUE.metric(metric).spec, **settings)
    return list(items_of([known], case.sample, case.evidence).get(str(known), ()))


def _makers(metric: Metric | None) -> set[str]:
    """The evidence functions that a metric needs."""
    if metric is None:
        return set()
    closure = CATALOGUE.closure(metric.spec.needs, replaced=CATALOGUE.replacements())
    return {spec.name for spec in closure.evidence.values()}


@dataclass(frozen=True)
class StepView:
    """A step for people: its number, tool and query, its chunks and how many of them are new, and what it found first."""

    number: int
    tool: str
    query: str | None
    # None if the step does not retrieve.
    chunks: int | None
    new: int
    # Numbers of the facts, from 1, that no earlier step found; None if the run did not look for facts.
    facts: list[int] | None
    seconds: float | None
    # Whether it is expected; None if the data does not say.
    expected: bool | None
    # The ranks of its chunks among those of the sample.
    ranks: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """`search: opening hours`."""
        return f"{self.tool}: {self.query}" if self.query else self.tool


def describe_steps(case: Case) -> tuple[list[StepView], list[str]]:
    """The steps of a sample in order, and the expected steps that were not made, as `tool: query`."""
    steps, wanted = case.sample.steps or [], case.sample.expected_steps or []
    first = first_finds(case.evidence["facts_in_steps"]) if case.has("facts_in_steps") else None
    made = match_steps(steps, wanted)
    taken = set(made.values()) if wanted else None
    ranks = step_ranks(steps, case.sample.contexts or [])
    described = [
        StepView(
            number=number + 1,
            tool=step.tool,
            query=step.query,
            chunks=None if step.contexts is None else len(step.contexts),
            new=new,
            facts=None if first is None else sorted(fact + 1 for fact, at in first.items() if at == number),
            seconds=step.seconds,
            expected=None if taken is None else number in taken,
            ranks=tuple(rank + 1 for rank in found),
        )
        for number, (step, new, found) in enumerate(zip(steps, new_chunks(steps), ranks, strict=True))
    ]
    return described, [call_text(step) for number, step in enumerate(wanted) if number not in made]


def call_text(step: Step) -> str:
    """`search: opening hours`."""
    return f"{step.tool}: {step.query}" if step.query else step.tool
