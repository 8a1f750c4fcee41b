"""Which stored runs a version of ground truth is about, and scoring them against it without any call of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.errors import UsageError
from ragstone.storage.runs import Run
from ragstone.truth.joining import CaseMatcher
from ragstone.truth.versions import Version
from ragstone.web.library import Library
from ragstone.web.pages.run import about
from ragstone.web.truth.addresses import truth_address
from ragstone.web.truth.beside import MOST_RUNS, newest_runs
from ragstone.web.truth.shelf import Held
from ragstone.web.truth.table import about_truth, read_version


def rescore_page(library: Library, name: str, query: Mapping[str, str]) -> dict[str, Any]:
    """The runs with samples that are cases of a version, and how far each is."""
    held = library.truth.held(name, read_version(query["v"]) if query.get("v") else None)
    runs = newest_runs(library)
    rows = [_row(library, held, run, runs) for run in runs if not _rescored_from(run)]
    shown = [row for row in rows if row["joined"]]
    return {
        "page": "rescore",
        "title": f"{name} v{held.info.number}: rescore runs",
        "truth": about_truth(library.truth, held),
        "runs": shown,
        "working": any(row["job"]["state"] in ("waiting", "working") for row in shown if row["job"]),
        "others": len(rows) - len(shown),
        "most": MOST_RUNS,
    }


def start_rescoring(library: Library, name: str, query: Mapping[str, str], runs: Sequence[str]) -> dict[str, Any]:
    """Begin with the runs that were ticked."""
    held = library.truth.held(name, read_version(query.get("v", "")))
    if not runs:
        raise UsageError("no run was ticked; go back and tick those to score against this version")
    version = Version(held.info, list(held.cases))
    for run in runs:
        library.rescoring.start(library.run(run), version)
    return {"go": truth_address(name, "rescore", v=held.info.number)}


def _row(library: Library, held: Held, run: Run, runs: Sequence[Run]) -> dict[str, Any]:
    truth = run.info.get("truth") or {}
    scored = f"{truth['name']}@{truth['version']}" if truth else ""
    return {
        **about(run),
        "joined": library.joined(run, held, lambda: _count_joined(library, run, held)),
        "scored_against": scored,
        "same": scored == held.info.reference,
        "job": _job(library, held, run, runs),
    }


def _count_joined(library: Library, run: Run, held: Held) -> int:
    """How many samples are surely about a case; the same id alone is not enough."""
    matcher = CaseMatcher(held.cases)
    table = library.asked(run)
    for name, question in zip(table["id"].to_pylist(), table["question"].to_pylist(), strict=True):
        matcher.find(name, question, None)
    counts = matcher.counts()
    sure = counts["by_id"] + counts["by_question"] - counts["asked_otherwise"]
    return counts["by_id"] + counts["by_question"] if sure else 0


def _job(library: Library, held: Held, run: Run, runs: Sequence[Run]) -> dict[str, Any] | None:
    """What this viewer is doing with a run, or what was done earlier."""
    job = library.rescoring.job(run.id, held.info.name, held.info.number)
    if job is not None and job.state != "done":
        return {"state": job.state, "done": job.done, "total": job.total, "why": job.why}
    result = job.result if job else _made_before(held, run, runs)
    if not result:
        return None
    made = library.run(result)
    without = _without_value(library, run, made)
    return {
        "state": "done",
        "result": about(made),
        "compare": f"/compare/{run.id}/{result}",
        "without": without,
        "cells": sum(item["cells"] for item in without),
    }


def _without_value(library: Library, run: Run, made: Run) -> list[dict[str, Any]]:
    """The metrics with fewer values than before, and why: mostly since a model would have to be asked again."""
    before, after = library.summary(run), library.summary(made)
    return [
        {"metric": name, "cells": old.n_ok - after[name].n_ok, "why": after[name].reason or ""}
        for name, old in before.items()
        if name in after and after[name].n_ok < old.n_ok
    ]


def _made_before(held: Held, run: Run, runs: Sequence[Run]) -> str:
    wanted = (held.info.name, held.info.number)
    for other in runs:
        truth = other.info.get("truth") or {}
        if _rescored_from(other) == run.id and (truth.get("name"), truth.get("version")) == wanted:
            return other.id
    return ""


def _rescored_from(run: Run) -> str:
    return str((run.info.get("rescored") or {}).get("run", ""))
