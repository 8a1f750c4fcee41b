"""The list of runs with their headline metrics, and the choice of two runs to compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragstone.compare.sample_order import telling_metrics
from ragstone.errors import StorageError
from ragstone.report.run import DIRECTION
from ragstone.storage.runs import Run, RunFolder
from ragstone.web.library import Library
from ragstone.web.navigation import ListPage, whole_number
from ragstone.web.pages.run import describe_run, progress_of

_PAGE_SIZE = 50
_MAX_METRICS = 4
# The run ids and means of one metric, from the oldest run to the newest.
Trend = Sequence[tuple[str, float | None]]


def runs_page(library: Library, query: Mapping[str, str]) -> dict[str, Any]:
    """One page of the runs, newest first, filtered by words in name, id and parameters."""
    folders = library.folders()
    finished, broken = _open_all(library, folders)
    words = query.get("q", "").strip()[:200]
    matching = [run for run in finished if _matches(run, words)]
    page = ListPage.cut(matching, whole_number(query.get("page")), _PAGE_SIZE)
    trends = _trends(library, matching)
    return {
        "page": "runs",
        "title": "Runs",
        "root": str(library.root),
        "query": words,
        "total": len(finished),
        "fitting": len(matching),
        "at": page.number,
        "pages": page.pages,
        "broken": broken,
        "under_way": [progress for folder in folders if (progress := progress_of(folder))],
        "runs": [_row(library, run, trends) for run in page.items],
    }


def _open_all(library: Library, folders: Iterable[RunFolder]) -> tuple[list[Run], list[dict[str, str]]]:
    """Return the readable runs and the reasons why others cannot be read: one broken folder must not hide the rest."""
    runs, broken = [], []
    for folder in folders:
        try:
            if run := library.open(folder):
                library.summary(run)
                runs.append(run)
        except StorageError as error:
            broken.append({"id": folder.id, "why": str(error)})
    return runs, broken


def _matches(run: Run, words: str) -> bool:
    params = [f"{name}={value}" for name, value in (run.info.get("params") or {}).items()]
    text = " ".join([run.name, run.id, *params]).casefold()
    return all(word in text for word in words.casefold().split())


def _trends(library: Library, runs: Sequence[Run]) -> dict[tuple[str, int], Trend]:
    """Return the trend of the main metric for all runs with the same metric and the same number of rows."""
    trends: dict[tuple[str, int], list[tuple[str, float | None]]] = {}
    for run in reversed(runs):
        metric, rows = _trend_key(run)
        row = library.summary(run).get(metric)
        trends.setdefault((metric, rows), []).append((run.id, row.mean if row else None))
    return dict(trends)


def _trend_key(run: Run) -> tuple[str, int]:
    main = telling_metrics(run.info["metrics"], 1)
    return (str(main[0]["metric"]) if main else ""), run.info["dataset"]["rows"]


def _row(library: Library, run: Run, trends: Mapping[tuple[str, int], Trend]) -> dict[str, Any]:
    summary, key = library.summary(run), _trend_key(run)
    trend = trends[key] if key[0] else ()
    return {
        **describe_run(run),
        "metrics": [
            {
                "metric": metric["metric"],
                "arrow": DIRECTION[metric["better"]].strip(),
                "mean": row.mean,
                "low": row.ci_low,
                "high": row.ci_high,
            }
            for metric in telling_metrics(run.info["metrics"], _MAX_METRICS)
            if (row := summary.get(metric["metric"]))
        ],
        "course": {
            "metric": key[0],
            "values": [mean for _, mean in trend],
            "here": next((position for position, (name, _) in enumerate(trend) if name == run.id), None),
        },
    }


VIEWS = {"/runs": runs_page}
