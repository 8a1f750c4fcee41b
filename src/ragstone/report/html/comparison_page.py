"""The HTML report of a comparison: metrics, slices, causes, and the samples that changed most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ragstone.analysis.aggregate import aggregate
from ragstone.analysis.comparison import Comparison
from ragstone.analysis.differences import is_of_all_rows
from ragstone.analysis.explain import find_row
from ragstone.analysis.leaderboard import find_tradeoffs
from ragstone.analysis.row_moves import MOVES
from ragstone.report.html import charts
from ragstone.report.html.charts import round_step
from ragstone.report.html.page import render_page, without
from ragstone.report.html.run_page import MOST_SHOWN, RunData, describe_run, measured, read_run_data, show_rows
from ragstone.views.comparison import ComparisonView, MetricChange
from ragstone.views.diagnosis import headline as diagnosis_headline
from ragstone.views.moved_rows import SliceMoves, row_labels
from ragstone.views.phrases import one_line
from ragstone.views.run import arrow_of

_MOST_CHANGED = 10
_MOST_SHOWN = 24
_MOST_NAMED = 100
# Texts, sample ids and paths are not embedded.
_TEXTS = (
    *("changed", "only_before", "only_after", "other_question", "before", "after", "failing"),
    *("moved", "failing_slices"),
)
# Half losses, half gains.
_PRINTED = 6


def comparison_html(comparison: Comparison, changed: int = _MOST_CHANGED, *, all_samples: bool = False) -> str:
    """One self-contained file. `changed` samples that changed most are shown in full.

    Some of them are printed. With `all_samples`, every changed sample is shown in full and printed.
    """
    sides = (read_run_data(comparison.before), read_run_data(comparison.after))
    view = ComparisonView.of(comparison, (row_labels(sides[0].diagnosis), row_labels(sides[1].diagnosis)))
    listed = _changed(view, sides, MOST_SHOWN if all_samples else changed)
    data = {
        **comparison_data(view),
        "distributions": list(_distributions(view, sides)),
        "diagnoses": [diagnosis_headline(side.diagnosis) for side in sides],
        "slices": list(_slices(comparison)),
        "slice_reach": reach_of([MetricChange.of(item) for part in comparison.slices for item in part.metrics]),
        "changed": listed,
        "printed": sum(item["printed"] for item in listed),
        "print_all": all_samples,
        "measured": [measured(comparison.before), measured(comparison.after)],
        "signatures": list(_signatures(comparison)),
    }
    embedded = {
        "schema": "ragstone.comparison",
        "version": 1,
        "comparison": without(view.as_dict(), *_TEXTS),
        "before": aggregate(comparison.before, sides[0].diagnosis),
        "after": aggregate(comparison.after, sides[1].diagnosis),
    }
    return render_page("comparison.html", data, embedded)


def comparison_data(view: ComparisonView) -> dict[str, Any]:
    """The data of the page of a comparison that a report, the viewer and a notebook share."""
    before, after, causes = view.comparison.before, view.comparison.after, view.causes
    return {
        "title": f"{one_line(before.name, 60)} → {one_line(after.name, 60)}",
        "before": describe_run(before),
        "after": describe_run(after),
        "ready": True,
        "headline": view.headline,
        "summary": view.summary,
        "unclear": view.unclear(),
        "labels": [one_line(label, 60) for label in view.labels],
        "counts": dict(view.counts),
        "pairs": len(view.comparison.pairs),
        "cautions": list(view.cautions),
        "remarks": list(view.remarks),
        "reach": reach_of(view.metrics),
        "headlines": [row.metric for row in view.headlines],
        "groups": view.groups(),
        "others": view.others_text,
        "method": view.method,
        "tradeoffs": [panel.as_dict() for panel in find_tradeoffs((before, after), ("A", "B"))],
        "causes": causes and {"rows": [row._asdict() for row in causes.rows], "known": causes.known},
        "moves": [
            {"name": kind, "count": len(ids), "ids": ids[:_MOST_NAMED]}
            for kind in MOVES
            if view.moves and ((ids := view.moves.having(kind)) or kind != "unclear")
        ],
        "moved": view.moved,
        "slices_failing": [
            {"column": column, "rows": [_slice_data(part) for part in view.slices if part.column == column]}
            for column in dict.fromkeys(part.column for part in view.slices)
        ],
    }


def _slice_data(part: SliceMoves) -> dict[str, Any]:
    return {**vars(part), "label": one_line(part.label, 80), "key": part.key, "shares": part.shares}


def reach_of(rows: Sequence[MetricChange]) -> float:
    """Half the width of the shared axis: the farthest end of an interval, rounded up."""
    drawn = [end for row in rows if row.drawn for end in (row.low, row.high, row.difference)]
    most = max((abs(end) for end in drawn if end is not None), default=0.05)
    return min(1.0, 2 * round_step(most / 2)) or 0.1


def _distributions(view: ComparisonView, sides: tuple[RunData, RunData]) -> Iterator[dict[str, Any]]:
    """The changes of single samples. A mean of zero may hide many gains and losses."""
    comparison, (before, after) = view.comparison, sides
    directed = [item for item in (*view.headlines, *view.others) if item.better != "none"]
    for item in directed[:_MOST_SHOWN]:
        name = item.metric
        low, high = item.bounds
        if low is None or high is None or is_of_all_rows(name, comparison.after, after.scores[name]):
            continue
        changes = (
            after.scores[name].values[comparison.pairs.after] - before.scores[name].values[comparison.pairs.before]
        )
        if not np.any(~np.isnan(changes)):
            continue
        gains = -changes if item.better == "lower" else changes
        width = high - low
        yield {
            "metric": name,
            "arrow": arrow_of(item.better),
            "tally": item.tally,
            "plot": charts.histogram(gains[gains != 0], -width, width, item.gain, zero=True),
        }


def _slices(comparison: Comparison) -> Iterator[dict[str, Any]]:
    for column in dict.fromkeys(part.column for part in comparison.slices):
        parts = [part for part in comparison.slices if part.column == column]
        rows = [
            {"label": part.label, **MetricChange.of(item).as_dict(), "pairs": part.pairs}
            for part in parts
            for item in part.metrics
        ]
        rows.sort(key=lambda row: row["tone"] == "none")
        differing = sum(row["tone"] != "none" for row in rows)
        yield {"column": column, "rows": rows, "differences": differing, "labels": len(parts)}


def _changed(view: ComparisonView, sides: tuple[RunData, RunData], most: int) -> list[dict[str, Any]]:
    """The largest losses and gains, half of each, with both answers."""
    lost, gained, pairs = view.losses, view.gains, view.comparison.pairs
    listed = [*lost[: (most + 1) // 2], *gained[: most - min(len(lost), (most + 1) // 2)]]
    partner = dict(zip(pairs.after.tolist(), pairs.before.tolist(), strict=True))
    after = [find_row(sides[1].ids, sample.id) for sample in listed]
    old, new = show_rows(sides[0], [partner[row] for row in after], "a"), show_rows(sides[1], after, "b")
    gains = min(len(gained), max(_PRINTED // 2, _PRINTED - len(lost)))
    printed = {sample.id for sample in [*lost[: _PRINTED - gains], *gained[:gains]]}
    return [
        {
            "sample": sample,
            "sides": (old[partner[row]], new[row]),
            "anchor": new[row].anchor,
            "tone": "good" if sample.gain > 0 else "bad",
            "printed": sample.id in printed,
        }
        for sample, row in zip(listed, after, strict=True)
    ]


def _signatures(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    """The signature of each metric in both runs. The second is empty if both are equal."""
    other: Mapping[str, str] = {metric["metric"]: metric["signature"] for metric in comparison.after.info["metrics"]}
    for metric in comparison.before.info["metrics"]:
        name, signature = metric["metric"], metric["signature"]
        if name in other:
            yield name, signature, "" if other[name] == signature else other[name]
