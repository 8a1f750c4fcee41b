"""Quality against cost: each run as a point with its intervals, one panel per cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.data.summary import SummaryRow
from ragstone.engine.metric_choice import is_headline
from ragstone.storage.runs import Run

# The costs that get a panel; tokens only if no run has a price.
_LATENCY, _PRICE, _TOKENS = "system.latency", "system.cost", "system.output_tokens"
_AXES = {_LATENCY: "seconds per answer", _PRICE: "usd per answer", _TOKENS: "tokens written per answer"}


@dataclass(frozen=True)
class Point:
    """A run: its cost (x) and its quality (y), each with an interval if it is known."""

    name: str
    x: float
    x_low: float | None
    x_high: float | None
    y: float
    y_low: float | None
    y_high: float | None


@dataclass(frozen=True)
class Panel:
    """One cost against one measure of quality."""

    cost: str
    axis: str
    quality: str
    points: tuple[Point, ...]

    def as_dict(self) -> dict[str, Any]:
        """The panel for JSON."""
        return asdict(self)


def find_tradeoffs(runs: Sequence[Run], names: Sequence[str], quality: str | None = None) -> list[Panel]:
    """The panels of these runs under these names; none if no cost is known. By default the first headline is the quality."""
    summaries = [{row.metric: row for row in run.summary() if row.mean is not None} for run in runs]
    shared = set(summaries[0]).intersection(*summaries[1:]) if summaries else set()
    measures = [name for name in _measures(runs[0]) if name in shared] if runs else []
    chosen = quality if quality in shared else next(iter(measures), None)
    if chosen is None:
        return []
    costs = [_LATENCY, _PRICE if any(_PRICE in summary for summary in summaries) else _TOKENS]
    panels = []
    for cost in costs:
        points = [
            _point(name, summary[cost], summary[chosen])
            for name, summary in zip(names, summaries, strict=True)
            if cost in summary
        ]
        if points:
            panels.append(Panel(cost, _AXES[cost], chosen, tuple(points)))
    return panels


def _measures(run: Run) -> Iterator[str]:
    """The metrics of quality from 0 to 1: of the answer first, headlines first."""
    able = [item for item in run.info.metrics if item.better == "higher" and item.bounds == (0.0, 1.0)]
    for of_answer in (True, False):
        for first in (True, False):
            yield from (
                item.metric
                for item in able
                if (item["judges"] == "answer") == of_answer and is_headline(item.metric) == first
            )


def _point(name: str, cost: SummaryRow, quality: SummaryRow) -> Point:
    return Point(
        name, cost.mean or 0.0, cost.ci_low, cost.ci_high, quality.mean or 0.0, quality.ci_low, quality.ci_high
    )
