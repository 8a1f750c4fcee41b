"""Two runs side by side: what changed, how sure that is, and in which samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.compare.changes import ChangedSample
from ragstone.compare.comparison import Comparison
from ragstone.compare.differences import Difference
from ragstone.compare.explanation import find_row
from ragstone.errors import UsageError
from ragstone.report.comparing import comparison_dict, failed_lines, headline, method_line, run_label
from ragstone.report.html.svg import round_step
from ragstone.report.plain import one_line
from ragstone.report.terminal import DIRECTION, part_of
from ragstone.storage.runs import Run
from ragstone.web.library import Library
from ragstone.web.pages.run import about

_TONES = {"better": "good", "worse": "bad"}
_ORDERS = ("losses", "gains")


def choose(library: Library, names: Sequence[str]) -> dict[str, Any]:
    """From two ticked runs to their comparison, the older one first; else a page that says what to do."""
    chosen = list(dict.fromkeys(names))
    if len(chosen) != 2:
        raise UsageError(
            f"{len(chosen)} run{'s were' if len(chosen) != 1 else ' was'} ticked; go back and tick two, they are shown side by side"
        )
    before, after = sorted((library.run(name) for name in chosen), key=lambda run: str(run.info["created_at"]) + run.id)
    return {"go": f"/compare/{before.id}/{after.id}"}


def comparison_page(library: Library, before: Run, after: Run, query: Mapping[str, str]) -> dict[str, Any]:
    """The whole comparison; a page that waits as long as it is being made."""
    found = library.comparison(before, after)
    names = {
        "page": "comparison",
        "title": f"{one_line(after.name, 60)} against {one_line(before.name, 60)}",
        "before": about(before),
        "after": about(after),
        "address": f"/compare/{before.id}/{after.id}",
        "turned": f"/compare/{after.id}/{before.id}",
    }
    if found is None:
        return {**names, "ready": False}
    order = query.get("show") if query.get("show") in _ORDERS else _ORDERS[0]
    data = comparison_dict(found)
    return {
        **names,
        "ready": True,
        "headline": headline(found),
        "labels": [one_line(run_label(run, found), 60) for run in (before, after)],
        "counts": {word: len(found.having(word)) for word in ("better", "worse", "no evidence", "too few rows")},
        "pairs": len(found.pairs),
        "remarks": [*found.remarks, *_left_out(found)],
        "reach": _reach(found.metrics),
        "groups": _groups(found),
        "method": method_line(found),
        "show": order,
        "changed": [_changed(library, found, sample) for sample in in_order(found, str(order))],
        "settings": data["settings"],
    }


def in_order(found: Comparison, order: str) -> list[ChangedSample]:
    """The samples that changed, the largest losses or the largest gains first."""
    return list(found.changed) if order == "gains" else list(reversed(found.changed))


def _left_out(found: Comparison) -> list[str]:
    lines = [f"{name} was not compared, it was made in different ways: {what}" for name, what in found.refused.items()]
    for word, only in (("A", found.only_before), ("B", found.only_after)):
        if only:
            lines.append(f"only in {word}: {', '.join(only)}")
    return [*lines, *failed_lines(found.metrics)]


def _reach(items: Sequence[Difference]) -> float:
    """Half the width of the axis that all differences share."""
    ends = [
        abs(end)
        for item in items
        if _bounded(item)
        for end in (item.low, item.high, item.difference)
        if end is not None
    ]
    return min(1.0, 2 * round_step(max(ends, default=0.05) / 2)) or 0.1


def _bounded(item: Difference) -> bool:
    low, high = item.bounds
    return low is not None and high is not None and high - low <= 2


def _groups(found: Comparison) -> list[dict[str, Any]]:
    known = {metric["metric"]: metric for metric in found.after.info["metrics"]}
    parts = {item.metric: part_of(known[item.metric]) for item in found.metrics}
    return [
        {"name": part, "rows": [_row(item) for item in found.metrics if parts[item.metric] == part]}
        for part in dict.fromkeys(parts.values())
    ]


def _row(item: Difference) -> dict[str, Any]:
    return {
        "metric": item.metric,
        "arrow": DIRECTION[item.better].strip(),
        "before": item.before,
        "after": item.after,
        "difference": item.difference,
        "low": item.low,
        "high": item.high,
        "p": item.corrected_p,
        "detectable": item.detectable,
        "pairs": item.pairs,
        "verdict": item.verdict or "",
        "tone": _TONES.get(item.verdict or "", "none"),
        "drawn": _bounded(item),
        "note": item.note,
        "tally": item.tally._asdict() if item.tally else None,
    }


def _changed(library: Library, found: Comparison, sample: ChangedSample) -> dict[str, Any]:
    row = find_row(library.index(found.after).ids, sample.id) + 1
    return {
        "id": one_line(sample.id, 60),
        "row": row,
        "question": one_line(sample.question, 160),
        "gain": sample.gain,
        "metrics": [{"metric": name, "before": old, "after": new} for name, old, new in sample.metrics],
        "address": f"/compare/{found.before.id}/{found.after.id}/samples/{row}",
    }
