"""What run.json says about a run."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from ragstone._version import __version__
from ragstone.engine.planning import Plan
from ragstone.engine.profiling import Profile
from ragstone.storage.places import Place
from ragstone.storage.runs import LAYOUT, RunFolder


def describe_run(
    folder: RunFolder, plan: Plan, profile: Profile, created: str, totals: Mapping[str, Any]
) -> dict[str, Any]:
    """What was computed from what, when, and what it took."""
    return {
        "layout": LAYOUT,
        "id": folder.id,
        "name": folder.id,
        "status": "finished",
        "created_at": created,
        "finished_at": now(),
        "dataset": asdict(profile),
        "metrics": [
            {
                "metric": step.name,
                "signature": step.signature,
                "family": step.metric.spec.family,
                "judges": step.metric.spec.judges,
                "against": step.metric.spec.against,
                "better": step.metric.spec.better,
                "bounds": step.metric.spec.bounds,
            }
            for step in plan.metrics
        ],
        "skipped": dict(plan.skipped),
        "evidence": [name for name, _ in plan.stored_evidence()],
        "versions": {
            "ragstone": __version__,
            "python": platform.python_version(),
            **{package: metadata.version(package) for package in ("numpy", "pyarrow", "scipy")},
        },
        "code": _code_revision(),
        "totals": dict(totals),
    }


def write_json(place: Place, value: Any) -> None:
    """JSON that people can read, complete or absent."""
    place.write_bytes(json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n")


def now() -> str:
    """This second, as files have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _code_revision() -> dict[str, Any] | None:
    """The commit of the user's working folder, so that a run can be traced to the code that was evaluated."""
    try:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=True)
        status = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit.stdout.strip(), "dirty": bool(status.stdout.strip())}
