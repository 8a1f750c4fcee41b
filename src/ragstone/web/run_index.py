"""The table of samples of a run: its columns in memory, and its state in the address (sort order, filters, page)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any
from urllib.parse import quote_plus, urlencode

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.analysis.cause_names import OLD_NAMES
from ragstone.analysis.cause_texts import NOT_EXAMINED
from ragstone.analysis.row_columns import SLICE, RowColumns, RowJudgements
from ragstone.analysis.row_filter import MAX_LENGTH, FilterError, RowFilter, with_ranges
from ragstone.analysis.sample_order import measure_quality
from ragstone.analysis.slices import find_columns
from ragstone.report.html.run_page import measure_spreads
from ragstone.storage.run_info import MetricInfo
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import FAILED, OK, SKIPPED, Scores, read_scores, unless_nan
from ragstone.web.navigation import whole_number

WORST = "worst"
PLAIN_SORTS = (WORST, "quality", "row")
ANY_FAULT, NO_FAULT = "any fault", "no fault"
ROW_STATUSES = ("wrong", "look", "fine", "no judgement")
_NOT_FAULTS = frozenset(("", NOT_EXAMINED))
STATUSES = ("failed", "skipped", "complete")
PAGE_SIZES = (25, 50, 100, 200)
_MAX_QUERY = 200
_MAX_SLICE = 1_000
_MAX_QUESTION = 300


@dataclass(frozen=True)
class TableState:
    """Sort order, filters and page of a table. It is stored in the address, so a link shows the same view to everyone."""

    query: str = ""
    status: str = ""
    cause: str = ""
    # Column and label, for example `kind=two steps`.
    slice: str = ""
    # A row filter, for example `unsure > 0 and faithfulness < .5`.
    where: str = ""
    # The columns of the scatter plot.
    x: str = ""
    y: str = ""
    sort: str = WORST
    descending: bool = False
    columns: tuple[str, ...] = ()
    page: int = 1
    size: int = 50

    @classmethod
    def read(cls, query: Mapping[str, str], columns: Sequence[str], known: Collection[str]) -> TableState:
        """Read the state from a query; invalid values are replaced by the defaults."""
        sort = query.get("sort", WORST)
        size = whole_number(query.get("size"))
        return cls(
            query=query.get("q", "").strip()[:_MAX_QUERY],
            status=status if (status := query.get("status", "")) in STATUSES else "",
            cause=OLD_NAMES.get(cause := query.get("cause", "")[:_MAX_QUERY], cause),
            slice=query.get("slice", "")[:_MAX_SLICE],
            where=query.get("where", "").strip()[: MAX_LENGTH + 1],
            x=query.get("x", "")[:_MAX_QUERY],
            y=query.get("y", "")[:_MAX_QUERY],
            sort=sort if sort in known or sort in PLAIN_SORTS else WORST,
            descending=query.get("dir") == "down",
            columns=tuple(dict.fromkeys(name for name in columns if name in known)),
            page=max(1, whole_number(query.get("page")) or 1),
            size=size if size in PAGE_SIZES else 50,
        )

    def but(self, **changes: Any) -> TableState:
        """Return a changed copy; it starts at the first page unless `page` is given."""
        return replace(self, **({"page": 1} | changes))

    def sorted_by(self, name: str, best_is_high: bool = True) -> TableState:
        """Return the state sorted by a column, worst first; if it is the current column, the order is reversed."""
        if self.sort == name:
            return self.but(descending=not self.descending)
        return self.but(sort=name, descending=not best_is_high)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The state as names and values of a query, without default values."""
        names = {"query": "q", "columns": "col"}
        pairs: list[tuple[str, str]] = []
        for item in fields(self):
            value = getattr(self, item.name)
            if value == item.default:
                continue
            if item.name == "descending":
                pairs.append(("dir", "down"))
            elif isinstance(value, tuple):
                pairs += [("col", name) for name in value]
            else:
                pairs.append((names.get(item.name, item.name), str(value)))
        return pairs

    @property
    def address(self) -> str:
        """The state as a query string, without default values."""
        return f"?{urlencode(self.pairs)}" if self.pairs else ""


def range_start(state: TableState, *columns: str) -> str:
    """Return the beginning of an address that ends in ranges of these columns; other terms of the row filter are kept."""
    base, kept = state.but(where="").address, with_ranges(state.where, dict.fromkeys(columns, (None, None)))
    return f"{base}{'&' if base else '?'}where={quote_plus(f'{kept} and ' if kept else '')}"


@dataclass(frozen=True)
class RunIndex:
    """The columns of a run: one array of scores per metric, ids, questions and quality."""

    run: Run
    metrics: Sequence[MetricInfo]
    scores: Mapping[str, Scores]
    ids: pa.ChunkedArray
    questions: pa.ChunkedArray
    quality: np.ndarray

    @classmethod
    def read(cls, run: Run) -> RunIndex:
        """Read the columns of a run."""
        metrics = run.info["metrics"]
        scores = read_scores(run, [metric["metric"] for metric in metrics])
        table = read_table(run.folder.samples, ["id", "question"])
        quality = measure_quality(metrics, scores, table.num_rows)
        return cls(run, metrics, scores, table["id"], table["question"], quality)

    @cached_property
    def spreads(self) -> dict[str, dict[str, Any]]:
        """The histogram of each metric."""
        return measure_spreads(self.metrics, self.scores)

    def mean(self, metric: str) -> float | None:
        """Return the mean of a metric over the samples that have a score."""
        return self._means.get(metric)

    @cached_property
    def _means(self) -> dict[str, float]:
        known = {name: column.values[column.states == OK] for name, column in self.scores.items()}
        return {name: float(values.mean()) for name, values in known.items() if len(values)}

    @cached_property
    def columns(self) -> list[str]:
        """The metadata columns that define slices."""
        return find_columns(self.run)

    @cached_property
    def named(self) -> RowColumns:
        """The columns that a row filter can name."""
        return RowColumns(self.run, self.scores, self.ids, self.questions, self.quality)

    @cached_property
    def _worst_states(self) -> np.ndarray:
        """FAILED if any score of the row failed, otherwise SKIPPED if any was skipped, otherwise OK."""
        worst = np.full(len(self.ids), OK, dtype=np.int8)
        for wanted in (SKIPPED, FAILED):
            for column in self.scores.values():
                worst[column.states == wanted] = wanted
        return worst

    def select(self, state: TableState, known: RowJudgements) -> tuple[np.ndarray, FilterError | None]:
        """Return the matching rows in table order, and the mistake in the row filter, which is then not applied."""
        matches, problem = self._matches(state, known), None
        try:
            if state.where:
                columns = self.named.judged(known, slices=SLICE in state.where)
                matches &= RowFilter.parse(state.where).rows(columns, len(self.ids))
        except FilterError as error:
            problem = error
        rows = self._sorted(state, known.causes)
        return rows[matches[rows]], problem

    def _sorted(self, state: TableState, causes: Sequence[str] | None) -> np.ndarray:
        if state.sort == WORST:
            return self._worst_first(causes or ())
        if state.sort == "row":
            rows = np.arange(len(self.ids))
            return rows[::-1] if state.descending else rows
        values = self.quality if state.sort == "quality" else self.scores[state.sort].values
        # argsort puts NaN last in both directions.
        return np.argsort(-values if state.descending else values, kind="stable")

    def _worst_first(self, causes: Sequence[str]) -> np.ndarray:
        """The most probably wrong first, then the others by ascending quality, rows without scores last."""
        wrong = np.zeros(len(self.ids))
        for row, cause in enumerate(causes):
            if cause not in _NOT_FAULTS:
                known = getattr(cause, "wrong", None)
                wrong[row] = 1.0 if known is None else known
        return np.lexsort((np.nan_to_num(self.quality, nan=2.0), -wrong))

    def _matches(self, state: TableState, known: RowJudgements) -> np.ndarray:
        matches = np.ones(len(self.ids), dtype=bool)
        if state.status:
            matches &= self._worst_states == {"failed": FAILED, "skipped": SKIPPED, "complete": OK}[state.status]
        if state.cause:
            matches &= self.has_cause(state.cause, known.causes)
        if state.slice:
            matches &= self.in_slice(state.slice)
        for word in state.query.split():
            matches &= self.contains(word)
        return matches

    def has_cause(self, wanted: str, causes: Sequence[str] | None) -> np.ndarray:
        """Mark the rows with a main cause or a status, with any cause ("any fault") or without one ("no fault")."""
        known = [*(causes or ()), *([None] * (len(self.ids) - len(causes or ())))]
        if wanted in ROW_STATUSES:
            return np.array([getattr(cause, "status", "") == wanted for cause in known], dtype=bool)
        names = {ANY_FAULT: set(causes or ()) - _NOT_FAULTS, NO_FAULT: {""}}.get(wanted, {wanted})
        return np.array([cause in names for cause in known], dtype=bool)

    def in_slice(self, wanted: str) -> np.ndarray:
        """Mark the rows of a slice, such as `kind=two steps`."""
        # A column name may contain "=": the longest matching name wins.
        columns = [column for column in self.columns if wanted.startswith(f"{column}=")]
        if not columns:
            return np.zeros(len(self.ids), dtype=bool)
        column = max(columns, key=len)
        label = wanted.removeprefix(f"{column}=")
        # Compared in Python: numpy strips trailing zero bytes from strings.
        return np.array([other == label for other in self.named.labels(column)], dtype=bool)

    def contains(self, word: str) -> np.ndarray:
        """Mark the rows with a word in id, question or answer."""
        rows = np.zeros(len(self.ids), dtype=bool)
        for column in (self.ids, self.questions, self.named.answers):
            matches = pc.fill_null(pc.match_substring(column, word, ignore_case=True), fill_value=False)
            rows |= matches.to_numpy().astype(bool)
        return rows

    def question(self, row: int) -> str:
        """Return the beginning of a question."""
        return str(self.questions[row].as_py() or "")[:_MAX_QUESTION]

    def value(self, metric: str, row: int) -> float | None:
        """Return one score."""
        return unless_nan(self.scores[metric].values[row])
