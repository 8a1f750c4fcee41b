"""The page of a run that is being computed: its progress, its speed, its cost, the lowest of the newest samples, and how to stop it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from starlette.datastructures import QueryParams

from ragstone.engine.metric_choice import find_metric
from ragstone.errors import StorageError, UsageError
from ragstone.stats.intervals import mean_interval
from ragstone.storage.durable import FILE, is_local, process_start, read_owner
from ragstone.storage.leftovers import RESCORES
from ragstone.storage.places import Place, read_json, storage_errors
from ragstone.storage.runs import RunFolder, read_table
from ragstone.storage.scores import FAILED, read_score_files
from ragstone.views.phrases import one_line
from ragstone.web.library import Library

# A sample below this mean score is shown while the run is computed.
_LOW = 0.5
_MAX_LOW = 5
# The newest parts are looked at: all of them would be read again every two seconds.
_NEWEST_PARTS = 3
_MAX_MONEY_PARTS = 2_000
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
        rows = {number: _rows(folder.part(number).scores) // max(1, len(metrics)) for number in parts}
        done, working = sum(rows.values()), folder.is_worked_on()
        speed = _measure_speed(folder, rows, max(0, total - done)) if working else {"rate": None, "left_s": None}
    except StorageError:  # the run was finished or removed in the meantime
        return None
    return {
        "id": folder.id,
        "name": one_line(str(plan.get("name") or folder.id), 120),
        "address": f"/runs/{folder.id}",
        "begun": str(plan.get("created_at", "")),
        "done": done,
        "total": total,
        "parts": len(parts),
        "command": str(plan.get("command") or ""),
        "rescore": RESCORES in plan,
        "working": working,
        **speed,
    }


def live_page(folder: RunFolder, asked_to_stop: bool = False) -> dict[str, Any] | None:
    """The page of a run that is not finished; None if it is."""
    progress = progress_of(folder)
    if progress is None:
        return None
    more: dict[str, Any] = {"cost": {"spent_usd": None, "budget_usd": None}, "low": [], "can_stop": False}
    try:
        parts, plan = sorted(folder.finished_parts()), _plan(folder)
        stops = progress["working"] and _can_stop(folder, plan)
        more = {"cost": _measure_cost(folder, parts, plan), "low": _newest_low(folder, parts), "can_stop": stops}
    except StorageError:  # the run was finished in the meantime
        pass
    return {
        "page": "live",
        "title": progress["name"],
        "progress": progress,
        "metrics": _means(folder),
        **more,
        "asked_to_stop": asked_to_stop,
    }


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


def _measure_speed(folder: RunFolder, parts: Mapping[int, int], left: int) -> dict[str, float | None]:
    """Rows per second since the process started, and the seconds left; None before its first part.

    `parts` has the rows of each finished part. Parts of an earlier process do not count.
    """
    started = _modified(folder.place / FILE)
    rows = sum(rows for number, rows in parts.items() if _modified(folder.part(number).scores) >= started)
    seconds = time.time() - started
    if not started or not rows or seconds <= 0:
        return {"rate": None, "left_s": None}
    return {"rate": rows / seconds, "left_s": left * seconds / rows}


def _modified(place: Place) -> float:
    with storage_errors(f"cannot look at {place}"):
        return (place.files.get_file_info(place.path).mtime_ns or 0) / 1e9


def _measure_cost(folder: RunFolder, parts: Sequence[int], plan: Mapping[str, Any]) -> dict[str, float | None]:
    """The money that the finished parts took, and the budget; None if unknown. Parts that are being computed do not count."""
    spent: float | None = None
    with_calls = sorted(folder.parts_with("calls.parquet") & set(parts))
    if len(with_calls) <= _MAX_MONEY_PARTS:
        for number in with_calls:
            costs = pc.sum(read_table(folder.part(number).calls, ["cost_usd"])["cost_usd"]).as_py()
            spent = (spent or 0.0) + (costs or 0.0)
    budget = plan.get("budget_usd")
    return {"spent_usd": spent, "budget_usd": float(budget) if isinstance(budget, int | float) else None}


def _newest_low(folder: RunFolder, parts: Sequence[int]) -> list[dict[str, Any]]:
    """The samples of the newest parts with failed or low scores, the newest part first, its lowest first."""
    found: list[dict[str, Any]] = []
    for number in sorted(parts, reverse=True)[:_NEWEST_PARTS]:
        found += _low_rows(read_table(folder.part(number).scores, ["sample_id", "metric", "value", "status", "reason"]))
    found = found[:_MAX_LOW]
    if found:
        samples = read_table(folder.samples, ["id", "question"])
        at = pc.index_in(pa.array([row["id"] for row in found], pa.string()), value_set=samples["id"].cast(pa.string()))
        for row, place in zip(found, at.to_pylist(), strict=True):
            row["question"] = "" if place is None else one_line(samples["question"][place].as_py() or "", 160)
            row["id"] = one_line(row["id"], 60)
    return found


def _low_rows(scores: pa.Table) -> list[dict[str, Any]]:
    """The samples of a part with a failed score or a low mean of the scores from 0 to 1."""
    shares = {name: share for name in scores["metric"].unique().to_pylist() if (share := _direction(name)) is not None}
    values: dict[str, list[float]] = {}
    failures: dict[str, str] = {}
    for cell in scores.to_pylist():
        if cell["status"] == "failed":
            failures.setdefault(cell["sample_id"], f"{cell['metric']} failed: {cell['reason'] or ''}")
        elif cell["metric"] in shares and cell["value"] is not None:
            value = cell["value"] if shares[cell["metric"]] else 1.0 - cell["value"]
            values.setdefault(cell["sample_id"], []).append(value)
    means = {name: float(np.mean(each)) for name, each in values.items()}
    low = {name for name, mean in means.items() if mean < _LOW} | set(failures)
    rows = [{"id": name, "mean": means.get(name), "failure": one_line(failures.get(name, ""), 200)} for name in low]
    return sorted(
        rows, key=lambda row: (not row["failure"], row["mean"] if row["mean"] is not None else 0.0, row["id"])
    )


def _direction(metric: str) -> bool | None:
    """Whether high values of a share are good; None for other metrics."""
    known = find_metric(metric)
    if known is None or known.spec.bounds != (0.0, 1.0) or known.spec.better == "none" or known.quantile is not None:
        return None
    return known.spec.better == "higher"


def _can_stop(folder: RunFolder, plan: Mapping[str, Any]) -> bool:
    """Whether a command on this machine certainly computes the run: same process number and same start.

    Runs that Python code started are left alone: the signal would end the program that called it.
    """
    owner = read_owner(folder.place) if folder.place.is_local else None
    return bool(owner and plan.get("command") and _is_certain(owner))


def _is_certain(owner: Mapping[str, Any]) -> bool:
    pid, started = owner["pid"], owner.get("started")
    if not is_local(owner) or not isinstance(pid, int) or pid <= 1 or pid == os.getpid():
        return False
    return started is not None and process_start(pid) == started


def stop(library: Library, form: QueryParams, run: str) -> dict[str, Any]:
    """Stop the process that computes a run, as Ctrl-C does."""
    del form
    folder = library.folder(run)
    if progress_of(folder) is not None:
        _stop_run(folder, _plan(folder))
    return {"go": f"/runs/{folder.id}?stop=1"}


def _stop_run(folder: RunFolder, plan: Mapping[str, Any]) -> None:
    """Send Ctrl-C to the process of a run. Its finished parts are kept."""
    owner = read_owner(folder.place) if folder.place.is_local else None
    # Windows has no signal for one process other than its end.
    if owner is None or not plan.get("command") or sys.platform == "win32":
        raise UsageError("this run cannot be stopped from here. Press Ctrl-C where it was started.")
    pid, handle = owner["pid"], None
    try:
        # The handle keeps its process: a new process with the same number does not get the signal.
        if hasattr(os, "pidfd_open") and isinstance(pid, int) and pid > 1:
            handle = os.pidfd_open(pid)
        if not _is_certain(owner):
            raise UsageError("this run cannot be stopped from here: its process is gone or runs on another machine.")
        if handle is not None:
            signal.pidfd_send_signal(handle, signal.SIGINT)
        else:
            os.kill(pid, signal.SIGINT)
    except OSError as error:
        raise StorageError(f"cannot stop process {pid}: {error.strerror}") from None
    finally:
        if handle is not None:
            with suppress(OSError):
                os.close(handle)


CHANGES = {"/runs/{run}/stop": stop}
