"""The comparison of two runs: changed metrics with confidence intervals, and the changed samples."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import QueryParams

from ragstone.compare.comparison import ChangedSample, Comparison
from ragstone.compare.differences import Difference
from ragstone.compare.explain import find_row
from ragstone.errors import UsageError
from ragstone.report.comparison import comparison_dict, failed_lines, headline, method_line, run_label
from ragstone.report.html.comparison_page import has_range, reach_of
from ragstone.report.run import DIRECTION, part_of
from ragstone.report.text import one_line
from ragstone.web.library import Library
from ragstone.web.pages.run import describe_run

_TONES = {"better": "good", "worse": "bad"}


def choose(library: Library, query: QueryParams) -> dict[str, Any]:
    """Redirect to the comparison of the two selected runs; the older run is A."""
    chosen = list(dict.fromkeys(query.getlist("run")))
    if len(chosen) != 2:
        raise UsageError(f"select exactly two runs to compare (selected: {len(chosen)})")
    before, after = sorted((library.run(name) for name in chosen), key=lambda run: str(run.info["created_at"]) + run.id)
    return {"go": f"/compare/{before.id}/{after.id}"}


def comparison_page(library: Library, query: QueryParams, before: str, after: str) -> dict[str, Any]:
    """The whole comparison, or a page that reloads until it is ready."""
    old, new = library.run(before), library.run(after)
    comparison = library.comparison(old, new)
    head = {
        "page": "comparison",
        "title": f"{one_line(new.name, 60)} against {one_line(old.name, 60)}",
        "before": describe_run(old),
        "after": describe_run(new),
        "address": f"/compare/{before}/{after}",
        "turned": f"/compare/{after}/{before}",
    }
    if comparison is None:
        return {**head, "ready": False}
    order = "gains" if query.get("show") == "gains" else "losses"
    return {
        **head,
        "ready": True,
        "headline": headline(comparison),
        "labels": [one_line(run_label(run, comparison), 60) for run in (old, new)],
        "counts": {word: len(comparison.having(word)) for word in ("better", "worse", "no evidence", "too few rows")},
        "pairs": len(comparison.pairs),
        "remarks": [*comparison.remarks, *_left_out(comparison)],
        "reach": reach_of(comparison.metrics),
        "groups": _groups(comparison),
        "method": method_line(comparison),
        "show": order,
        "changed": [_changed(library, comparison, sample) for sample in changed_samples(comparison, order)],
        "settings": comparison_dict(comparison)["settings"],
    }


def changed_samples(comparison: Comparison, order: str) -> list[ChangedSample]:
    """Return the changed samples, the largest losses first or the largest gains first."""
    return list(comparison.changed) if order == "gains" else list(reversed(comparison.changed))


def _left_out(comparison: Comparison) -> list[str]:
    lines = [
        f"{name} was not compared because it was computed differently: {what}"
        for name, what in comparison.refused.items()
    ]
    sides = (("A", comparison.only_before), ("B", comparison.only_after))
    lines += [f"only in {side}: {', '.join(metrics)}" for side, metrics in sides if metrics]
    return [*lines, *failed_lines(comparison.metrics)]


def _groups(comparison: Comparison) -> list[dict[str, Any]]:
    known = {metric["metric"]: metric for metric in comparison.after.info["metrics"]}
    parts = {item.metric: part_of(known[item.metric]) for item in comparison.metrics}
    return [
        {"name": part, "rows": [_row(item) for item in comparison.metrics if parts[item.metric] == part]}
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
        "drawn": has_range(item),
        "note": item.note,
        "tally": item.tally._asdict() if item.tally else None,
    }


def _changed(library: Library, comparison: Comparison, sample: ChangedSample) -> dict[str, Any]:
    row = find_row(library.index(comparison.after).ids, sample.id) + 1
    return {
        "id": one_line(sample.id, 60),
        "row": row,
        "question": one_line(sample.question, 160),
        "gain": sample.gain,
        "metrics": [{"metric": name, "before": old, "after": new} for name, old, new in sample.metrics],
        "address": f"/compare/{comparison.before.id}/{comparison.after.id}/samples/{row}",
    }


VIEWS = {"/compare": choose, "/compare/{before}/{after}": comparison_page}
