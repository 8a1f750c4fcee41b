"""What people would probably say of a run that the local judge decided: its means with the judge's measured error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ragstone.data.summary import SummaryRow
from ragstone.stats.judge_error import People
from ragstone.storage.run_info import RunInfo

NOT_MEASURED = "the judge's error on this metric is not measured"


def people_of(info: RunInfo, rows: Iterable[SummaryRow]) -> dict[str, People]:
    """What people would say, per metric whose error was measured on other domains."""
    found = {}
    for row in rows:
        error = info.judge_error.get(row.metric)
        if error and row.mean is not None and row.ci_low is not None and row.ci_high is not None:
            found[row.metric] = error.people(row.mean, row.ci_low, row.ci_high)
    return found


def people_dict(info: RunInfo, row: SummaryRow) -> dict[str, Any] | None:
    """The same for JSON: mean and interval, or why there is none; None for metrics without the local judge."""
    if people := people_of(info, [row]).get(row.metric):
        low, high = people.interval()
        return {"mean": people.mean, "low": low, "high": high}
    metric = info.metric(row.metric)
    if metric is None or not metric.signature.is_local:
        return None
    reason = NOT_MEASURED if row.metric not in info.judge_error else "there are too few scores"
    return {"mean": None, "low": None, "high": None, "reason": reason}


def unmeasured(info: RunInfo) -> list[str]:
    """The metrics of the local judge whose error is not measured."""
    return [
        metric.metric for metric in info.metrics if metric.signature.is_local and metric.metric not in info.judge_error
    ]
