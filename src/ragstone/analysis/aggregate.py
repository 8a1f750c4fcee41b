"""A run as plain numbers for other programs: the content of webhooks and reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.analysis.cause_texts import causes_text, failing_text
from ragstone.analysis.diagnosis import Diagnosis
from ragstone.analysis.part_metrics import people_dict
from ragstone.data.summary import ALL
from ragstone.storage.runs import Run

# The schema of the result; breaking changes increase the version.
SCHEMA = "ragstone.run"
VERSION = 1


def aggregate(run: Run, diagnosis: Diagnosis | None = None) -> dict[str, Any]:
    """Means, counts, causes and costs; no sample text, path or URL, because these may be private."""
    known = {metric.metric: metric for metric in run.info.metrics}
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
            "params": dict(run.info.params),
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
                "people": people_dict(run.info, row),
                "n_ok": row.n_ok,
                "n_skipped": row.n_skipped,
                "n_failed": row.n_failed,
                "better": known[row.metric]["better"],
                "bounds": list(known[row.metric]["bounds"]),
                "signature": known[row.metric]["signature"],
            }
            for row in rows
        ],
        "not_computed": dict(run.info.skipped),
        "diagnosis": None if diagnosis is None else _diagnosis_dict(diagnosis),
        "totals": dict(run.info["totals"]),
    }


def _diagnosis_dict(diagnosis: Diagnosis) -> Mapping[str, Any]:
    return {
        "limits": diagnosis.limits,
        "sure": diagnosis.sure,
        "samples": diagnosis.samples,
        "looked_at": diagnosis.looked_at,
        "failing": diagnosis.failing,
        "text": f"{failing_text(diagnosis)}: {causes_text(diagnosis)}" if diagnosis.failing else "",
        "causes": [
            {"cause": count.cause.name, "part": count.cause.part, "main_of": count.main, "samples": count.samples}
            | {"look": count.look}
            for count in diagnosis.causes
        ],
    }
