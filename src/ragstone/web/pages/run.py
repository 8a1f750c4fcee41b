"""The page of one run: the diagnosis with advice, metrics, slices, and the table of its samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from starlette.datastructures import QueryParams

from ragstone.analysis.cause_names import CAUSES
from ragstone.analysis.cause_texts import NOT_EXAMINED
from ragstone.analysis.row_columns import SLICE, RowJudgements
from ragstone.analysis.row_filter import last_part, write_name
from ragstone.report.html.run_page import run_data, slice_data
from ragstone.storage.human_labels import answer_labels
from ragstone.storage.runs import Run
from ragstone.storage.scores import unless_nan
from ragstone.views.phrases import one_line
from ragstone.views.run import FEW, RunView, arrow_of, headline_metrics, part_of, unsure_text
from ragstone.web.library import Insight, Library
from ragstone.web.navigation import ListPage
from ragstone.web.pages.run_progress import live_page
from ragstone.web.row_chips import UNSURE, row_chips
from ragstone.web.row_plots import run_plots
from ragstone.web.run_index import PAGE_SIZES, PLAIN_SORTS, ROW_STATUSES, STATUSES, RunIndex, TableState, range_start

_MAX_CONVERSATIONS = 10


def run_page(library: Library, query: QueryParams, run: str) -> dict[str, Any]:
    """A run and one page of its samples; its progress if it is not finished."""
    return live_page(library.folder(run), bool(query.get("stop"))) or _finished_page(library, query, library.run(run))


def _finished_page(library: Library, query: QueryParams, run: Run) -> dict[str, Any]:
    index, insight = library.index(run), library.insight(run)
    view, state, known = RunView.of(run), read_state(index, query), judgements_of(library, index)
    worst, _ = index.select(TableState(), known)
    order, problem = index.select(state, known)
    data = run_data(view, index.spreads, library.usage(run))
    for metric in data["metrics"]:
        worst_first = TableState(sort=metric["metric"], descending=metric["better"] == "lower")
        metric["address"] = f"/runs/{run.id}{worst_first.address}#samples"
        metric["filter_name"] = write_name(metric["metric"])
        metric["filter_start"] = range_start(state, metric["metric"])
    slices = [slice_data(run, *one) for one in insight.slices] if insight else []
    for part in slices:
        for row in part["rows"]:
            row["address"] = f"{state.but(slice=row['key']).address}#samples"
    return {
        "page": "run",
        **data,
        "watch": library.watch_of(run.id),
        "unsure": {"words": unsure_text(run.info), "address": f"{TableState(where=UNSURE).address}#samples"},
        "diagnosis": insight.diagnosis if insight else None,
        "diagnosed": library.diagnosed(run),
        "cards": [metric.metric for metric in view.headlines],
        "slices": slices,
        "conversations": _conversations(library, run, insight),
        "worst": f"/runs/{run.id}/samples/{worst[0] + 1}" if len(worst) else "",
        **run_plots(index, known, state, order, slices),
        "table": _table(index, insight, known, state, order)
        | {"problem": {"words": str(problem), "position": problem.position} if problem else None},
    }


def _conversations(library: Library, run: Run, insight: Insight | None) -> dict[str, Any]:
    """The conversations with most wrong turns, then those with the most probably wrong turn, each with a link to this turn."""
    found = library.conversations(run)
    labels = insight.causes if insight else ()
    status = {row: (label.status, label.wrong or 0.0) for row, label in enumerate(labels)}
    counted = []
    for name, rows in found.items():
        known = [status.get(row, ("", 0.0)) for row in rows]
        statuses, chances = [word for word, _ in known], [chance for _, chance in known]
        worst = max(range(len(rows)), key=chances.__getitem__)
        counted.append((-statuses.count("wrong"), -chances[worst], name, rows, statuses, rows[worst] + 1))
    counted.sort(key=lambda one: one[:2])
    index = library.index(run) if found else None
    return {
        "total": len(found),
        "ready": insight is not None,
        "rows": [
            {
                "name": one_line(name, 60),
                "question": one_line(index.question(rows[0]), 120) if index else "",
                "statuses": statuses,
                "turns": len(rows),
                "wrong": -wrong,
                "address": f"/runs/{run.id}/conversations/{worst}",
            }
            for wrong, _, name, rows, statuses, worst in counted[:_MAX_CONVERSATIONS]
        ],
    }


def judgements_of(library: Library, index: RunIndex) -> RowJudgements:
    """Return what is known about the rows besides their scores."""
    insight = library.insight(index.run)
    labels = answer_labels(index.run, insight.labels) if insight and insight.labels.labels else None
    return RowJudgements(len(index.ids), insight.causes if insight else None, labels)


def read_state(index: RunIndex, query: QueryParams) -> TableState:
    """Read the state of the sample table from a query."""
    return TableState.read(query, query.getlist("col"), [metric["metric"] for metric in index.metrics])


def _table(
    index: RunIndex, insight: Insight | None, known: RowJudgements, state: TableState, order: np.ndarray
) -> dict[str, Any]:
    causes = known.causes
    page = ListPage.cut(order.tolist(), state.page, state.size)
    state = state.but(page=page.number)
    columns = list(state.columns) or [metric.metric for metric in headline_metrics(index.metrics, FEW)]
    return {
        "state": state,
        "here": state.address,
        "hidden": state.but(x="", y="").pairs,
        "waiting_for_causes": insight is None,
        "total": len(index.ids),
        "fitting": len(order),
        "first": page.first,
        "last": page.last,
        "pages": page.pages,
        "links": page.links(lambda number: state.but(page=number).address),
        "chips": row_chips(index, known, state),
        "names": _names(index, insight, known),
        "plain_sorts": {name: state.sorted_by(name).address for name in PLAIN_SORTS},
        "columns": [_column(index, state, name) for name in columns],
        "choices": [
            {"metric": metric["metric"], "chosen": metric["metric"] in columns, "part": part_of(metric)}
            for metric in index.metrics
        ],
        "statuses": list(STATUSES),
        "slices": [f"{column}={part.label}" for column, parts in insight.slices for part in parts] if insight else [],
        "sizes": list(PAGE_SIZES),
        "causes": [name for name in (*CAUSES, NOT_EXAMINED) if name in (causes or ())],
        "by_status": [
            name for name in ROW_STATUSES if any(getattr(cause, "status", "") == name for cause in causes or ())
        ],
        "rows": [_row(index, causes, row, columns, state) for row in page.items],
    }


def _names(index: RunIndex, insight: Insight | None, known: RowJudgements) -> list[str]:
    """Return the names of a row filter: those of metrics without the family if this is unique."""
    names = [*index.named.judged(known), *(SLICE + column for column, _ in (insight.slices if insight else ()))]
    lasts = Counter(map(last_part, names))
    return sorted(write_name(last if lasts[last := last_part(name)] == 1 else name) for name in names)


def _column(index: RunIndex, state: TableState, name: str) -> dict[str, Any]:
    metric = next(metric for metric in index.metrics if metric["metric"] == name)
    return {
        "metric": name,
        "arrow": arrow_of(metric["better"]),
        "address": state.sorted_by(name, best_is_high=metric["better"] != "lower").address,
        "sorted": ("descending" if state.descending else "ascending") if state.sort == name else "",
    }


def _row(
    index: RunIndex, causes: Sequence[str] | None, row: int, columns: Sequence[str], state: TableState
) -> dict[str, Any]:
    label = causes[row] if causes is not None and row < len(causes) else None
    return {
        "row": row + 1,
        "id": one_line(index.ids[row].as_py(), 60),
        "question": one_line(index.question(row), 160),
        "cause": label,
        "status": getattr(label, "status", ""),
        "wrong": getattr(label, "wrong", None),
        "labelled": getattr(label, "labelled_by", ""),
        "quality": unless_nan(index.quality[row]),
        "values": [index.value(name, row) for name in columns],
        "address": f"/runs/{index.run.id}/samples/{row + 1}{state.but(page=1).address}",
    }


VIEWS = {"/runs/{run}": run_page}
