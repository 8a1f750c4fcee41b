"""The table of pairs of a comparison: gains and causes of every pair, and the table's state in the address."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from ragstone.analysis.cause_texts import RowLabel
from ragstone.analysis.comparison import Comparison, Gains
from ragstone.analysis.differences import is_of_all_rows
from ragstone.analysis.row_moves import MOVES, kind_of_move, wrong_in_both
from ragstone.views.moved_rows import Judged
from ragstone.web.navigation import whole_number
from ragstone.web.run_index import PAGE_SIZES, RunIndex

LOSSES, GAINS, ROW = "losses", "gains", "row"
DIRECTIONS = ("worse", "better", "unchanged")
_MAX_QUERY = 200
_MAX_SLICE = 1_000
_SIZE = 25
_NAMES = {"query": "q"}


@dataclass(frozen=True)
class PairState:
    """Sort order, filters and page of the table of pairs. It is stored in the address."""

    query: str = ""
    # Main causes in A and B.
    was: str = ""
    now: str = ""
    # One of MOVES.
    move: str = ""
    # Column and label, for example `kind=two steps`.
    slice: str = ""
    # The metric whose change is shown; empty for the mean gain over all metrics.
    metric: str = ""
    change: str = ""
    sort: str = LOSSES
    page: int = 1
    size: int = _SIZE
    # The family of metrics that is shown; empty for the headline metrics.
    family: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str], metrics: Collection[str]) -> PairState:
        """Read the state from a query; invalid values are replaced by the defaults."""
        size, sort = whole_number(query.get("size")), query.get("sort", query.get("show", LOSSES))
        return cls(
            query=query.get("q", "").strip()[:_MAX_QUERY],
            was=query.get("was", "")[:_MAX_QUERY],
            now=query.get("now", "")[:_MAX_QUERY],
            move=move if (move := query.get("move", "")) in MOVES else "",
            slice=query.get("slice", "")[:_MAX_SLICE],
            metric=metric if (metric := query.get("metric", "")) in metrics else "",
            change=change if (change := query.get("change", "")) in DIRECTIONS else "",
            family=query.get("family", "")[:_MAX_QUERY],
            sort=sort if sort in (LOSSES, GAINS, ROW) else LOSSES,
            page=max(1, whole_number(query.get("page")) or 1),
            size=size if size in PAGE_SIZES else _SIZE,
        )

    def but(self, **changes: Any) -> PairState:
        """Return a changed copy; it starts at the first page unless `page` is given."""
        return replace(self, **({"page": 1} | changes))

    @property
    def address(self) -> str:
        """The state as a query string, without default values."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        changed = [
            (_NAMES.get(item.name, item.name), values[item.name])
            for item in fields(self)
            if values[item.name] != item.default
        ]
        return f"?{urlencode(changed)}" if changed else ""


@dataclass(frozen=True)
class PairIndex:
    """All pairs of a comparison with their gains. A position is an index into `comparison.pairs`."""

    comparison: Comparison
    before: RunIndex
    after: RunIndex
    gains: Gains

    @classmethod
    def make(cls, comparison: Comparison, before: RunIndex, after: RunIndex) -> PairIndex:
        """Compute the gains of the compared metrics that are means over rows."""
        pairs, compared = comparison.pairs, {item.metric for item in comparison.metrics}
        metrics = [
            metric
            for metric in before.run.info.metrics
            if metric.metric in compared and not is_of_all_rows(metric.metric, before.run, before.scores[metric.metric])
        ]
        names = [metric.metric for metric in metrics]
        old = {name: before.scores[name].take(pairs.before) for name in names}
        new = {name: after.scores[name].take(pairs.after) for name in names}
        return cls(comparison, before, after, Gains.measure(metrics, old, new, len(pairs)))

    @property
    def metrics(self) -> list[str]:
        """The metrics with gains."""
        return [metric.metric for metric in self.gains.metrics]

    def gain(self, metric: str) -> np.ndarray:
        """Return the gain of each pair in a metric, or the mean gain; nan if the metric has no value in a run."""
        if not metric:
            return self.gains.mean
        column: np.ndarray = self.gains.each[:, self.metrics.index(metric)]
        return column

    def rows(self, position: int) -> tuple[int, int]:
        """Return the rows of a pair in A and B, from 0."""
        pairs = self.comparison.pairs
        return int(pairs.before[position]), int(pairs.after[position])

    def causes(self, position: int, judged: Judged) -> list[RowLabel | None]:
        """Return the main causes of a pair in A and B; None if a sample is not diagnosed yet."""
        return [
            known[row] if row < len(known) else None for known, row in zip(judged, self.rows(position), strict=True)
        ]

    def wrong(self, position: int, judged: Judged) -> list[float | None]:
        """Return the probabilities that the samples of a pair are wrong; None without a judgement."""
        old, new = self.causes(position, judged)
        if old is not None and new is not None:
            return [*wrong_in_both(old, new)]
        return [None if one is None else one.wrong for one in (old, new)]

    def move(self, position: int, judged: Judged) -> str:
        """Return whether the row of a pair is fixed, newly failing, still failing or unclear; empty for other rows."""
        was, now = self.wrong(position, judged)
        return "" if was is None or now is None else kind_of_move(was, now) or ""

    def order(self, state: PairState, judged: Judged) -> np.ndarray:
        """Return the positions of the matching pairs in table order."""
        gain = self.gain(state.metric)
        if state.sort == ROW:
            order = np.argsort(self.comparison.pairs.after, kind="stable")
        else:
            order = np.argsort(-gain if state.sort == GAINS else gain, kind="stable")
        matching: np.ndarray = order[self.matches(state, judged)[order]]
        return matching

    def matches(self, state: PairState, judged: Judged) -> np.ndarray:
        """Mark the pairs that pass all filters."""
        pairs = self.comparison.pairs
        matches = np.ones(len(pairs), dtype=bool)
        if state.change:
            gain = self.gain(state.metric)
            matches &= {"worse": gain < 0, "better": gain > 0, "unchanged": gain == 0}[state.change]
        sides = ((self.before, pairs.before), (self.after, pairs.after))
        for (index, rows), wanted, known in zip(sides, (state.was, state.now), judged, strict=True):
            if wanted:
                matches &= index.has_cause(wanted, known or None)[rows]
        if state.move:
            matches &= np.array(
                [self.move(position, judged) == state.move for position in range(len(pairs))], dtype=bool
            )
        if state.slice:
            matches &= self.after.in_slice(state.slice)[pairs.after]
        for word in state.query.split():
            matches &= self.before.contains(word)[pairs.before] | self.after.contains(word)[pairs.after]
        return matches
