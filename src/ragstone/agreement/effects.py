"""Audit of verdicts and grades by metamorphic pairs: effects of a change that must not change the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ragstone.agreement.audit_probes import Row
from ragstone.agreement.duels import Asking
from ragstone.agreement.effect_probes import EFFECTS, Task, effect_rows, pair_places
from ragstone.data.types import Sample
from ragstone.stats.intervals import Interval, unanimous_interval
from ragstone.stats.paired import Tally, flip_signs, tally
from ragstone.stats.resampled_measures import estimate_mean
from ragstone.storage.runs import Run
from ragstone.storage.scores import read_scores

ALPHA = 0.05
LEAST_ITEMS = 8
# With fewer changed items, the interval of the resamples is too narrow.
_FEW_CHANGES = 5
_BOUNDS = (-1.0, 1.0)


@dataclass(frozen=True)
class Effect:
    """The mean change of a score between paired items, and the counts of higher, equal and lower scores."""

    task: Task
    name: str
    words: str
    n: int
    counts: Tally
    value: float | None
    interval: Interval | None
    # The sign-flip test of no effect, corrected for all effects of the task.
    p: float | None
    verdict: Literal["effect", "none seen", "too few"]

    @property
    def possible(self) -> float | None:
        """The size below which an effect is possible if none was seen."""
        return None if self.interval is None else max(abs(self.interval.low), abs(self.interval.high))


def effect_metric(task: Task, aspect: str) -> str:
    """The metric of a task: the share of claims that the chunks support, or the grade for an aspect."""
    return "ragchecker.faithfulness" if task == "verdicts" else f"grade.{aspect}"


def ask_effects(
    asking: Asking, judge: Any, task: Task, samples: Sequence[Sample], aspect: str
) -> tuple[list[Effect], Run | None]:
    """The effects on a judge, and the run with its replies; no run if the samples allow no probe."""
    rows, metric = effect_rows(task, samples), effect_metric(task, aspect)
    if not rows:
        return [], None
    run = asking.ask(judge, rows, f"audit of {judge}: {task}", [metric])
    known = any(found.metric == metric for found in run.info.metrics)
    scores = read_scores(run, [metric])[metric].values if known else np.full(len(rows), np.nan)
    return read_effects(task, rows, scores), run


def read_effects(task: Task, rows: Sequence[Row], scores: np.ndarray) -> list[Effect]:
    """The effects of a task; `scores` has one score per row, nan if there is none."""
    differences = {}
    for effect, places in pair_places(task, rows).items():
        column = np.full(max(places, default=-1) + 1, np.nan)
        for item, (before, after) in places.items():
            column[item] = scores[after] - scores[before]
        differences[effect] = column
    return measure_effects(task, differences)


def measure_effects(task: Task, differences: Mapping[str, np.ndarray]) -> list[Effect]:
    """The effects from the difference of each item, nan if there is no pair; items have the same place in all columns."""
    size = max((len(column) for column in differences.values()), default=0)
    table = np.full((size, len(differences)), np.nan)
    for place, column in enumerate(differences.values()):
        table[: len(column), place] = column
    able = (~np.isnan(table)).sum(axis=0) >= LEAST_ITEMS
    joint = flip_signs(table, family=able).joint if able.any() else np.full(len(able), np.nan)
    return [
        _measure(task, name, column[~np.isnan(column)], float(p))
        for name, column, p in zip(differences, table.T, joint, strict=True)
    ]


def _measure(task: Task, name: str, changes: np.ndarray, p: float) -> Effect:
    words, counts, n = EFFECTS[task][name], tally(changes), len(changes)
    if n < LEAST_ITEMS:
        value = float(changes.mean()) if n else None
        return Effect(task, name, words, n, counts, value, None, None, "too few")
    mean = estimate_mean(changes, np.arange(n), _BOUNDS)
    interval = mean.interval
    if interval is not None and counts.higher + counts.lower < _FEW_CHANGES:
        unseen = unanimous_interval(0.0, n, _BOUNDS)
        interval = Interval(min(interval.low, unseen.low), max(interval.high, unseen.high))
    verdict: Literal["effect", "none seen"] = "effect" if p < ALPHA else "none seen"
    return Effect(task, name, words, n, counts, mean.value, interval, p, verdict)
