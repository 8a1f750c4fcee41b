"""The steps of a sample as page data."""

from __future__ import annotations

from typing import Any

from ragstone.compare.sample_evidence import Case
from ragstone.compare.step_counts import describe_steps, missed_calls
from ragstone.evidence.steps import step_ranks
from ragstone.report.text import one_line
from ragstone.web.sample_data import Limits

_MAX_STEPS = 200
_MAX_RANKS = 30
_MAX_MISSED = 20
_MAX_CALL = 300


def step_list(case: Case, limits: Limits) -> dict[str, Any] | None:
    """Return the steps with their chunks and the facts that they found first; None if the data has no steps."""
    steps = case.sample.steps
    if steps is None:
        return None
    ranks = step_ranks(steps, case.sample.contexts or [])
    rows = [
        {
            "number": step.number,
            "tool": one_line(step.tool, 100),
            "query": limits.shorten(step.query or ""),
            "chunks": step.chunks,
            "new": step.new,
            "ranks": [rank + 1 for rank in found[:_MAX_RANKS]],
            "facts": step.facts or [],
            "looked": step.facts is not None,
            "seconds": step.seconds,
            "expected": step.expected,
        }
        for step, found in zip(describe_steps(case)[:_MAX_STEPS], ranks, strict=False)
    ]
    missed = missed_calls(case)
    return {
        "rows": rows,
        "more": max(0, len(steps) - _MAX_STEPS),
        "missed": [one_line(call, _MAX_CALL) for call in missed[:_MAX_MISSED]],
        "more_missed": max(0, len(missed) - _MAX_MISSED),
    }
