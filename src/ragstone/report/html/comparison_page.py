"""The HTML report of a comparison: metrics, slices, causes, and the samples that changed most."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ragstone.compare.aggregate import aggregate
from ragstone.compare.cause_moves import find_moves
from ragstone.compare.comparison import ChangedSample, Comparison
from ragstone.compare.differences import Difference, is_of_all_rows
from ragstone.compare.explain import find_row
from ragstone.compare.sample_order import telling_metrics
from ragstone.compare.tradeoffs import find_tradeoffs
from ragstone.report import diagnosis as diagnosing
from ragstone.report.comparison import (
    MOST_MOVED,
    MOVES,
    comparison_dict,
    failed_lines,
    headline,
    method_line,
    not_compared_lines,
    run_label,
)
from ragstone.report.html import charts
from ragstone.report.html.charts import round_step
from ragstone.report.html.page import render_page
from ragstone.report.html.run_data import RunData, read_run_data, show_rows
from ragstone.report.html.run_page import HEADLINES, MOST_SHOWN, measured
from ragstone.report.run import DIRECTION, part_of

_MOST_CHANGED = 10
_MOST_SHOWN = 24
# Half losses, half gains.
_PRINTED = 6
_TONES = {"better": "good", "worse": "bad"}
_MARKS = {"better": "▲ better", "worse": "▼ worse"}


def comparison_html(comparison: Comparison, changed: int = _MOST_CHANGED, *, all_samples: bool = False) -> str:
    """One self-contained file. `changed` samples that changed most are shown in full.

    Some of them are printed. With `all_samples`, every changed sample is shown in full and printed.
    """
    sides = (read_run_data(comparison.before), read_run_data(comparison.after))
    reach = reach_of(comparison.metrics)
    sliced = reach_of([item for part in comparison.slices for item in part.metrics])
    listed = _changed(comparison, sides, MOST_SHOWN if all_samples else changed)
    compared = [metric for metric in comparison.after.info["metrics"] if metric["metric"] in _names(comparison)]
    headlines = {metric["metric"] for metric in telling_metrics(compared, HEADLINES)}
    data = {
        "title": f"{run_label(comparison.after, comparison)} against {run_label(comparison.before, comparison)}",
        "headline": headline(comparison),
        "comparison": comparison,
        "names": (comparison.before.name, comparison.after.name),
        "counts": [(word, len(comparison.having(word))) for word in ("better", "worse", "no evidence", "too few rows")],
        "headlines": list(difference_groups(comparison, reach, headlines)),
        "groups": list(difference_groups(comparison, reach, _names(comparison) - headlines)),
        "axis": charts.strip_axis(charts.strip_scale(-reach, reach)),
        "slice_axis": charts.strip_axis(charts.strip_scale(-sliced, sliced)),
        "tradeoffs": _tradeoffs(comparison),
        "distributions": list(_distributions(comparison, sides)),
        "diagnoses": [diagnosing.headline(side.diagnosis) for side in sides],
        "causes": list(_causes(sides)),
        "moves": list(zip(MOVES, find_moves(comparison, MOST_MOVED) or (), strict=False)),
        "slices": list(_slices(comparison, sliced)),
        "changed": listed,
        "printed": sum(item["printed"] for item in listed),
        "print_all": all_samples,
        "remarks": [*comparison.remarks, *not_compared_lines(comparison)],
        "left_out": failed_lines(comparison.metrics),
        "method": method_line(comparison),
        "measured": [measured(comparison.before), measured(comparison.after)],
        "signatures": list(_signatures(comparison)),
    }
    embedded = {
        "schema": "ragstone.comparison",
        "version": 1,
        "comparison": _without_texts(comparison_dict(comparison)),
        "before": aggregate(comparison.before, sides[0].diagnosis),
        "after": aggregate(comparison.after, sides[1].diagnosis),
    }
    return render_page("comparison.html", data, embedded)


def _without_texts(values: dict[str, Any]) -> dict[str, Any]:
    """The numbers without texts, sample ids and paths."""
    left_out = ("changed", "only_before", "only_after", "other_question", "before", "after", "failing")
    return {name: value for name, value in values.items() if name not in left_out}


def reach_of(items: Sequence[Difference]) -> float:
    """Half the width of the shared axis: the farthest end of an interval, rounded up."""
    ends = [
        abs(end)
        for item in items
        if has_range(item)
        for end in (item.low, item.high, item.difference)
        if end is not None
    ]
    return min(1.0, 2 * round_step(max(ends, default=0.05) / 2)) or 0.1


def has_range(item: Difference) -> bool:
    """Whether a metric has bounds, so that its difference fits on the shared axis."""
    return item.bounds[0] is not None and item.bounds[1] is not None and item.bounds[1] - item.bounds[0] <= 2


def _strip(item: Difference, reach: float) -> str:
    if not has_range(item):
        return ""
    tone = _TONES.get(item.verdict or "", "none")
    return charts.interval_strip(charts.strip_scale(-reach, reach), item.difference, item.low, item.high, tone)


def _row(item: Difference, reach: float) -> dict[str, Any]:
    return {
        "metric": item.metric,
        "arrow": DIRECTION[item.better].strip(),
        "item": item,
        "verdict": _MARKS.get(item.verdict or "", item.verdict or "–"),
        "tone": _TONES.get(item.verdict or "", "none"),
        "strip": _strip(item, reach),
    }


def _names(comparison: Comparison) -> set[str]:
    return {item.metric for item in comparison.metrics}


def difference_groups(comparison: Comparison, reach: float, wanted: Collection[str]) -> Iterator[dict[str, Any]]:
    """The differences of these metrics by the part of the system that they judge."""
    known = {metric["metric"]: metric for metric in comparison.after.info["metrics"]}
    parts = {item.metric: part_of(known[item.metric]) for item in comparison.metrics if item.metric in wanted}
    for part in dict.fromkeys(parts.values()):
        rows = [_row(item, reach) for item in comparison.metrics if parts.get(item.metric) == part]
        yield {"name": part, "rows": rows}


def _distributions(comparison: Comparison, sides: tuple[RunData, RunData]) -> Iterator[dict[str, Any]]:
    """The changes of single samples. A mean of zero may hide many gains and losses."""
    before, after = sides
    compared = {item.metric: item for item in comparison.metrics}
    directed = [metric for metric in after.metrics if metric["metric"] in compared and metric["better"] != "none"]
    for metric in telling_metrics(directed, _MOST_SHOWN):
        name = metric["metric"]
        low, high = metric["bounds"]
        if low is None or high is None or is_of_all_rows(name, comparison.after, after.scores[name]):
            continue
        changes = (
            after.scores[name].values[comparison.pairs.after] - before.scores[name].values[comparison.pairs.before]
        )
        if not np.any(~np.isnan(changes)):
            continue
        gains = -changes if metric["better"] == "lower" else changes
        width = high - low
        item = compared[name]
        yield {
            "metric": name,
            "arrow": DIRECTION[metric["better"]].strip(),
            "tally": item.tally,
            "plot": charts.histogram(gains[gains != 0], -width, width, item.gain, zero=True),
        }


def _causes(sides: tuple[RunData, RunData]) -> Iterator[dict[str, Any]]:
    """The causes in both runs, over the samples that were examined."""
    counts = [{count.cause.name: count for count in side.diagnosis.causes} for side in sides]
    most = max((count.samples for side in counts for count in side.values()), default=1)
    for name in dict.fromkeys([*counts[0], *counts[1]]):
        cause = (counts[0].get(name) or counts[1][name]).cause
        samples = [side[name].samples if name in side else 0 for side in counts]
        tone = "bad" if cause.fails else "silent"
        yield {
            "name": name,
            "part": cause.part or "information",
            "meaning": cause.meaning,
            "samples": samples,
            "change": samples[1] - samples[0],
            "bars": [charts.bar(number / most, f"{number:,} samples", tone) if number else "" for number in samples],
        }


def _slices(comparison: Comparison, reach: float) -> Iterator[dict[str, Any]]:
    for column in dict.fromkeys(part.column for part in comparison.slices):
        parts = [part for part in comparison.slices if part.column == column]
        rows = [
            {"label": part.label, "pairs": part.pairs, **_row(item, reach)} for part in parts for item in part.metrics
        ]
        rows.sort(key=lambda row: row["tone"] == "none")
        differing = sum(row["tone"] != "none" for row in rows)
        yield {"column": column, "rows": rows, "differences": differing, "labels": len(parts)}


def _changed(comparison: Comparison, sides: tuple[RunData, RunData], most: int) -> list[dict[str, Any]]:
    """The largest losses and gains, half of each, with both answers."""
    gained = [sample for sample in comparison.changed if sample.gain > 0]
    lost = [sample for sample in reversed(comparison.changed) if sample.gain < 0]
    listed = [*lost[: (most + 1) // 2], *gained[: most - min(len(lost), (most + 1) // 2)]]
    partner = dict(zip(comparison.pairs.after.tolist(), comparison.pairs.before.tolist(), strict=True))
    after = [find_row(sides[1].ids, sample.id) for sample in listed]
    shown = (
        show_rows(sides[0], [partner[row] for row in after], "a"),
        show_rows(sides[1], after, "b"),
    )
    gains = min(len(gained), max(_PRINTED // 2, _PRINTED - len(lost)))
    printed = {sample.id for sample in [*lost[: _PRINTED - gains], *gained[:gains]]}
    return [
        _change(sample, (shown[0][partner[row]], shown[1][row]), sample.id in printed)
        for sample, row in zip(listed, after, strict=True)
    ]


def _change(sample: ChangedSample, both: tuple[Any, Any], printed: bool) -> dict[str, Any]:
    tone = "good" if sample.gain > 0 else "bad"
    return {"sample": sample, "sides": both, "anchor": both[1].anchor, "tone": tone, "printed": printed}


def _tradeoffs(comparison: Comparison) -> list[dict[str, Any]]:
    """Quality against latency and price, drawn; empty if the runs do not have them."""
    panels = find_tradeoffs((comparison.before, comparison.after), ("A", "B"))
    return [{**panel.as_dict(), "plot": charts.tradeoff(panel.as_dict())} for panel in panels]


def _signatures(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    """The signature of each metric in both runs. The second is empty if both are equal."""
    other: Mapping[str, str] = {metric["metric"]: metric["signature"] for metric in comparison.after.info["metrics"]}
    for metric in comparison.before.info["metrics"]:
        name, signature = metric["metric"], metric["signature"]
        if name in other:
            yield name, signature, "" if other[name] == signature else other[name]
