"""The comparison of two runs: changed metrics with confidence intervals, moved causes, and all pairs of samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from starlette.datastructures import QueryParams

from ragstone.compare.cause_names import CAUSES
from ragstone.compare.cause_texts import NOT_EXAMINED
from ragstone.compare.comparison import Comparison
from ragstone.compare.differences import Difference
from ragstone.compare.sample_order import telling_metrics
from ragstone.compare.tradeoffs import find_tradeoffs
from ragstone.engine.metric_choice import pick_headlines
from ragstone.report.comparison import (
    comparison_dict,
    failed_lines,
    headline,
    method_line,
    not_compared_lines,
    run_label,
)
from ragstone.report.html.comparison_page import has_range, reach_of
from ragstone.report.run import DIRECTION, part_of
from ragstone.report.text import one_line
from ragstone.storage.runs import Run
from ragstone.storage.scores import unless_nan
from ragstone.web.library import Insight, Library
from ragstone.web.navigation import ListPage
from ragstone.web.pages.run import causes_of, describe_run
from ragstone.web.pair_index import CHANGES, Causes, PairIndex, PairState
from ragstone.web.run_index import ANY_FAULT, NO_FAULT, PAGE_SIZES

_TONES = {"better": "good", "worse": "bad"}
_MAX_HEADLINES = 8
# A smaller share of pairs that only one run skipped does not matter.
_MIN_ONE_SIDED = 0.05


def comparison_page(library: Library, query: QueryParams, before: str, after: str) -> dict[str, Any]:
    """The whole comparison, or a page that waits until it is ready."""
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
        return {**head, "ready": False, "steps": library.comparison_steps(old, new)}
    headlines = headline_metrics(new, [item.metric for item in comparison.metrics])
    pairs, insights = library.pairs(comparison), (library.insight(old), library.insight(new))
    return {
        **head,
        "ready": True,
        "headline": headline(comparison),
        "labels": [one_line(run_label(run, comparison), 60) for run in (old, new)],
        "counts": {word: len(comparison.having(word)) for word in ("better", "worse", "no evidence", "too few rows")},
        "pairs": len(comparison.pairs),
        "cautions": _cautions(comparison, headlines),
        "remarks": _remarks(comparison, headlines),
        "reach": reach_of(comparison.metrics),
        "headlines": headlines,
        "groups": _groups(comparison),
        "tradeoffs": [panel.as_dict() for panel in find_tradeoffs((old, new), ("A", "B"))],
        "method": method_line(comparison),
        "diagnosed": [library.diagnosed(run) for run in (old, new)],
        "causes": _moved_causes(pairs, insights),
        "table": _table(pairs, insights, query),
        "settings": comparison_dict(comparison)["settings"],
    }


def read_pairs(library: Library, comparison: Comparison, query: QueryParams) -> tuple[PairIndex, PairState, Causes]:
    """Return the pairs, the state of their table from a query, and the causes that are known."""
    pairs = library.pairs(comparison)
    insights = (library.insight(comparison.before), library.insight(comparison.after))
    return pairs, PairState.read(query, pairs.metrics), (causes_of(insights[0]), causes_of(insights[1]))


def headline_metrics(run: Run, names: Sequence[str]) -> list[str]:
    """Return the metrics that are shown first."""
    picked = pick_headlines(names)
    return [
        item.metric for item in telling_metrics([m for m in run.info.metrics if m.metric in picked], _MAX_HEADLINES)
    ]


def _cautions(comparison: Comparison, headlines: Sequence[str]) -> list[str]:
    """Return what may change the verdict: unequal data, other judges or prompts, failures, one-sided skips."""
    refused = [line for line in not_compared_lines(comparison) if not line.startswith("only in ")]
    return [*comparison.remarks, *refused, *failed_lines([i for i in comparison.metrics if _is_doubtful(i, headlines)])]


def _remarks(comparison: Comparison, headlines: Sequence[str]) -> list[str]:
    """Return the remarks that do not change the verdict: metrics of one run, few skipped scores."""
    only = [line for line in not_compared_lines(comparison) if line.startswith("only in ")]
    return [*only, *failed_lines([item for item in comparison.metrics if not _is_doubtful(item, headlines)])]


def _is_doubtful(item: Difference, headlines: Sequence[str]) -> bool:
    """Check for failed scores, or for many that only one run skipped in a metric that readers see or that differs."""
    many = item.skipped_before + item.skipped_after >= _MIN_ONE_SIDED * (item.pairs + item.skipped + item.failed)
    skipped = bool(item.skipped_before or item.skipped_after) and many
    return bool(item.failed) or (skipped and (item.metric in headlines or item.verdict in _TONES))


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


def _moved_causes(pairs: PairIndex, insights: tuple[Insight | None, Insight | None]) -> dict[str, Any] | None:
    """Return the main causes of the pairs in A and B with links; None until both runs are diagnosed."""
    if None in insights:
        return None
    causes = (causes_of(insights[0]), causes_of(insights[1]))
    both = [pairs.causes(position, causes) for position in range(len(pairs.comparison.pairs))]
    known = [pair for pair in both if None not in pair]
    old, new = (Counter(pair[side] for pair in known) for side in (0, 1))
    moved = Counter((bool(was), bool(now)) for was, now in known if NOT_EXAMINED not in (was, now))
    most = max((count for side in (old, new) for cause, count in side.items() if cause in CAUSES), default=1)
    rows = [
        {
            "name": name,
            "part": cause.part or "",
            "meaning": cause.meaning,
            "before": old[name],
            "after": new[name],
            "shares": [old[name] / most, new[name] / most],
            "links": [f"{state.address}#pairs" for state in (PairState(was=name), PairState(now=name))],
        }
        for name, cause in CAUSES.items()
        if old[name] or new[name]
    ]
    return {
        "rows": sorted(rows, key=lambda row: (-abs(row["after"] - row["before"]), -row["after"])),
        "moves": [
            {
                "name": name,
                "count": moved[(was == ANY_FAULT, now == ANY_FAULT)],
                "address": f"{PairState(was=was, now=now).address}#pairs",
            }
            for name, was, now in (
                ("fixed", ANY_FAULT, NO_FAULT),
                ("newly failing", NO_FAULT, ANY_FAULT),
                ("still failing", ANY_FAULT, ANY_FAULT),
            )
        ],
        "known": len(known),
    }


def _table(pairs: PairIndex, insights: tuple[Insight | None, Insight | None], query: QueryParams) -> dict[str, Any]:
    state = PairState.read(query, pairs.metrics)
    causes = (causes_of(insights[0]), causes_of(insights[1]))
    order = pairs.order(state, causes)
    page = ListPage.cut(order.tolist(), state.page, state.size)
    state = state.but(page=page.number)
    changes = [state.but(change=change) for change in ("", *CHANGES)]
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
            {"name": one.change, "address": one.address, "count": int(pairs.matches(one, causes).sum())}
            for one in changes
        ],
        "metrics": pairs.metrics,
        "causes": [
            ANY_FAULT,
            NO_FAULT,
            *(name for name in (*CAUSES, NOT_EXAMINED) if any(name in (side or ()) for side in causes)),
        ],
        "slices": [f"{column}={part.label}" for column, parts in slices for part in parts],
        "sizes": list(PAGE_SIZES),
        "rows": [_pair(pairs, position, causes, state) for position in page.items],
    }


def _pair(pairs: PairIndex, position: int, causes: Causes, state: PairState) -> dict[str, Any]:
    rows = pairs.rows(position)
    names = [state.metric] if state.metric else pairs.gains.largest(position)
    base = f"/compare/{pairs.comparison.before.id}/{pairs.comparison.after.id}"
    return {
        "id": one_line(pairs.after.ids[rows[1]].as_py(), 60),
        "row": rows[1] + 1,
        "question": one_line(pairs.after.question(rows[1]), 160),
        "causes": pairs.causes(position, causes),
        "gain": unless_nan(pairs.gain(state.metric)[position]),
        "metrics": [
            {"metric": name, "before": pairs.before.value(name, rows[0]), "after": pairs.after.value(name, rows[1])}
            for name in names
        ],
        "address": f"{base}/samples/{rows[1] + 1}{state.but(page=1).address}",
    }


VIEWS = {"/compare/{before}/{after}": comparison_page}
