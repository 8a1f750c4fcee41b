"""The report of a comparison: is the new version better, in what, where, and which samples changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ragstone.compare.aggregate import aggregate
from ragstone.compare.changes import ChangedSample
from ragstone.compare.comparison import Comparison
from ragstone.compare.corpus import is_of_all_rows
from ragstone.compare.differences import Difference
from ragstone.compare.explanation import find_row
from ragstone.compare.worst import telling_metrics
from ragstone.report import diagnosis as diagnosing
from ragstone.report.comparing import comparison_dict, failed_lines, headline, method_line, run_label
from ragstone.report.html import plots
from ragstone.report.html.gathering import Gathered, gather, show_rows
from ragstone.report.html.measured import measured
from ragstone.report.html.page import render_page
from ragstone.report.html.svg import round_step
from ragstone.report.terminal import DIRECTION, part_of

CHANGED = 10
_MOST_SHOWN = 24
_TONES = {"better": "good", "worse": "bad"}
_MARKS = {"better": "▲ better", "worse": "▼ worse"}


def comparison_html(found: Comparison, changed: int = CHANGED) -> str:
    """One file that opens anywhere; so many of the samples that changed most in full."""
    sides = (gather(found.before), gather(found.after))
    reach = _reach(found.metrics)
    sliced = _reach([item for part in found.slices for item in part.metrics])
    data = {
        "title": f"{run_label(found.after, found)} against {run_label(found.before, found)}",
        "headline": headline(found),
        "found": found,
        "names": (found.before.name, found.after.name),
        "counts": [(word, len(found.having(word))) for word in ("better", "worse", "no evidence", "too few rows")],
        "groups": list(_groups(found, reach)),
        "axis": plots.strip_axis(plots.strip_scale(-reach, reach)),
        "slice_axis": plots.strip_axis(plots.strip_scale(-sliced, sliced)),
        "distributions": list(_distributions(found, sides)),
        "diagnoses": [diagnosing.headline(side.diagnosis) for side in sides],
        "causes": list(_causes(sides)),
        "slices": list(_slices(found, sliced)),
        "changed": _changed(found, sides, changed),
        "remarks": _remarks(found),
        "left_out": failed_lines(found.metrics),
        "method": method_line(found),
        "measured": [measured(found.before), measured(found.after)],
        "signatures": list(_signatures(found)),
    }
    embedded = {
        "schema": "ragstone.comparison",
        "version": 1,
        "comparison": _without_texts(comparison_dict(found)),
        "before": aggregate(found.before, sides[0].diagnosis),
        "after": aggregate(found.after, sides[1].diagnosis),
    }
    return render_page("comparison.html", data, embedded)


def _without_texts(comparison: dict[str, Any]) -> dict[str, Any]:
    """Numbers only: the texts and names of samples stand in the page, and paths are nobody's business."""
    left_out = ("changed", "only_before", "only_after", "other_question", "before", "after")
    return {name: value for name, value in comparison.items() if name not in left_out}


def _reach(items: Sequence[Difference]) -> float:
    """Half the width of the axis that all differences share: the farthest end of an interval, rounded up."""
    ends = [
        abs(end)
        for item in items
        if _has_range(item)
        for end in (item.low, item.high, item.difference)
        if end is not None
    ]
    return min(1.0, 2 * round_step(max(ends, default=0.05) / 2)) or 0.1


def _has_range(item: Difference) -> bool:
    return item.bounds[0] is not None and item.bounds[1] is not None and item.bounds[1] - item.bounds[0] <= 2


def _strip(item: Difference, reach: float) -> str:
    if not _has_range(item):
        return ""
    tone = _TONES.get(item.verdict or "", "none")
    return plots.interval_strip(plots.strip_scale(-reach, reach), item.difference, item.low, item.high, tone)


def _row(item: Difference, reach: float) -> dict[str, Any]:
    return {
        "metric": item.metric,
        "arrow": DIRECTION[item.better].strip(),
        "item": item,
        "verdict": _MARKS.get(item.verdict or "", item.verdict or "–"),
        "tone": _TONES.get(item.verdict or "", "none"),
        "strip": _strip(item, reach),
    }


def _groups(found: Comparison, reach: float) -> Iterator[dict[str, Any]]:
    known = {metric["metric"]: metric for metric in found.after.info["metrics"]}
    parts = {item.metric: part_of(known[item.metric]) for item in found.metrics}
    for part in dict.fromkeys(parts.values()):
        rows = [_row(item, reach) for item in found.metrics if parts[item.metric] == part]
        yield {"name": part, "rows": rows}


def _distributions(found: Comparison, sides: tuple[Gathered, Gathered]) -> Iterator[dict[str, Any]]:
    """How single samples changed: a mean of zero may hide many gains and as many losses."""
    before, after = sides
    compared = {item.metric: item for item in found.metrics}
    directed = [metric for metric in after.metrics if metric["metric"] in compared and metric["better"] != "none"]
    for metric in telling_metrics(directed, _MOST_SHOWN):
        name = metric["metric"]
        low, high = metric["bounds"]
        if low is None or high is None or is_of_all_rows(name, found.after, after.scores[name]):
            continue
        changes = after.scores[name].values[found.pairs.after] - before.scores[name].values[found.pairs.before]
        if not np.any(~np.isnan(changes)):
            continue
        gains = -changes if metric["better"] == "lower" else changes
        width = high - low
        item = compared[name]
        yield {
            "metric": name,
            "arrow": DIRECTION[metric["better"]].strip(),
            "tally": item.tally,
            "plot": plots.histogram(gains[gains != 0], -width, width, item.gain, zero=True),
        }


def _causes(sides: tuple[Gathered, Gathered]) -> Iterator[dict[str, Any]]:
    """The causes in both runs side by side, over the samples that were looked into."""
    counts = [{count.cause.name: count for count in side.diagnosis.causes} for side in sides]
    most = max((count.samples for side in counts for count in side.values()), default=1)
    for name in dict.fromkeys([*counts[0], *counts[1]]):
        cause = (counts[0].get(name) or counts[1][name]).cause
        samples = [side[name].samples if name in side else 0 for side in counts]
        tone = "bad" if cause.fails else "silent"
        yield {
            "name": name,
            "part": cause.part or "worth knowing",
            "meaning": cause.meaning,
            "samples": samples,
            "change": samples[1] - samples[0],
            "bars": [plots.bar(number / most, f"{number:,} samples", tone) if number else "" for number in samples],
        }


def _slices(found: Comparison, reach: float) -> Iterator[dict[str, Any]]:
    for column in dict.fromkeys(part.column for part in found.slices):
        parts = [part for part in found.slices if part.column == column]
        rows = [
            {"label": part.label, "pairs": part.pairs, **_row(item, reach)} for part in parts for item in part.metrics
        ]
        rows.sort(key=lambda row: row["tone"] == "none")
        told = sum(row["tone"] != "none" for row in rows)
        yield {"column": column, "rows": rows, "told": told, "labels": len(parts)}


def _changed(found: Comparison, sides: tuple[Gathered, Gathered], most: int) -> list[dict[str, Any]]:
    """The largest losses and the largest gains, in turns of half, each with both answers."""
    gained = [sample for sample in found.changed if sample.gain > 0]
    lost = [sample for sample in reversed(found.changed) if sample.gain < 0]
    listed = [*lost[: (most + 1) // 2], *gained[: most - min(len(lost), (most + 1) // 2)]]
    partner = dict(zip(found.pairs.after.tolist(), found.pairs.before.tolist(), strict=True))
    after = [find_row(sides[1].ids, sample.id) for sample in listed]
    shown = (
        show_rows(sides[0], [partner[row] for row in after], "a"),
        show_rows(sides[1], after, "b"),
    )
    return [_change(sample, (shown[0][partner[row]], shown[1][row])) for sample, row in zip(listed, after, strict=True)]


def _change(sample: ChangedSample, both: tuple[Any, Any]) -> dict[str, Any]:
    return {"sample": sample, "sides": both, "anchor": both[1].anchor, "tone": "good" if sample.gain > 0 else "bad"}


def _remarks(found: Comparison) -> list[str]:
    lines = list(found.remarks)
    lines += [f"{name} was not compared, it was made in different ways: {what}" for name, what in found.refused.items()]
    lines += [
        f"only in {word}: {', '.join(only)}"
        for word, only in (("A", found.only_before), ("B", found.only_after))
        if only
    ]
    return lines


def _signatures(found: Comparison) -> Iterator[tuple[str, str, str]]:
    """A metric's signature in both runs; the second is empty where it is the same."""
    other: Mapping[str, str] = {metric["metric"]: metric["signature"] for metric in found.after.info["metrics"]}
    for metric in found.before.info["metrics"]:
        name, signature = metric["metric"], metric["signature"]
        if name in other:
            yield name, signature, "" if other[name] == signature else other[name]
