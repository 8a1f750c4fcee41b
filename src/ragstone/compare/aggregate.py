"""A run in numbers, for other programs: what a web-hook sends and what a report carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.compare.diagnosis import Diagnosis
from ragstone.data.summary import ALL
from ragstone.storage.runs import Run

# The form of the result; a change that breaks a reader gets another number.
SCHEMA = "ragstone.run"
VERSION = 1


def aggregate(run: Run, diagnosis: Diagnosis | None = None) -> dict[str, Any]:
    """Means, counts, causes and costs; no text of a sample, no path and no address, which may hold what is private."""
    known = {metric["metric"]: metric for metric in run.info["metrics"]}
    rows = [row for row in run.summary() if row.slice == ALL and row.metric in known]
    dataset = run.info["dataset"]
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "run": {
            "id": run.id,
            "name": run.name,
            "created_at": run.info["created_at"],
            "finished_at": run.info["finished_at"],
            "params": dict(run.info.get("params") or {}),
            "judge": dict(run.info.get("judge") or {}),
            "ragstone": run.info["versions"].get("ragstone"),
        },
        "dataset": {"fingerprint": dataset["fingerprint"], "rows": dataset["rows"]},
        "metrics": [
            {
                "metric": row.metric,
                "mean": row.mean,
                "ci_low": row.ci_low,
                "ci_high": row.ci_high,
                "n_ok": row.n_ok,
                "n_skipped": row.n_skipped,
                "n_failed": row.n_failed,
                "better": known[row.metric]["better"],
                "bounds": list(known[row.metric]["bounds"]),
                "signature": known[row.metric]["signature"],
            }
            for row in rows
        ],
        "not_computed": dict(run.info["skipped"]),
        "diagnosis": None if diagnosis is None else _diagnosed(diagnosis),
        "totals": dict(run.info["totals"]),
    }


def _diagnosed(found: Diagnosis) -> Mapping[str, Any]:
    return {
        "limits": found.limits,
        "sure": found.sure,
        "samples": found.samples,
        "looked_at": found.looked_at,
        "failing": found.failing,
        "causes": [
            {"cause": count.cause.name, "part": count.cause.part, "main_of": count.main, "samples": count.samples}
            for count in found.causes
        ],
    }
