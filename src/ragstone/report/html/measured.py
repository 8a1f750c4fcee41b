"""How a run was measured: signatures, judge, prompts, versions, cost. Who doubts a number looks here."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from ragstone.storage.runs import Run, read_table

_COUNTS = ("calls", "cached_calls", "input_tokens", "output_tokens", "cost_usd", "seconds")


def measured(run: Run) -> dict[str, Any]:
    """The facts behind a run's numbers."""
    info = run.info
    code = info.get("code") or {}
    about = {
        "run": run.id,
        "begun": info["created_at"],
        "finished": info["finished_at"],
        "data": f"{info['dataset']['rows']:,} samples, {info['dataset']['format']}, fingerprint {info['dataset']['fingerprint']}",
        **{name: str(value) for name, value in (info.get("judge") or {}).items()},
        **{f"prompt {name}": str(prompt["hash"]) for name, prompt in (info.get("prompts") or {}).items()},
        **{name: str(value) for name, value in info["versions"].items()},
    }
    if code:
        about["code"] = ", ".join(f"{name} {value}" for name, value in code.items())
    return {
        "about": about,
        "params": {name: str(value) for name, value in (info.get("params") or {}).items()},
        "signatures": [(metric["metric"], metric["signature"]) for metric in info["metrics"]],
        "not_computed": _by_reason(info["skipped"]),
        "totals": {name: info["totals"].get(name, 0) for name in _COUNTS},
        "models": _models(run),
    }


def _by_reason(skipped: dict[str, str]) -> list[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for metric, reason in skipped.items():
        found.setdefault(reason, []).append(metric)
    return list(found.items())


def _models(run: Run) -> list[dict[str, Any]]:
    """Calls, tokens and money by model and kind of evidence; the file of calls is not read where there was none."""
    if not run.info["totals"].get("calls") and not run.info["totals"].get("cached_calls"):
        return []
    columns = ["model", "evidence", "input_tokens", "output_tokens", "cost_usd", "cached", "error"]
    calls = read_table(run.folder.calls, columns)
    failed = pc.is_valid(calls["error"]).cast("int64")
    table = calls.append_column("failed", failed).set_column(5, "cached", calls["cached"].cast("int64"))
    sums = [(name, "sum") for name in ("input_tokens", "output_tokens", "cost_usd", "cached", "failed")]
    found = table.group_by(["model", "evidence"]).aggregate([*sums, ([], "count_all")]).to_pylist()
    return sorted(found, key=lambda row: (str(row["model"]), str(row["evidence"])))
