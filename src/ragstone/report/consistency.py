"""The spread of metrics within repeated questions, in words and as a table."""

from __future__ import annotations

from typing import Any

from ragstone.compare.consistency import Consistency, Spread, measure_consistency
from ragstone.engine.metric_choice import pick_headlines
from ragstone.report.text import counted
from ragstone.storage.runs import Run


def consistency_lines(run: Run, full: bool = True) -> list[str]:
    """One line about the repeats and one per metric; empty if no question was asked twice."""
    found = measure_consistency(run)
    if found is None:
        return []
    names = [spread.metric for spread in found.spreads]
    shown = set(names) if full else pick_headlines(names)
    return [_headline(found), *(_line(spread) for spread in found.spreads if spread.metric in shown)]


def consistency_dict(run: Run) -> dict[str, Any] | None:
    """The same for pages and JSON."""
    found = measure_consistency(run)
    if found is None:
        return None
    rows = [{"metric": one.metric, "within": one.within, "share": one.share} for one in found.spreads]
    return {"headline": _headline(found), "questions": found.questions, "repeated": found.repeated, "rows": rows}


def _headline(found: Consistency) -> str:
    return (
        f"{counted(found.rows, 'answer')} to {counted(found.questions, 'question')}, {found.repeated:,} of them asked "
        "more than once; intervals take whole questions"
    )


def _line(spread: Spread) -> str:
    share = "" if spread.share is None else f", {spread.share:.0%} of its variance"
    return f"{spread.metric}: standard deviation {spread.within:.3f} within a question{share}"
