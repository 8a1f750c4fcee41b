"""The list of runs: what there is, how it stands, which two to compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragstone.compare.worst import telling_metrics
from ragstone.errors import StorageError
from ragstone.report.plain import one_line
from ragstone.report.terminal import DIRECTION
from ragstone.storage.runs import Run, RunFolder
from ragstone.web.library import Library, main_metric
from ragstone.web.pages.live import progress_of

SIZE = 50
_MOST_METRICS = 4


def runs_page(library: Library, query: Mapping[str, str]) -> dict[str, Any]:
    """The newest first, fifty at a time; filtered by words of name, id and parameters."""
    folders = library.folders()
    finished, broken = _open_all(library, folders)
    words = query.get("q", "").strip()[:200]
    fitting = [run for run in finished if _fits(run, words)]
    pages = max(1, -(-len(fitting) // SIZE))
    page = min(pages, int(query["page"])) if query.get("page", "").isdecimal() and len(query["page"]) < 7 else 1
    page = max(1, page)
    listed = fitting[(page - 1) * SIZE : page * SIZE]
    courses = _courses(library, fitting)
    return {
        "page": "runs",
        "title": "Runs",
        "root": str(library.root),
        "query": words,
        "total": len(finished),
        "fitting": len(fitting),
        "at": page,
        "pages": pages,
        "broken": broken,
        "under_way": [found for folder in folders if (found := progress_of(folder))],
        "runs": [_row(library, run, courses) for run in listed],
    }


def _open_all(library: Library, folders: Iterable[RunFolder]) -> tuple[list[Run], list[dict[str, str]]]:
    """The runs that can be read, and why others cannot: one broken folder must not hide the rest."""
    found, broken = [], []
    for folder in folders:
        try:
            if library.is_finished(folder):
                run = library.open(folder)
                library.summary(run)
                found.append(run)
        except StorageError as error:
            broken.append({"id": folder.id, "why": str(error)})
    return found, broken


def _fits(run: Run, words: str) -> bool:
    told = [run.name, run.id, *(f"{name}={value}" for name, value in (run.info.get("params") or {}).items())]
    text = " ".join(map(str, told)).casefold()
    return all(word in text for word in words.casefold().split())


def _courses(library: Library, runs: Iterable[Run]) -> dict[tuple[str, str], list[tuple[str, float | None]]]:
    """The main metric of all runs of the same questions, from the oldest to the newest."""
    found: dict[tuple[str, str], list[tuple[str, float | None]]] = {}
    for run in reversed(list(runs)):
        if metric := main_metric(run):
            row = library.summary(run).get(metric["metric"])
            found.setdefault(_yardstick(run, metric), []).append((run.id, row.mean if row else None))
    return found


def _yardstick(run: Run, metric: Mapping[str, Any]) -> tuple[str, str]:
    return str(metric["metric"]), str(run.info["dataset"]["rows"])


def _row(
    library: Library, run: Run, courses: Mapping[tuple[str, str], list[tuple[str, float | None]]]
) -> dict[str, Any]:
    summary = library.summary(run)
    main = main_metric(run)
    course = courses.get(_yardstick(run, main), []) if main else []
    return {
        "id": run.id,
        "name": one_line(run.name, 120),
        "address": f"/runs/{run.id}",
        "rows": run.info["dataset"]["rows"],
        "finished_at": run.info["finished_at"],
        "params": {str(name): one_line(str(value), 60) for name, value in (run.info.get("params") or {}).items()},
        "metrics": [
            {
                "metric": metric["metric"],
                "arrow": DIRECTION[metric["better"]].strip(),
                "mean": row.mean,
                "low": row.ci_low,
                "high": row.ci_high,
            }
            for metric in telling_metrics(run.info["metrics"], _MOST_METRICS)
            if (row := summary.get(metric["metric"]))
        ],
        "course": {
            "metric": main["metric"] if main else "",
            "values": [mean for _, mean in course],
            "here": next((place for place, (name, _) in enumerate(course) if name == run.id), None),
        },
    }
