"""The page that rescores stored runs against a version of ground truth, without calling a model; runs and their cases.

A sample matches the case with its id if any version of that case has its question. The id alone is not enough, because many
datasets number their rows from 1. Otherwise it matches the case with the same question.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from starlette.datastructures import QueryParams

from ragstone.errors import StorageError, UsageError
from ragstone.report.html.run_page import describe_run
from ragstone.storage.runs import Run
from ragstone.truth.join import CaseMatcher
from ragstone.truth.store import Version
from ragstone.web.library import Library
from ragstone.web.navigation import case_address, required_number, truth_address
from ragstone.web.truth.loaded_version import LoadedVersion
from ragstone.web.truth.versions import describe_truth, load_version

# Older runs are not searched for a case; their own pages still link to it.
MAX_RUNS = 30
_MAX_TRUTHS = 30


def rescore_page(library: Library, query: QueryParams, name: str) -> dict[str, Any]:
    """The runs with samples that match a case of a version, and the state of their jobs."""
    loaded = load_version(library, name, query)
    runs = newest_runs(library)
    rows = [_row(library, loaded, run, runs) for run in runs if not _rescored_from(run)]
    shown = [row for row in rows if row["joined"]]
    return {
        "page": "rescore",
        "title": f"{name} v{loaded.info.number}: rescore runs",
        "truth": describe_truth(library.truth, loaded),
        "runs": shown,
        "working": any(row["job"]["state"] in ("waiting", "working") for row in shown if row["job"]),
        "others": len(rows) - len(shown),
        "most": MAX_RUNS,
    }


def start_rescoring(library: Library, form: QueryParams, name: str) -> dict[str, Any]:
    """Start a job for each selected run."""
    loaded = library.truth.load(name, required_number(form.get("v", ""), "version"))
    runs = form.getlist("run")
    if not runs:
        raise UsageError("no run was selected; go back and select the runs to rescore")
    version = Version(loaded.info, list(loaded.cases))
    for run in runs:
        library.rescoring.start(library.run(run), version)
    return {"go": truth_address(name, "rescore", v=loaded.info.number)}


def _row(library: Library, loaded: LoadedVersion, run: Run, runs: Sequence[Run]) -> dict[str, Any]:
    return {
        **describe_run(run),
        "joined": library.joined(run, loaded, lambda: _count_joined(library, run, loaded)),
        "scored_against": _scored_against(run),
        "same": _scored_against(run) == loaded.info.reference,
        "job": _job(library, loaded, run, runs),
    }


def _count_joined(library: Library, run: Run, loaded: LoadedVersion) -> int:
    """Count the samples that match a case; 0 if none matches by more than its id."""
    matcher = CaseMatcher(loaded.cases)
    table = library.asked(run)
    for name, question in zip(table["id"].to_pylist(), table["question"].to_pylist(), strict=True):
        matcher.find(name, question, None)
    counts = matcher.counts()
    sure = counts["by_id"] + counts["by_question"] - counts["asked_otherwise"]
    return counts["by_id"] + counts["by_question"] if sure else 0


def _job(library: Library, loaded: LoadedVersion, run: Run, runs: Sequence[Run]) -> dict[str, Any] | None:
    """Return the state of the job of a run, or the result of an earlier job."""
    job = library.rescoring.job(run.id, loaded.info.name, loaded.info.number)
    if job is not None and job.state != "done":
        return {"state": job.state, "done": job.done, "total": job.total, "why": job.why}
    result = job.result if job else _earlier_result(loaded, run, runs)
    if not result:
        return None
    rescored = library.run(result)
    # Return the metrics with fewer values than before and the reasons; usually a model would have to be called
    before, after = library.summary(run), library.summary(rescored)
    without = [
        {"metric": name, "cells": old.n_ok - after[name].n_ok, "why": after[name].reason or ""}
        for name, old in before.items()
        if name in after and after[name].n_ok < old.n_ok
    ]
    return {
        "state": "done",
        "result": describe_run(rescored),
        "compare": f"/compare/{run.id}/{result}",
        "without": without,
        "cells": sum(item["cells"] for item in without),
    }


def _earlier_result(loaded: LoadedVersion, run: Run, runs: Sequence[Run]) -> str:
    wanted = (run.id, loaded.info.reference)
    return next((other.id for other in runs if (_rescored_from(other), _scored_against(other)) == wanted), "")


def _scored_against(run: Run) -> str:
    truth = run.info.get("truth")
    return f"{truth['name']}@{truth['version']}" if truth else ""


def _rescored_from(run: Run) -> str:
    return str((run.info.get("rescored") or {}).get("run", ""))


def newest_runs(library: Library) -> list[Run]:
    """Return the newest finished runs that can be read."""
    runs: list[Run] = []
    for folder in library.folders():
        try:
            if run := library.open(folder):
                runs.append(run)
        except StorageError:
            continue
        if len(runs) == MAX_RUNS:
            break
    return runs


def cases_of(library: Library, sample: str, question: str | None, run: str | None = None) -> list[dict[str, str]]:
    """Return the cases that match a sample, at most one per ground truth, with links that show the chunks of its run."""
    cases = []
    for name in library.truth.names()[:_MAX_TRUTHS]:
        with suppress(StorageError):  # the list of ground truths shows the error
            case = library.truth.asked(name).find(sample, question or "")
            if case is not None:
                cases.append({"name": name, "address": case_address(name, case, run=run)})
    return cases


VIEWS = {"/truth/{name}/rescore": rescore_page}
CHANGES = {"/truth/{name}/rescore": start_rescoring}
