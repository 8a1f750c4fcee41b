"""The choice of two runs to compare, with the newest pairs on the same data."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from starlette.datastructures import QueryParams

from ragstone.errors import StorageError, UsageError
from ragstone.report.html.run_page import describe_run
from ragstone.storage.runs import Run
from ragstone.sweep.results import read_results
from ragstone.web.library import Library
from ragstone.web.pages.sweep import sweep_folders

_MAX_RUNS = 300
_MAX_PAIRS = 6
_MAX_SWEEPS = 20


def choice_page(library: Library, query: QueryParams) -> dict[str, Any]:
    """The form; if both runs are chosen, their comparison."""
    chosen = [query.get("a", ""), query.get("b", "") or next(iter(query.getlist("run")), "")]
    if all(chosen):
        if chosen[0] == chosen[1]:
            raise UsageError("choose two different runs")
        return {"go": "/compare/{}/{}".format(*(library.run(name).id for name in chosen))}
    runs = _newest(library)
    settings = _setting_runs(library)
    # Read once: a key that becomes ready meanwhile would leave a pair out, and the page would not wait for it.
    keys = {run.id: library.dataset_key(run) for run in runs}
    pairs = _pairs(keys, [run for run in runs if run.id not in settings] or runs)
    after = next((run for run in runs if run.id == chosen[1]), None)
    proposed = next((pair for pair in pairs if after is None or pair[1] is after), (None, after))
    return {
        "page": "choice",
        "title": "Compare",
        "root": str(library.root),
        "runs": [describe_run(run) for run in runs],
        "waiting": None in keys.values(),
        "chosen": [run.id if run else "" for run in proposed],
        "pairs": [
            {
                "before": describe_run(before),
                "after": describe_run(after),
                "address": f"/compare/{before.id}/{after.id}",
            }
            for before, after in pairs[:_MAX_PAIRS]
        ],
    }


def _newest(library: Library) -> list[Run]:
    runs: list[Run] = []
    for folder in library.folders():
        try:
            run = library.open(folder)
        except StorageError:  # the table of runs names it
            continue
        if run and len(runs) < _MAX_RUNS:
            runs.append(run)
    return runs


def _setting_runs(library: Library) -> set[str]:
    """The ids of the runs that the newest sweeps made."""
    found: set[str] = set()
    for folder in sweep_folders(library)[:_MAX_SWEEPS]:
        with suppress(StorageError):
            found |= {one.run for one in read_results(folder).standings} if folder.is_finished else set()
    return found


def _pairs(keys: Mapping[str, str | None], runs: list[Run]) -> list[tuple[Run, Run]]:
    """Each run with the one before it on the same samples, newest first."""
    newer: dict[str, Run] = {}
    pairs = []
    for run in runs:
        if key := keys[run.id]:
            if key in newer:
                pairs.append((run, newer[key]))
            newer[key] = run
    return pairs
