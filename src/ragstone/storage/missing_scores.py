"""The cells of a run without a value, by metric and reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.storage.runs import Run, read_batches

Status = Literal["skipped", "failed", "not computed"]
_MOST_EXAMPLES = 5
_COLUMNS = ["sample_id", "metric", "status", "reason"]


@dataclass(frozen=True)
class MissingScores:
    """The cells of one metric that have no value for the same reason.

    Attributes:
        metric: Name of the metric.
        status: "skipped" (a field or a value is missing), "failed" (an error), or "not computed" (for no row).
        reason: The reason.
        count: Number of cells.
        examples: The ids of the first samples; empty if the metric was not computed.
    """

    metric: str
    status: Status
    reason: str
    count: int
    examples: tuple[str, ...] = ()


@dataclass
class _Group:
    count: int = 0
    examples: list[str] = field(default_factory=list)


def find_missing(run: Run) -> list[MissingScores]:
    """Failed cells first, then skipped ones, each by count; metrics that were not computed come last."""
    groups: dict[tuple[str, Status, str], _Group] = {}
    for batch in read_batches(run.folder.scores, _COLUMNS):
        for cell in _without_value(batch).to_pylist():
            group = groups.setdefault((cell["metric"], cell["status"], cell["reason"] or ""), _Group())
            group.count += 1
            if len(group.examples) < _MOST_EXAMPLES:
                group.examples.append(cell["sample_id"])
    found = [MissingScores(*key, group.count, tuple(group.examples)) for key, group in groups.items()]
    found.sort(key=lambda item: (item.status != "failed", -item.count))
    return [
        *found,
        *(MissingScores(name, "not computed", reason, run.info.rows) for name, reason in run.info.skipped.items()),
    ]


def read_missing_cells(run: Run) -> pa.Table:
    """All cells without a value: sample_id, metric, status, reason."""
    batches = [_without_value(batch) for batch in read_batches(run.folder.scores, _COLUMNS)]
    schema = pa.schema([(name, pa.string()) for name in _COLUMNS])
    return pa.Table.from_batches([batch.cast(schema) for batch in batches], schema)


def _without_value(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.filter(pc.not_equal(batch["status"].cast(pa.string()), "ok"))
