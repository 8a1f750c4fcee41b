"""An evaluation that is under way: how far it is, and how the scores stand so far."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.parquet as pq

from ragstone.errors import StorageError
from ragstone.report.plain import one_line
from ragstone.stats.intervals import mean_interval
from ragstone.storage.places import Place, read_json
from ragstone.storage.runs import RunFolder, read_table
from ragstone.storage.scores import FAILED, read_score_files

_MOST_METRICS = 40


def progress_of(folder: RunFolder) -> dict[str, Any] | None:
    """How far a run is; None if it is finished, or no run at all."""
    try:
        if folder.manifest.exists() or not folder.plan.exists():
            return None
        plan = _plan(folder)
        total, parts = _rows(folder.samples), sorted(folder.finished_parts())
        metrics = _metrics(folder, parts)
        cells = sum(_rows(folder.part(number).scores) for number in parts)
        working = folder.is_worked_on()
    except StorageError:  # it was finished, or removed, while we looked
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
    """A run that is not finished; None if it is."""
    progress = progress_of(folder)
    if progress is None:
        return None
    return {"page": "live", "title": progress["name"], "progress": progress, "metrics": _means(folder)}


def _plan(folder: RunFolder) -> dict[str, Any]:
    found = read_json(folder.plan)
    return found if isinstance(found, dict) else {}


def _metrics(folder: RunFolder, parts: list[int]) -> list[str]:
    if not parts:
        return []
    column = read_table(folder.part(parts[0]).scores, ["metric"])["metric"]
    return [str(name) for name in column.unique().to_pylist()]


def _means(folder: RunFolder) -> list[dict[str, Any]]:
    """The means of the rows so far."""
    try:
        parts = sorted(folder.finished_parts())
        names = _metrics(folder, parts)[:_MOST_METRICS]
        bounds = _plan(folder).get("bounds") or {}
        scores = read_score_files([folder.part(number).scores for number in parts], names)
    except StorageError:
        return []
    found = []
    for name in names:
        values = scores[name].values[~np.isnan(scores[name].values)]
        low, high = bounds.get(name, (None, None))
        interval = mean_interval(values, bounds=(low, high))
        found.append(
            {
                "metric": name,
                "mean": float(values.mean()) if len(values) else None,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
                "rows": len(values),
                "failed": int(np.count_nonzero(scores[name].states == FAILED)),
            }
        )
    return found


def _rows(place: Place) -> int:
    """How many rows a file has, from its foot alone."""
    with place.open_input() as stream:
        return int(pq.ParquetFile(stream).metadata.num_rows)
