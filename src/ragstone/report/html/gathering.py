"""What a page needs from a run, read once: scores as columns, causes, quality, the samples to show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.compare.cases import read_cases_at
from ragstone.compare.diagnosis import Diagnosis, diagnose
from ragstone.compare.findings import Outcome
from ragstone.compare.worst import measure_quality
from ragstone.data.summary import ALL, SummaryRow
from ragstone.report.html.samples import Shown, show_sample
from ragstone.storage.runs import Run, read_batches, read_table
from ragstone.storage.scores import Scores, read_scores

# Causes of more samples take minutes; `ragstone diagnose` looks at all.
MOST_DIAGNOSED = 10_000


@dataclass(frozen=True)
class Gathered:
    """A run, read."""

    run: Run
    metrics: Sequence[Mapping[str, Any]]
    summary: Mapping[str, SummaryRow]
    scores: Mapping[str, Scores]
    diagnosis: Diagnosis
    ids: pa.ChunkedArray
    quality: np.ndarray

    @property
    def faulty(self) -> list[int]:
        """The rows in which a fault was found."""
        return [row for row, outcome in enumerate(self.diagnosis.outcomes) if outcome.cause]

    def outcome(self, row: int) -> Outcome:
        """What was found about a row; causes of rows far down were not looked for."""
        found = self.diagnosis.outcomes
        if row < len(found):
            return found[row]
        return Outcome(self.ids[row].as_py(), undecided=f"causes were looked for in the first {len(found):,} samples")


def gather(run: Run, most_diagnosed: int = MOST_DIAGNOSED) -> Gathered:
    """Read what all parts of a page share."""
    metrics = run.info["metrics"]
    scores = read_scores(run, [metric["metric"] for metric in metrics])
    ids = read_table(run.folder.samples, ["id"])["id"]
    return Gathered(
        run=run,
        metrics=metrics,
        summary={row.metric: row for row in run.summary() if row.slice == ALL},
        scores=scores,
        diagnosis=diagnose(run, most_diagnosed),
        ids=ids,
        quality=measure_quality(metrics, scores, len(ids)),
    )


def show_rows(found: Gathered, rows: Collection[int], prefix: str = "s") -> dict[int, Shown]:
    """Some samples in full, by row number, in the order asked for."""
    cases = read_cases_at(found.run, rows)
    cells = _cells(found.run, [case.sample.id for case in cases.values()])
    return {
        row: show_sample(
            row,
            cases[row],
            found.outcome(row),
            cells.get(cases[row].sample.id, []),
            None if np.isnan(found.quality[row]) else float(found.quality[row]),
            prefix,
        )
        for row in rows
    }


def _cells(run: Run, ids: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The scores of some samples with their reasons, from one look through the file."""
    wanted = pa.array(ids, pa.string())
    found: dict[str, list[dict[str, Any]]] = {}
    names = ["sample_id", "metric", "value", "status", "reason"]
    for batch in read_batches(run.folder.scores, names):
        mine = batch.filter(pc.is_in(batch["sample_id"].cast(pa.string()), value_set=wanted))
        for cell in mine.to_pylist():
            found.setdefault(cell.pop("sample_id"), []).append(cell)
    return found
