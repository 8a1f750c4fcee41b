"""Runs chosen for comparison: two lead to their comparison, more are ranked in one table."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from ragstone.analysis.leaderboard import Leaderboard, Ranking, find_tradeoffs
from ragstone.report.html.run_page import describe_run
from ragstone.report.leaderboard import leaderboard_dict, letter, remark_lines
from ragstone.views.run import arrow_of, headline_metrics
from ragstone.web.library import Library
from ragstone.web.pages.choice import choice_page

# More columns do not fit on a page; the others are folded.
_MAX_COLUMNS = 8


def choose(library: Library, query: QueryParams) -> dict[str, Any]:
    """Redirect to the comparison of two selected runs, the older is A; rank three or more. Fewer than two: a page to choose them."""
    chosen = list(dict.fromkeys(query.getlist("run")))
    if len(chosen) < 2:
        return choice_page(library, query)
    runs = sorted((library.run(name) for name in chosen), key=lambda run: str(run.info["created_at"]) + run.id)
    if len(runs) == 2:
        return {"go": f"/compare/{runs[0].id}/{runs[1].id}"}
    board = library.leaderboard(runs)
    head = {"page": "leaderboard", "title": f"{len(runs)} runs", "runs": [describe_run(run) for run in runs]}
    return {**head, "ready": False} if board is None else {**head, "ready": True, **_ranked(board, query)}


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
