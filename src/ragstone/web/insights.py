"""What takes a while to find out about a run: why its samples fail, of the first ones soon and of all a little later; its slices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ragstone.compare.diagnosis import Diagnosis, diagnose
from ragstone.compare.slices import RunSlice, slice_run
from ragstone.compare.worst import telling_metrics
from ragstone.storage.runs import Run
from ragstone.web.diagnosed import diagnosed
from ragstone.web.index import RunIndex
from ragstone.web.later import PATIENCE_S, Kept

# So many samples are looked into within seconds; what they say is shown until all have been looked into.
FIRST_FEW = 10_000
_MOST_SLICE_METRICS = 4
# Into larger runs it takes so long to look that waiting a moment is waiting for nothing.
_MOST_AT_ONCE = 2_000


@dataclass(frozen=True)
class Insight:
    """The diagnosis as page data, the main cause by row as far as rows were looked into, and the slices."""

    told: dict[str, Any]
    causes: tuple[str, ...]
    slices: tuple[tuple[str, tuple[RunSlice, ...]], ...]


class Insights:
    """What was found out about the runs that were looked at last."""

    def __init__(self, most: int, index_of: Callable[[Run], RunIndex]) -> None:
        self._index_of = index_of
        # Apart from each other: all samples of one run must not keep the first ones of another waiting.
        self._soon: Kept[Insight] = Kept(most)
        self._whole: Kept[Insight] = Kept(most)

    def of(self, run: Run) -> Insight | None:
        """What is known by now; None while the first samples are being looked into."""
        rows = run.info["dataset"]["rows"]
        patience_s = PATIENCE_S if rows <= _MOST_AT_ONCE else 0.0
        soon = self._soon.peek(run.id, lambda: self._look_soon(run), patience_s)
        if soon is None or rows <= FIRST_FEW:
            return soon
        return self._whole.peek(run.id, lambda: _insight(run, diagnose(run, texts=False), soon.slices), 0.0) or soon

    def close(self) -> None:
        """Wait for nothing more."""
        self._soon.close()
        self._whole.close()

    def _look_soon(self, run: Run) -> Insight:
        index = self._index_of(run)
        metrics = telling_metrics(index.bounded, _MOST_SLICE_METRICS)
        slices = [
            (column, tuple(slice_run(index.labels(column), column, metrics, index.scores))) for column in index.columns
        ]
        return _insight(run, diagnose(run, FIRST_FEW, texts=False), tuple(slices))


def _insight(run: Run, found: Diagnosis, slices: tuple[tuple[str, tuple[RunSlice, ...]], ...]) -> Insight:
    causes = tuple(outcome.cause.name if outcome.cause else "" for outcome in found.outcomes)
    return Insight(diagnosed(found, run.id), causes, slices)
