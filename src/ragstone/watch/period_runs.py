"""Evaluates the drawn rows of closed periods as ordinary runs, within a daily budget.

Rows are evaluated in a fixed random order. A run that the budget stops is removed, and its rows wait for the next day: what
is evaluated is always the first part of the order, a random sample. Replies are cached, so that they are paid once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from ragstone.data.dataset import Dataset
from ragstone.data.schema import SAMPLES
from ragstone.engine.evaluate import evaluate
from ragstone.llm.budget import SPENT, Budget
from ragstone.storage.runs import Run
from ragstone.watch.intake import Intake
from ragstone.watch.sample_design import design_weights
from ragstone.watch.state import CLOSED, COMPLETE, Attempt, PeriodState
from ragstone.watch.store import PeriodRecord, WatchStore

ROWS_PER_RUN = 500
# A cluster needs work for all of its workers; a killed run keeps its finished parts.
ROWS_PER_RAY_RUN = 50_000
# The first run with a budget shows what a row costs.
_PILOT_ROWS = 10
_COST_MARGIN = 1.3
# With less than this part of the budget left, the rest of the rows wait for the next day.
_LEAST_LEFT = 0.05
# After this time the rows that the budget did not allow are given up.
PATIENCE = timedelta(days=7)


@dataclass
class PeriodEvaluator:
    """Evaluates closed periods, the newest first, so that every period gets a part of a budget that is too small."""

    store: WatchStore
    intake: Intake
    metrics: Sequence[str]
    now: datetime
    budget_per_day: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    note: Callable[[str], object] = lambda _: None
    # The drawn rows of the period that is evaluated.
    _drawn: tuple[str, pa.Table] | None = field(default=None, init=False)

    def evaluate_all(self) -> None:
        """Evaluate all that the budget allows."""
        for name in reversed(self.intake.state.in_phase(CLOSED)):
            period = self.intake.state.periods[name]
            rows = sum(period.drawn.values())
            self._evaluate(name, period, rows)
            if period.evaluated >= rows or datetime.fromisoformat(period.closed_at) + PATIENCE <= self.now:
                period.phase, period.attempt = COMPLETE, None
                self.intake.commit()
            self.store.write_period(make_record(name, period, self.intake))

    def _evaluate(self, name: str, period: PeriodState, rows: int) -> None:
        was_stopped = False
        while period.evaluated < rows:
            spent_today = self.intake.state.spent.get(self._today, 0.0)
            left = None if self.budget_per_day is None else self.budget_per_day - spent_today
            if left is not None and (self.budget_per_day is None or left <= _LEAST_LEFT * self.budget_per_day):
                self.note(f"{name}: the budget of today is spent; {rows - period.evaluated} rows wait")
                return
            attempt = period.attempt or Attempt(f"{name}-{len(period.runs):03d}", 0)
            attempt.rows = min(attempt.rows or self._rows_for(left), rows - period.evaluated)
            attempt.reserved_usd = self._reservation(attempt.rows, left, was_stopped)
            self._spend(attempt.reserved_usd)
            period.attempt = attempt
            self.intake.commit()
            budget = None if left is None else Budget(attempt.reserved_usd)
            run = self._run(name, period, attempt, budget)
            # Workers of a cluster do not spend from this budget, but from one that they share.
            spent = max(budget.spent_usd, run.info["totals"].get("cost_usd") or 0.0) if budget else 0.0
            self._spend(spent - attempt.reserved_usd)
            if was_stopped_by_budget(run):
                run.folder.place.remove_folder()
                if attempt.rows == 1 and was_stopped:
                    self.note(f"{name}: one row costs more than the budget of a day has left")
                    self.intake.commit()
                    return
                attempt.rows, was_stopped = max(1, attempt.rows // 2), True
                self.intake.commit()
                continue
            self._record(period, attempt, run)
            self.intake.commit()

    def _run(self, name: str, period: PeriodState, attempt: Attempt, budget: Budget | None) -> Run:
        if self._drawn is None or self._drawn[0] != name:
            self._drawn = name, self.intake.drawn(name).select(SAMPLES.names)
        rows = self._drawn[1].slice(period.evaluated, attempt.rows)
        options = {**self.options, **({"budget": budget} if budget else {})}
        return evaluate(
            Dataset(rows.combine_chunks(), name),
            list(self.metrics),
            str(self.store.place),
            format="ragstone",
            name=f"{self.store.place.name} {name}",
            run_id=attempt.run,
            **options,
        )

    def _record(self, period: PeriodState, attempt: Attempt, run: Run) -> None:
        cost = float(run.info["totals"].get("cost_usd") or 0.0)
        if cost:
            self.intake.state.cost_per_row = cost / attempt.rows
        if self.budget_per_day is None:
            self._spend(cost)
        period.spent_usd += cost
        period.runs.append(attempt.run)
        period.evaluated += attempt.rows
        period.attempt = None

    @property
    def _today(self) -> str:
        return self.now.date().isoformat()

    def _spend(self, amount_usd: float) -> None:
        self.intake.state.spend(self._today, amount_usd)

    def _rows_for(self, left: float | None) -> int:
        cost = self.intake.state.cost_per_row
        most = ROWS_PER_RAY_RUN if self.options.get("backend") == "ray" else ROWS_PER_RUN
        if left is None:
            return most
        return _PILOT_ROWS if cost is None else max(1, min(most, int(left / (_COST_MARGIN * cost))))

    def _reservation(self, rows: int, left: float | None, was_stopped: bool) -> float:
        """The most that a run may cost; if it is killed, this much counts as spent."""
        if left is None:
            return 0.0
        expected = 2 * rows * (self.intake.state.cost_per_row or 0.0)
        return left if was_stopped else min(left, max(left / 4, expected))


def was_stopped_by_budget(run: Run) -> bool:
    """Whether cells of a run failed because the budget was spent: these rows are not a random part."""
    reasons = run.scores["reason"].unique().to_pylist()
    return any(reason and SPENT in reason for reason in reasons)


def make_record(name: str, period: PeriodState, intake: Intake) -> PeriodRecord:
    """The public record of a period, from the state."""
    strata: dict[str, str] = {}
    if period.evaluated:  # the rows of an open period are not read
        rows = intake.drawn(name).select(["id", "watch_stratum"]).slice(0, period.evaluated)
        strata = dict(zip(rows["id"].to_pylist(), rows["watch_stratum"].to_pylist(), strict=True))
    return PeriodRecord(
        name,
        seen=dict(period.seen),
        drawn=dict(period.drawn),
        runs=tuple(period.runs),
        weights=design_weights(period.seen, strata),
        strata=strata,
        complete=period.phase == COMPLETE,
        spent_usd=round(period.spent_usd, 6),
        evaluated=dict(Counter(strata.values())),
        late=period.late,
    )
