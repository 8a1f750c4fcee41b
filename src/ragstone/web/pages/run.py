"""One run: the verdict and what to do, metrics, slices, and the table of its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.compare.findings import CAUSES
from ragstone.compare.worst import telling_metrics
from ragstone.report.html.measured import measured
from ragstone.report.html.run_page import fits_the_line
from ragstone.report.judged import judge_lines
from ragstone.report.plain import one_line
from ragstone.report.terminal import DIRECTION, part_of
from ragstone.storage.runs import Run
from ragstone.web.index import RunIndex, number
from ragstone.web.insights import Insight
from ragstone.web.library import Library
from ragstone.web.table import PAGE_SIZES, PLAIN_SORTS, STATUSES, TableState

_MOST_CARDS = 8
_MOST_COLUMNS = 5


def run_page(library: Library, run: Run, query: Mapping[str, str], columns: Sequence[str]) -> dict[str, Any]:
    """Everything about a run, and one page of its samples."""
    index, insight = library.index(run), library.insight(run)
    summary = library.summary(run)
    state = read_state(index, query, columns)
    return {
        "page": "run",
        "title": one_line(run.name, 120),
        "run": about(run),
        "diagnosis": insight.told if insight else None,
        "judged": list(judge_lines(run.info)),
        "cards": [metric["metric"] for metric in telling_metrics(index.metrics, _MOST_CARDS)],
        "metrics": [_metric(index, summary, metric) for metric in index.metrics],
        "slices": _slices(insight, state) if insight else [],
        "worst": _worst_address(index, insight),
        "table": _table(index, insight, state),
        "measured": _measured(run),
    }


def _measured(run: Run) -> dict[str, Any]:
    found = measured(run)
    return {**found, "signatures": dict(found["signatures"])}


def _worst_address(index: RunIndex, insight: Insight | None) -> str:
    if not len(index.ids):
        return ""
    return f"/runs/{index.run.id}/samples/{int(index.order(TableState(), causes_of(insight))[0]) + 1}"


def causes_of(insight: Insight | None) -> Sequence[str] | None:
    """The main causes by row, if they are known already."""
    return insight.causes if insight else None


def read_state(index: RunIndex, query: Mapping[str, str], columns: Sequence[str]) -> TableState:
    """The state of the table of a run's samples."""
    return TableState.read(query, columns, [metric["metric"] for metric in index.metrics])


def about(run: Run) -> dict[str, Any]:
    """What every page about a run says of it."""
    return {
        "id": run.id,
        "name": one_line(run.name, 120),
        "address": f"/runs/{run.id}",
        "rows": run.info["dataset"]["rows"],
        "finished_at": run.info["finished_at"],
        "params": {str(name): one_line(str(value), 60) for name, value in (run.info.get("params") or {}).items()},
    }


def _metric(index: RunIndex, summary: Mapping[str, Any], metric: Mapping[str, Any]) -> dict[str, Any]:
    name = metric["metric"]
    row = summary[name]
    return {
        "metric": name,
        "part": part_of(metric),
        "arrow": DIRECTION[metric["better"]].strip(),
        "better": metric["better"],
        "mean": row.mean,
        "low": row.ci_low,
        "high": row.ci_high,
        "ok": row.n_ok,
        "skipped": row.n_skipped,
        "failed": row.n_failed,
        "reason": row.reason or "",
        "unit": fits_the_line(metric, row.mean, row.ci_low),
        "spread": index.spreads[name],
        "address": f"/runs/{index.run.id}{_worst_by(metric).address}#samples",
    }


def _worst_by(metric: Mapping[str, Any]) -> TableState:
    return TableState(sort=metric["metric"], descending=metric["better"] == "lower")


def _slices(insight: Insight, state: TableState) -> list[dict[str, Any]]:
    return [
        {
            "column": column,
            "metrics": [row.metric for row in parts[0].metrics] if parts else [],
            "rows": [
                {
                    "label": one_line(part.label, 80),
                    "key": f"{column}={part.label}",
                    "address": f"{state.but(slice=f'{column}={part.label}').address}#samples",
                    "samples": part.rows,
                    "cells": [{"mean": row.mean, "low": row.ci_low, "high": row.ci_high} for row in part.metrics],
                }
                for part in parts
            ],
        }
        for column, parts in insight.slices
    ]


def _table(index: RunIndex, insight: Insight | None, state: TableState) -> dict[str, Any]:
    causes = causes_of(insight)
    order = index.order(state, causes)
    pages = max(1, -(-len(order) // state.size))
    state = state.but(page=min(state.page, pages))
    shown = order[(state.page - 1) * state.size : state.page * state.size]
    columns = list(state.columns) or [m["metric"] for m in telling_metrics(index.metrics, _MOST_COLUMNS)]
    return {
        "state": state,
        "here": state.address,
        "waiting_for_causes": insight is None,
        "total": len(index.ids),
        "fitting": len(order),
        "first": (state.page - 1) * state.size + 1 if len(order) else 0,
        "last": (state.page - 1) * state.size + len(shown),
        "pages": pages,
        "links": _links(state, pages),
        "plain_sorts": {name: state.sorted_by(name).address for name in PLAIN_SORTS},
        "columns": [_column(index, state, name) for name in columns],
        "choices": [
            {"metric": metric["metric"], "chosen": metric["metric"] in columns, "part": part_of(metric)}
            for metric in index.metrics
        ],
        "statuses": list(STATUSES),
        "slices": [f"{column}={part.label}" for column, parts in insight.slices for part in parts] if insight else [],
        "sizes": list(PAGE_SIZES),
        "causes": sorted({cause for cause in causes or () if cause}, key=list(CAUSES).index),
        "rows": [_row(index, causes, int(row), columns, state) for row in shown],
    }


def _links(state: TableState, pages: int) -> dict[str, str]:
    """The pages one can turn to."""
    wanted = {"first": 1, "previous": state.page - 1, "next": state.page + 1, "last": pages}
    there = {name: page for name, page in wanted.items() if 1 <= page <= pages and page != state.page}
    return {name: state.but(page=page).address or "?" for name, page in there.items()}


def _column(index: RunIndex, state: TableState, name: str) -> dict[str, Any]:
    metric = next(metric for metric in index.metrics if metric["metric"] == name)
    return {
        "metric": name,
        "arrow": DIRECTION[metric["better"]].strip(),
        "address": state.sorted_by(name, best_is_high=metric["better"] != "lower").address,
        "sorted": ("descending" if state.descending else "ascending") if state.sort == name else "",
    }


def _row(
    index: RunIndex, causes: Sequence[str] | None, row: int, columns: Sequence[str], state: TableState
) -> dict[str, Any]:
    known = causes is not None and row < len(causes)
    return {
        "row": row + 1,
        "id": one_line(index.ids[row].as_py(), 60),
        "question": one_line(index.question(row), 160),
        "cause": causes[row] if causes is not None and known else None,
        "quality": number(index.quality[row]),
        "values": [index.value(name, row) for name in columns],
        "address": f"/runs/{index.run.id}/samples/{row + 1}{state.but(page=1).address}",
    }
