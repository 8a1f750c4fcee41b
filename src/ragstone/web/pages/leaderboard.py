"""Runs chosen for comparison: two lead to their comparison, more are ranked in one table; and the page that chooses them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from ragstone.analysis.leaderboard import Leaderboard, Ranking, find_tradeoffs
from ragstone.errors import StorageError, UsageError
from ragstone.report.html.run_page import describe_run
from ragstone.report.leaderboard import leaderboard_dict, letter, remark_lines
from ragstone.storage.runs import Run
from ragstone.sweep.results import read_results
from ragstone.views.phrases import one_line
from ragstone.views.run import arrow_of, headline_metrics
from ragstone.views.several_runs import shared_rows
from ragstone.web.library import Library
from ragstone.web.navigation import ListPage, whole_number
from ragstone.web.pages.sweep import sweep_folders

# More columns do not fit on a page; the others are folded.
_MAX_COLUMNS = 8
_ROWS_PER_PAGE = 50
_DIFFERS = "differs"
# On the page that chooses runs.
_MAX_RUNS = 300
_MAX_PAIRS = 6
_MAX_SWEEPS = 20


def choose(library: Library, query: QueryParams) -> dict[str, Any]:
    """Redirect to the comparison of two selected runs, the older is A; rank three or more. Fewer than two: a page to choose them."""
    chosen = list(dict.fromkeys(query.getlist("run")))
    if len(chosen) < 2:
        return _choice(library, query)
    runs = sorted((library.run(name) for name in chosen), key=lambda run: str(run.info["created_at"]) + run.id)
    if len(runs) == 2:
        return {"go": f"/compare/{runs[0].id}/{runs[1].id}"}
    board = library.leaderboard(runs)
    head = {"page": "leaderboard", "title": f"{len(runs)} runs", "runs": [describe_run(run) for run in runs]}
    if board is None:
        return {**head, "ready": False}
    return {**head, "ready": True, **_ranked(board, query), "shared": _shared(library, runs, query)}


def _choice(library: Library, query: QueryParams) -> dict[str, Any]:
    """The form; if both runs are chosen, their comparison."""
    chosen = [query.get("a", ""), query.get("b", "") or next(iter(query.getlist("run")), "")]
    if all(chosen):
        if chosen[0] == chosen[1]:
            raise UsageError("choose two different runs")
        return {"go": "/compare/{}/{}".format(*(library.run(name).id for name in chosen))}
    runs = newest_runs(library)
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


def newest_runs(library: Library) -> list[Run]:
    """The finished runs, newest first. Damaged ones are left out: the table of runs names them."""
    runs: list[Run] = []
    for folder in library.folders():
        try:
            run = library.open(folder)
        except StorageError:
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


def _shared(library: Library, runs: Sequence[Run], query: QueryParams) -> dict[str, Any]:
    """Return one page of the questions that all runs answer, with their status in each run; `waiting` for diagnoses."""
    insights = [library.insight(run) for run in runs]
    judged = [one.causes if one else () for one in insights]
    rows = shared_rows(runs, judged)
    differing = [row for row in rows if row.differs]
    only = query.get("rows") == _DIFFERS
    page = ListPage.cut(differing if only else rows, max(1, whole_number(query.get("page")) or 1), _ROWS_PER_PAGE)
    kept = [(name, value) for name, value in query.multi_items() if name in ("run", "sort", "dir")]
    chosen = [*kept, *([("rows", _DIFFERS)] if only else [])]
    first, second, *others = runs
    more = urlencode([("with", run.id) for run in others])
    questions = library.index(first)
    return {
        "total": len(rows),
        "differing": len(differing),
        "only": only,
        "waiting": None in insights,
        "all": f"/compare?{urlencode(kept)}#rows",
        "differs": f"/compare?{urlencode([*kept, ('rows', _DIFFERS)])}#rows",
        "number": page.number,
        "pages": page.pages,
        "links": page.links(lambda number: f"/compare?{urlencode([*chosen, ('page', number)])}"),
        "rows": [
            {
                "id": one_line(questions.ids[row.cells[0].row - 1].as_py(), 60),
                "question": one_line(questions.question(row.cells[0].row - 1), 160),
                "differs": row.differs,
                "address": f"/compare/{first.id}/{second.id}/samples/{row.cells[1].row}?{more}",
                "cells": [
                    {**vars(cell), "address": f"/runs/{run.id}/samples/{cell.row}"}
                    for run, cell in zip(runs, row.cells, strict=True)
                ],
            }
            for row in page.items
        ],
    }


def _ranked(board: Leaderboard, query: QueryParams) -> dict[str, Any]:
    rankings = {ranking.metric: ranking for ranking in board.rankings}
    ranked = [metric for metric in board.runs[0].info.metrics if metric.metric in rankings]
    shown = [metric.metric for metric in headline_metrics(ranked, _MAX_COLUMNS)]
    sort = name if (name := query.get("sort", "")) in rankings else next(iter(shown), "")
    order = [place.run for place in rankings[sort].places] if sort else []
    order += [run for run in range(len(board.runs)) if run not in order]
    if query.get("dir") == "down":
        order.reverse()
    letters = [letter(run) for run in range(len(board.runs))]
    return {
        "samples": board.samples,
        "letters": letters,
        "parameters": list(board.parameters),
        "sort": sort,
        "reversed": query.get("dir") == "down",
        "columns": [_column(ranking, query, ranking.metric in shown, sort) for ranking in board.rankings],
        "rows": [_run(board, run, order[0]) for run in order],
        "tradeoffs": [panel.as_dict() for panel in find_tradeoffs(board.runs, letters, sort)],
        "remarks": remark_lines(board),
        "board": leaderboard_dict(board),
    }


def _column(ranking: Ranking, query: QueryParams, shown: bool, sort: str) -> dict[str, Any]:
    ends = [end for place in ranking.places for end in (place.interval or (place.mean, place.mean))]
    chosen = [("run", run) for run in query.getlist("run")]
    turned = [("dir", "down")] if sort == ranking.metric and query.get("dir") != "down" else []
    return {
        "metric": ranking.metric,
        "arrow": arrow_of(ranking.better),
        "shown": shown,
        "range": [min(ends), max(ends)] if ends and max(ends) > min(ends) else None,
        "address": f"/compare?{urlencode([*chosen, ('sort', ranking.metric), *turned])}",
    }


def _run(board: Leaderboard, run: int, best: int) -> dict[str, Any]:
    places = [next((place for place in ranking.places if place.run == run), None) for ranking in board.rankings]
    split = [len({place.letters for place in ranking.places}) > 1 for ranking in board.rankings]
    return {
        **describe_run(board.runs[run]),
        "letter": letter(run),
        "parameters": ["" if value is None else str(value) for value in board.values(run)],
        "cells": [
            place
            and {
                "mean": place.mean,
                "low": place.interval.low if place.interval else None,
                "high": place.interval.high if place.interval else None,
                "rank": place.rank,
                "group": place.letters,
                "best": place.rank == 1 and differs,
            }
            for place, differs in zip(places, split, strict=True)
        ],
        "against": "" if run == best else f"/compare/{board.runs[best].id}/{board.runs[run].id}",
    }


VIEWS = {"/compare": choose}
