"""A run in memory: one column of numbers a metric, ids and questions; what a table of samples is sorted and filtered by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.compare.corpus import is_of_all_rows
from ragstone.compare.slices import find_columns
from ragstone.compare.worst import measure_quality
from ragstone.report.html.plots import count_values
from ragstone.storage.labels import read_labels
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import FAILED, OK, SKIPPED, Scores, read_scores
from ragstone.web.table import WORST, TableState

_LONGEST_QUESTION = 300


@dataclass(frozen=True)
class RunIndex:
    """What is kept of a run."""

    run: Run
    metrics: Sequence[Mapping[str, Any]]
    scores: Mapping[str, Scores]
    ids: pa.ChunkedArray
    questions: pa.ChunkedArray
    quality: np.ndarray
    _labels: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def bounded(self) -> list[Mapping[str, Any]]:
        """The metrics from 0 to 1 that are means of their rows; all means where there are none."""
        means = [m for m in self.metrics if not is_of_all_rows(m["metric"], self.run, self.scores[m["metric"]])]
        return [metric for metric in means if tuple(metric["bounds"]) == (0.0, 1.0)] or means

    @cached_property
    def spreads(self) -> dict[str, dict[str, Any]]:
        """How the values of each metric are spread."""
        return {m["metric"]: _spread(self.scores[m["metric"]].values, m["bounds"]) for m in self.metrics}

    @cached_property
    def columns(self) -> list[str]:
        """The columns of the metadata that cut the samples into slices."""
        return find_columns(self.run)

    def labels(self, column: str) -> np.ndarray:
        """The label of each sample in one of these columns."""
        if column not in self._labels:
            self._labels[column] = read_labels(self.run, column)
        return self._labels[column]

    @cached_property
    def _answers(self) -> pa.ChunkedArray:
        return read_table(self.run.folder.samples, ["answer"])["answer"]

    @cached_property
    def _worst_states(self) -> np.ndarray:
        """Whether a row has a failed cell, a skipped one, or neither."""
        worst = np.full(len(self.ids), OK, dtype=np.int8)
        for wanted in (SKIPPED, FAILED):
            for column in self.scores.values():
                worst[column.states == wanted] = wanted
        return worst

    def order(self, state: TableState, causes: Sequence[str] | None) -> np.ndarray:
        """The rows that a table shows, in its order; without causes as long as they are being looked for."""
        rows = self._sorted(state, causes)
        fitting: np.ndarray = rows[self._fitting(state, causes)[rows]]
        return fitting

    def _sorted(self, state: TableState, causes: Sequence[str] | None) -> np.ndarray:
        if state.sort == WORST:
            return self._worst_first(causes or ())
        if state.sort == "row":
            rows = np.arange(len(self.ids))
            return rows[::-1] if state.descending else rows
        values = self.quality if state.sort == "quality" else self.scores[state.sort].values
        # What has no value comes last, whichever way the others go.
        return np.argsort(-values if state.descending else values, kind="stable")

    def _worst_first(self, causes: Sequence[str]) -> np.ndarray:
        """Those with a fault, then the others, each from the lowest quality up; what has no score comes last."""
        sound = np.ones(len(self.ids), dtype=bool)
        sound[[row for row, cause in enumerate(causes) if cause]] = False
        return np.lexsort((np.nan_to_num(self.quality, nan=2.0), sound))

    def _fitting(self, state: TableState, causes: Sequence[str] | None) -> np.ndarray:
        fits = np.ones(len(self.ids), dtype=bool)
        if state.status:
            wanted = {"failed": FAILED, "skipped": SKIPPED, "complete": OK}[state.status]
            fits &= self._worst_states == wanted
        if state.cause:
            found = np.full(len(self.ids), None, dtype=object)
            found[: len(causes or ())] = list(causes or ())
            fits &= _with_cause(found, state.cause)
        if state.slice:
            fits &= self._in_slice(state.slice)
        for word in state.query.split():
            fits &= self._having(word)
        return fits

    def _in_slice(self, wanted: str) -> np.ndarray:
        # A name may have the sign in it that ends names: the longest that fits is meant.
        fitting = [column for column in self.columns if wanted.startswith(f"{column}=")]
        if not fitting:
            return np.zeros(len(self.ids), dtype=bool)
        column = max(fitting, key=len)
        label = wanted.removeprefix(f"{column}=")
        # One by one: numpy would take a text for one without the zero bytes at its end.
        return np.array([found == label for found in self.labels(column)], dtype=bool)

    def _having(self, word: str) -> np.ndarray:
        found = np.zeros(len(self.ids), dtype=bool)
        for column in (self.ids, self.questions, self._answers):
            matches = pc.fill_null(pc.match_substring(column, word, ignore_case=True), fill_value=False)
            found |= matches.to_numpy().astype(bool)
        return found

    def question(self, row: int) -> str:
        """The beginning of a question."""
        return str(self.questions[row].as_py() or "")[:_LONGEST_QUESTION]

    def value(self, metric: str, row: int) -> float | None:
        """One cell."""
        return number(self.scores[metric].values[row])


def _with_cause(found: np.ndarray, cause: str) -> np.ndarray:
    if cause == "any fault":
        return np.array([bool(word) for word in found], dtype=bool)
    wanted = "" if cause == "no fault" else cause
    return np.array([word == wanted for word in found], dtype=bool)


def read_index(run: Run) -> RunIndex:
    """Read the columns of a run."""
    metrics = run.info["metrics"]
    scores = read_scores(run, [metric["metric"] for metric in metrics])
    table = read_table(run.folder.samples, ["id", "question"])
    quality = measure_quality(metrics, scores, table.num_rows)
    return RunIndex(run, metrics, scores, table["id"], table["question"], quality)


def number(value: float) -> float | None:
    """A number as JSON can say it."""
    return None if np.isnan(value) else float(value)


def _spread(values: np.ndarray, bounds: Sequence[float | None]) -> dict[str, Any]:
    there = values[~np.isnan(values)]
    least, most = (float(there.min()), float(there.max())) if len(there) else (0.0, 1.0)
    low, high = (least if bounds[0] is None else bounds[0]), (most if bounds[1] is None else bounds[1])
    if high <= low:
        low, high = low - 0.5, low + 0.5
    return {"low": low, "high": high, "counts": [int(count) for count in count_values(there, low, high)]}
