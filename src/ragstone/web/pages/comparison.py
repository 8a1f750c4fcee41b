"""The comparison of two runs: changed metrics with confidence intervals, moved causes, and all pairs of samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from starlette.datastructures import QueryParams

from ragstone.analysis.cause_names import CAUSES
from ragstone.analysis.cause_texts import NOT_EXAMINED
from ragstone.analysis.comparison import Comparison
from ragstone.analysis.row_moves import MOVES
from ragstone.analysis.row_status import word_of
from ragstone.report.html.comparison_page import comparison_data
from ragstone.report.html.run_page import describe_run
from ragstone.storage.scores import unless_nan
from ragstone.views.comparison import ComparisonView
from ragstone.views.moved_rows import Judged
from ragstone.views.phrases import one_line
from ragstone.web.library import Insight, Library
from ragstone.web.navigation import ListPage
from ragstone.web.pair_index import DIRECTIONS, PairIndex, PairState
from ragstone.web.run_index import ANY_FAULT, NO_FAULT, PAGE_SIZES

# The family of the metrics that are not headlines.
EXPLORED = "explored"


def comparison_page(library: Library, query: QueryParams, before: str, after: str) -> dict[str, Any]:
    """The whole comparison, or a page that waits until it is ready."""
    old, new = library.run(before), library.run(after)
    # All are begun at once, and shown at once: what came first would move when the rest comes.
    comparison, insights = library.comparison(old, new), (library.insight(old), library.insight(new))
    head = {
        "page": "comparison",
        "title": f"{one_line(old.name, 60)} → {one_line(new.name, 60)}",
        "before": describe_run(old),
        "after": describe_run(new),
        "address": f"/compare/{before}/{after}",
        "turned": f"/compare/{after}/{before}",
        "diagnosed": [library.diagnosed(run) for run in (old, new)],
    }
    if comparison is None or None in insights:
        return {**head, "ready": False, "steps": library.comparison_steps(old, new)}
    pairs = library.pairs(comparison)
    decided = any(insight and insight.diagnosis["decided"] for insight in insights)
    view = ComparisonView.of(comparison, _judged(insights) if decided else ((), ()))
    data = comparison_data(view)
    for part in (row for column in data["slices_failing"] for row in column["rows"]):
        part["address"] = f"{PairState(slice=part['key']).address}#pairs"
    for move in data["moves"]:
        del move["ids"]
        move["address"] = f"{PairState(move=move['name']).address}#pairs"
    return {
        **head,
        **data,
        "causes": _linked(data["causes"] or {"rows": [], "known": 0}),
        **_families(library, view, pairs, query),
        "table": _table(pairs, insights, query, bool(view.moves)),
        "settings": asdict(comparison.settings),
    }


def _families(library: Library, view: ComparisonView, pairs: PairIndex, query: QueryParams) -> dict[str, Any]:
    """Return the families of metrics that can be selected, and the selected one with its metrics and its sentence.

    A group of metrics is a family of its own: its p-values are corrected among its metrics, as with `ragstone compare -m`.
    """
    comparison, state = view.comparison, PairState.read(query, pairs.metrics)
    compared = {item.metric for item in comparison.metrics}
    groups: dict[str, list[str]] = {}
    for metric in comparison.after.info.metrics:
        if metric.metric in compared:
            groups.setdefault(metric.family, []).append(metric.metric)
    names = ["", *([EXPLORED] if view.others else []), *groups]
    name = state.family if state.family in names else ""
    family: dict[str, Any] = {"name": name, "groups": [], "headline": name != EXPLORED, "sentence": view.others_text}
    if name == EXPLORED:
        family |= {"groups": view.groups(), "method": view.method}
    elif name:
        group = ComparisonView.of(library.family(comparison, name, groups[name]))
        family |= {"groups": group.groups(), "sentence": f"{name}: {group.headline}", "method": group.method}
    links = [
        {"name": one or "headline", "chosen": one == name, "address": f"{state.but(family=one).address or '?'}#metrics"}
        for one in names
    ]
    return {"families": links, "family": family}


def _judged(insights: Sequence[Insight | None]) -> Judged:
    """Return cause and probability per row of both runs; empty if a diagnosis is not ready."""
    first, second = (insight.causes if insight else () for insight in insights)
    return first, second


def read_pairs(library: Library, comparison: Comparison, query: QueryParams) -> tuple[PairIndex, PairState, Judged]:
    """Return the pairs, the state of their table from a query, and what is known of the rows."""
    pairs = library.pairs(comparison)
    insights = (library.insight(comparison.before), library.insight(comparison.after))
    return pairs, PairState.read(query, pairs.metrics), _judged(insights)


def _linked(causes: dict[str, Any]) -> dict[str, Any]:
    """The causes of the pairs with links to their samples, which are not named here."""
    for row in causes["rows"]:
        row["links"] = [f"{state.address}#pairs" for state in (PairState(was=row["name"]), PairState(now=row["name"]))]
    return causes


def _table(
    pairs: PairIndex, insights: tuple[Insight | None, Insight | None], query: QueryParams, moves: bool
) -> dict[str, Any]:
    state = PairState.read(query, pairs.metrics)
    judged = _judged(insights)
    order = pairs.order(state, judged)
    page = ListPage.cut(order.tolist(), state.page, state.size)
    state = state.but(page=page.number)
    changes = [state.but(change=change) for change in ("", *DIRECTIONS)]
    slices = insights[1].slices if insights[1] else ()
    return {
        "state": state,
        "here": state.address,
        "total": len(pairs.comparison.pairs),
        "fitting": len(order),
        "first": page.first,
        "last": page.last,
        "pages": page.pages,
        "links": page.links(lambda number: state.but(page=number).address),
        "sorts": {sort: state.but(sort=sort).address for sort in ("losses", "gains", "row")},
        "changes": [
            {"name": one.change, "address": one.address, "count": int(pairs.matches(one, judged).sum())}
            for one in changes
        ],
        "metrics": pairs.metrics,
        "moves": list(MOVES) if moves else [],
        "causes": [
            ANY_FAULT,
            NO_FAULT,
            *(name for name in (*CAUSES, NOT_EXAMINED) if any(name in side for side in judged)),
        ],
        "slices": [f"{column}={part.label}" for column, parts in slices for part in parts],
        "sizes": list(PAGE_SIZES),
        "rows": [_pair(pairs, position, judged, state) for position in page.items],
    }


def _pair(pairs: PairIndex, position: int, judged: Judged, state: PairState) -> dict[str, Any]:
    rows = pairs.rows(position)
    names = [state.metric] if state.metric else pairs.gains.largest(position)
    base = f"/compare/{pairs.comparison.before.id}/{pairs.comparison.after.id}"
    return {
        "id": one_line(pairs.after.ids[rows[1]].as_py(), 60),
        "row": rows[1] + 1,
        "question": one_line(pairs.after.question(rows[1]), 160),
        "causes": pairs.causes(position, judged),
        "wrong": (wrong := pairs.wrong(position, judged)),
        "statuses": [word_of(one) for one in wrong],
        "move": pairs.move(position, judged),
        "gain": unless_nan(pairs.gain(state.metric)[position]),
        "metrics": [
            {"metric": name, "before": pairs.before.value(name, rows[0]), "after": pairs.after.value(name, rows[1])}
            for name in names
        ],
        "address": f"{base}/samples/{rows[1] + 1}{state.but(page=1).address}",
    }


VIEWS = {"/compare/{before}/{after}": comparison_page}
