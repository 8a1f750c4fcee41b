"""The data of a run that its page needs, read once: scores, causes, quality and samples."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.compare.cause_names import Outcome
from ragstone.compare.diagnosis import Diagnosis, diagnose
from ragstone.compare.sample_evidence import read_cases_at
from ragstone.compare.sample_order import measure_quality
from ragstone.compare.signs import people_of
from ragstone.data.summary import ALL, SummaryRow
from ragstone.report.html.sample_data import Shown, show_sample
from ragstone.stats.judge_error import People
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_batches, read_table
from ragstone.storage.scores import Scores, read_scores

# The causes of more samples take minutes; `ragstone diagnose` and the viewer examine all samples.
MOST_DIAGNOSED = 100_000


@dataclass(frozen=True)
class RunData:
    """The data of one run."""

    run: Run
    metrics: Sequence[MetricInfo]
    summary: Mapping[str, SummaryRow]
    scores: Mapping[str, Scores]
    ids: pa.ChunkedArray
    quality: np.ndarray
    people: Mapping[str, People]
    known: Diagnosis | None = None

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The diagnosis; it is made when something asks for it."""
        return self.known or diagnose(self.run, MOST_DIAGNOSED)

    @property
    def faulty(self) -> list[int]:
        """The rows with a fault."""
        return [row for row, outcome in enumerate(self.diagnosis.outcomes) if outcome.cause]

    def outcome(self, row: int) -> Outcome:
        """The outcome of a row. Only the first rows are diagnosed."""
        outcomes = self.diagnosis.outcomes
        if row < len(outcomes):
            return outcomes[row]
        return Outcome(self.ids[row].as_py(), undecided=f"only the first {len(outcomes):,} samples were diagnosed")


def read_run_data(run: Run, diagnosis: Diagnosis | None = None) -> RunData:
    """Read the data that all parts of a page share; `diagnosis` if it is known already."""
    metrics = run.info["metrics"]
    scores = read_scores(run, [metric["metric"] for metric in metrics])
    ids = read_table(run.folder.samples, ["id"])["id"]
    summary = {row.metric: row for row in run.summary() if row.slice == ALL}
    return RunData(
        run=run,
        metrics=metrics,
        summary=summary,
        scores=scores,
        ids=ids,
        quality=measure_quality(metrics, scores, len(ids)),
        people=people_of(run.info, summary.values()),
        known=diagnosis,
    )


def show_rows(data: RunData, rows: Collection[int], prefix: str = "s") -> dict[int, Shown]:
    """The samples of these rows in full, by row number."""
    cases = read_cases_at(data.run, rows)
    cells = _cells(data.run, [case.sample.id for case in cases.values()])
    return {
        row: show_sample(
            row,
            cases[row],
            data.outcome(row),
            cells.get(cases[row].sample.id, []),
            None if np.isnan(data.quality[row]) else float(data.quality[row]),
            prefix,
        )
        for row in rows
    }


def _cells(run: Run, ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The scores of these samples with their reasons, in one pass over the file."""
    wanted = pa.array(ids, pa.string())
    cells: dict[str, list[dict[str, Any]]] = {}
    names = ["sample_id", "metric", "value", "status", "reason"]
    for batch in read_batches(run.folder.scores, names):
        selected = batch.filter(pc.is_in(batch["sample_id"].cast(pa.string()), value_set=wanted))
        for cell in selected.to_pylist():
            cells.setdefault(cell.pop("sample_id"), []).append(cell)
    return cells
