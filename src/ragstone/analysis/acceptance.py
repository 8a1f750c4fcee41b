"""Acceptance criteria over a whole run: at most or at least a share of its rows, decided by confidence intervals.

    [accept]
    refunds = "at most 2 % wrong among refunds"
    grounded = 'at least 90 % ragchecker.faithfulness >= 0.8 among slice.language = "de"'

The rows are those that a row filter selects; `wrong`, `fine` and `look` are the status of a row. Rows for which a named
value was not computed do not count, as in means. A row that is not decided (it needs a look, or a score failed) may count
either way: a criterion passes only if it does so with all of these rows against it, and fails only if it does so with all of
them in its favour.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ragstone.analysis.cause_names import CAUSES, Cause, Outcome
from ragstone.analysis.diagnosis import diagnose
from ragstone.analysis.differences import Settings
from ragstone.analysis.gate_conditions import MOST_ROWS, Check, Checked, Kind, decide, more_rows
from ragstone.analysis.gates import Gate
from ragstone.analysis.row_columns import SLICE, RowColumns, RowJudgements
from ragstone.analysis.row_filter import Column, Condition, FilterError, Node, Not, RowFilter, write_name, write_text
from ragstone.analysis.sample_order import measure_quality
from ragstone.errors import UsageError
from ragstone.stats.bootstrap import clustered_interval
from ragstone.stats.intervals import Interval, exact_share_interval
from ragstone.storage.human_labels import answer_labels
from ragstone.storage.runs import Run, read_table
from ragstone.storage.scores import read_labels, read_scores

# A quoted text is passed over as a whole: it may contain the word among.
_FORM = re.compile(
    r"""\s*at\s+(most|least)\s+(\d+(?:\.\d+)?)\s*%\s+
    ((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|[^"'`])+?)(?:\s+among\s+(.+?))?\s*""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_EXAMPLE = "at most 2 % wrong among refunds"
_JUDGED = ("status", "cause", "wrong")
_STATUSES = ("wrong", "fine", "look")
# A text without any of these is a value of the metadata, not a filter.
_OPERATORS = re.compile(r"[=<>()]|\b(?:contains|missing)\b", re.IGNORECASE)
SEEMS = "the status of a row is how it seems to the judge; the judge's mistakes are not in the interval"


@dataclass(frozen=True)
class Criterion:
    """A condition on the share of the rows that a filter selects, of all rows or of those among a group."""

    check: Check
    rows: str
    among: str | None

    @property
    def is_judged(self) -> bool:
        """Whether it is about what the judge finds of rows."""
        return any(condition.name in _JUDGED for condition in _conditions(RowFilter.parse(self.rows).tree))


def read_criteria(table: Any, source: str) -> list[Criterion]:
    """The criteria of the table [accept] of ragstone.toml."""
    if not isinstance(table, Mapping):
        raise UsageError(f"{source}: [accept] must be a table of names and criteria, as in refunds = {_EXAMPLE!r}")
    return [_read(str(name), text, f"{source}: [accept] {name}") for name, text in table.items()]


def _read(name: str, text: Any, where: str) -> Criterion:
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None or float(match[2]) > 100:
        raise UsageError(f"{where}: write it as {_EXAMPLE!r}, got {text!r}")
    what, among = match[3], match[4]
    if what.lower() in _STATUSES:
        what = f"status = {what.lower()}"
    try:
        RowFilter.parse(what)
        if among and _OPERATORS.search(among):
            RowFilter.parse(among)
    except FilterError as error:
        raise UsageError(f"{where}: {error}") from None
    kind: Kind = "max" if match[1].lower() == "most" else "min"
    return Criterion(Check(kind, name, float(match[2]) / 100, words=f"{name}: {' '.join(text.split())}"), what, among)


def statuses_filter(text: str) -> str:
    """The filter of statuses or causes with commas between them, or of `all` rows; other texts are filters already."""
    statuses = (*_STATUSES, "no judgement")
    known = dict.fromkeys(CAUSES, "cause") | dict.fromkeys(statuses, "status")
    words = [word.strip().lower() for word in text.split(",")] if text.strip().lower() != "all" else [*statuses]
    unknown = next((at for at, word in enumerate(words) if word not in known), None)
    if unknown is not None and len(words) > 1 and all(word.replace(" ", "").isalpha() for word in words):
        raise FilterError(f"the statuses are {', '.join(statuses)}", len(",".join(text.split(",")[:unknown])) + 1)
    return text if unknown is not None else " or ".join(f"{known[word]} = {write_text(word)}" for word in words)


def with_acceptance(gate: Gate, run: Run, criteria: Sequence[Criterion], settings: Settings | None = None) -> Gate:
    """The gate with the outcomes of the criteria."""
    if not criteria:
        return gate
    settings, columns = (settings or Settings()).for_run(run), FilterColumns(run)
    conditions = len(criteria) + sum(not item.check.is_count for item in gate.checks)
    checked = [_check(criterion, columns, settings, conditions) for criterion in criteria]
    remarks = (SEEMS,) if any(criterion.is_judged for criterion in criteria) else ()
    return replace(gate, checks=(*gate.checks, *checked), remarks=(*gate.remarks, *remarks))


class FilterColumns:
    """The columns that criteria and filters name; each is read when it is first needed."""

    def __init__(self, run: Run, outcomes: Sequence[Outcome] | None = None) -> None:
        self.run, self.rows, self._known = run, run.info.rows, outcomes

    @cached_property
    def named(self) -> dict[str, Callable[[], Column]]:
        """All columns of row filters."""
        table = read_table(self.run.folder.samples, ["id", "question"])
        scores = read_scores(self.run, [metric.metric for metric in self.run.info.metrics])
        quality = measure_quality(self.run.info.metrics, scores, self.rows)
        columns = RowColumns(self.run, scores, table["id"], table["question"], quality)
        labels = answer_labels(self.run)
        found = columns.judged(RowJudgements(self.rows, labels=labels), slices=True)
        judged = {name: partial(self._judged, name) for name in _JUDGED}
        disagreed = {"disagreed": lambda: RowJudgements(self.rows, self._outcomes, labels).disagreed}
        return {**found, **judged, **disagreed}

    @cached_property
    def _outcomes(self) -> Any:
        return diagnose(self.run, texts=False).outcomes if self._known is None else self._known

    def _judged(self, name: str) -> np.ndarray:
        values = [getattr(outcome, name) for outcome in self._outcomes]
        if name == "wrong":
            return np.array([np.nan if one is None else one for one in values], dtype=float)
        return np.array([one.name if isinstance(one, Cause) else one or None for one in values], dtype=object)

    def select(self, text: str) -> np.ndarray:
        """The rows that a filter selects."""
        return RowFilter.parse(text).rows(self.named, self.rows)

    def select_group(self, text: str | None) -> np.ndarray:
        """The rows of a filter, or of a value that one column of the metadata has."""
        if text is None:
            return np.ones(self.rows, dtype=bool)
        if _OPERATORS.search(text):
            return self.select(text)
        having = [name for name, read in self.named.items() if name.startswith(SLICE) and text in list(read())]
        if len(having) != 1:
            found = f"{' and '.join(having)} have" if having else "no column of the metadata has"
            raise UsageError(
                f"among {text}: {found} this value; write a filter, as in among slice.topic = {write_text(text)}"
            )
        return self.select(f"{write_name(having[0])} = {write_text(text)}")

    def decided(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """The rows that a filter applies to, and those that it decides: of the status, those that are right or wrong."""
        applies, known = np.ones((2, self.rows), dtype=bool)
        for condition in _conditions(RowFilter.parse(text).tree):
            if condition.name in ("status", "cause"):
                words = ("wrong", "fine") if condition.value != "look" else _STATUSES
                known &= np.isin(self.named["status"](), words)
            elif condition.operator != "missing":
                missing = self.select(f"{write_name(condition.name)} is missing")
                known &= ~missing
                applies &= ~missing | self.select("failed > 0")
        return applies, known


def _conditions(node: Node) -> Iterator[Condition]:
    if isinstance(node, Condition):
        yield node
        return
    for part in (node.part,) if isinstance(node, Not) else node.parts:
        yield from _conditions(part)


def _check(criterion: Criterion, columns: FilterColumns, settings: Settings, conditions: int) -> Checked:
    check = criterion.check
    try:
        group = columns.select_group(criterion.among)
        applies, known = columns.decided(criterion.rows)
        group &= applies
        known = known[group]
        found = columns.select(criterion.rows)[group] & known
    except UsageError as error:
        raise UsageError(f"[accept] {check}: {error}") from None
    size, undecided = len(known), int((~known).sum())
    share = float(found.sum() / known.sum()) if known.any() else None
    checked = Checked(check, "cannot tell", "there is no such row", share, None, size)
    if not size:
        return checked
    clusters = read_labels(columns.run, settings.cluster)[group] if settings.cluster else None

    def interval(counted: np.ndarray, level: float) -> Interval | None:
        if clusters is None:
            return exact_share_interval(int(counted.sum()), len(counted), level)
        return clustered_interval(counted.astype(float), clusters, (0.0, 1.0), level)

    def both(level: float) -> Interval | None:
        low, high = interval(found, level), interval(found | ~known, level)
        return Interval(low.low, high.high) if low and high else None

    ends, strict = both(settings.level), both(1 - (1 - settings.level) / conditions)
    if ends is None or strict is None:
        return replace(checked, why="there are fewer than two conversations or groups")
    outcome, why = decide(check, ends), ""
    if outcome == "fails" and decide(check, strict) != "fails":
        outcome, why = "cannot tell", f"not significant after the correction for {conditions} conditions"
    elif outcome == "cannot tell":
        why = _why_undecided(check, found, known, clusters is None, settings.level)
    elif undecided:
        why = f"{undecided} of {size} rows are not decided; it {outcome} with and without them"
    return replace(checked, outcome=outcome, why=why, interval=ends)


def _why_undecided(check: Check, found: np.ndarray, known: np.ndarray, independent: bool, level: float) -> str:
    """The rows that are not decided, if they could decide it; otherwise the number of rows that would."""
    size, undecided = len(known), int((~known).sum())
    least, most = (exact_share_interval(int(rows.sum()), size, level) for rows in (found, found | ~known))
    if undecided and (not known.any() or {decide(check, least), decide(check, most)} != {"cannot tell"}):
        return f"{undecided} of {size} rows are not decided: label them in `ragstone view`, or use a stronger judge"
    if not independent:
        return f"{size} rows are too few"
    share, rows = float(found.sum() / known.sum()), size
    while rows < MOST_ROWS and decide(check, exact_share_interval(round(share * rows), rows, level)) == "cannot tell":
        rows += rows // 10 + 1
    return more_rows(0.0, 0.0, size, min(rows, MOST_ROWS))
