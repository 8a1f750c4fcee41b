"""The progress of a run that is not finished, and its scores so far."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.parquet as pq

from ragstone.errors import StorageError
from ragstone.report.text import one_line
from ragstone.stats.intervals import mean_interval
from ragstone.storage.places import Place, read_json
from ragstone.storage.runs import RunFolder, read_table
from ragstone.storage.scores import FAILED, read_score_files

_MAX_METRICS = 40


def progress_of(folder: RunFolder) -> dict[str, Any] | None:
    """Return the progress of a run; None if it is finished or the folder is not a run."""
    try:
        if folder.manifest.exists() or not folder.plan.exists():
            return None
        plan = _plan(folder)
        total = _rows(folder.samples) if folder.samples.exists() else 0
        parts = sorted(folder.finished_parts())
        metrics = _metrics(folder, parts)
        cells = sum(_rows(folder.part(number).scores) for number in parts)
        working = folder.is_worked_on()
    except StorageError:  # the run was finished or removed in the meantime
        return None
    return {
        "id": folder.id,
        "name": one_line(str(plan.get("name") or folder.id), 120),
        "address": f"/runs/{folder.id}",
        "begun": str(plan.get("created_at", "")),
        "done": cells // len(metrics) if metrics else 0,
        "total": total,
        "parts": len(parts),
        "working": working,
    }


def live_page(folder: RunFolder) -> dict[str, Any] | None:
    """The page of a run that is not finished; None if it is."""
    progress = progress_of(folder)
    if progress is None:
        return None
    return {"page": "live", "title": progress["name"], "progress": progress, "metrics": _means(folder)}


def _plan(folder: RunFolder) -> dict[str, Any]:
    plan = read_json(folder.plan)
    return plan if isinstance(plan, dict) else {}


def _metrics(folder: RunFolder, parts: list[int]) -> list[str]:
    if not parts:
        return []
    column = read_table(folder.part(parts[0]).scores, ["metric"])["metric"]
    return [str(name) for name in column.unique().to_pylist()]


def _means(folder: RunFolder) -> list[dict[str, Any]]:
    """Return the mean and interval per metric over the finished rows."""
    try:
        parts = sorted(folder.finished_parts())
        names = _metrics(folder, parts)[:_MAX_METRICS]
        bounds = _plan(folder).get("bounds") or {}
        scores = read_score_files([folder.part(number).scores for number in parts], names)
    except StorageError:
        return []
    means = []
    for name in names:
        values = scores[name].values[~np.isnan(scores[name].values)]
        low, high = bounds.get(name, (None, None))
        interval = mean_interval(values, bounds=(low, high))
        means.append(
            {
                "metric": name,
                "mean": float(values.mean()) if len(values) else None,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
                "rows": len(values),
                "failed": int(np.count_nonzero(scores[name].states == FAILED)),
            }
        )
    return means


def _rows(file: Place) -> int:
    """Return the number of rows of a Parquet file from its footer."""
    with file.open_input() as stream:
        return int(pq.ParquetFile(stream).metadata.num_rows)
