"""Calls functions of three shapes (plain, columnar, async) for the rows that have their needs.

An exception fails only its row: it becomes an absence with a reason. `CallRecorder` records the model calls of each row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ragstone.data.columns import FAILED, SKIPPED, Cells
from ragstone.engine.ledger import Absence, Ledger
from ragstone.engine.progress import Meter
from ragstone.errors import Skip, StopRunError
from ragstone.llm.base import LLMError
from ragstone.llm.cascade_tally import Tally, tally_into
from ragstone.llm.concurrency import gather_or_cancel
from ragstone.llm.wrappers import Call, record_calls
from ragstone.registry.specs import FunctionSpec


class _Calls(list[Call]):
    """Calls; `told` is called after each one that was made."""

    told: Callable[[], None] = staticmethod(lambda: None)

    def append(self, call: Call) -> None:
        super().append(call)
        if call.is_made:
            self.told()


class CallRecorder:
    """Records the calls made for the rows of a batch."""

    def __init__(self, ids: Sequence[object], meter: Meter | None = None) -> None:
        self._ids = ids
        self._tick = meter.tick if meter else lambda: None
        self.calls = _Calls()
        if meter:
            self.calls.told = meter.count_call
        self.tally = Tally()

    @contextmanager
    def row(self, number: int, evidence: str) -> Iterator[None]:
        """Record the calls for one row's evidence."""
        try:
            with record_calls(self.calls, str(self._ids[number]), evidence), tally_into(self.tally):
                yield
        finally:  # a failed row counts, too
            self._tick()


_LONGEST_REASON = 300
# An exception of a user's function fails its cell; so does SystemExit.
_RAISED = (Exception, SystemExit)


class Refused(Exception):  # noqa: N818  (caught here, becomes the reason of a failed cell)
    """The return value of a function cannot be used; the text gives the reason."""


class CallResult(NamedTuple):
    """The results of a function for some rows, and the absences of the others."""

    rows: np.ndarray
    results: Any
    absent: dict[int, Absence]


def call_plain(
    spec: FunctionSpec,
    ledger: Ledger,
    extra: Mapping[str, Any],
    check: Callable[[Any], Any],
    pieces: Sequence[str] = (),
) -> CallResult:
    """One row after the other, without the rows that have all `pieces`; `check` turns return values into results."""
    needs, rows, absent = _prepare(spec, ledger, extra, pieces)
    function = partial(spec.function, **extra)
    results: list[Any] = []
    for row, values in zip(rows.tolist(), _row_values(spec, needs, ledger, rows), strict=True):
        try:
            results.append(check(function(**dict(zip(needs, values, strict=True)))))
        except _RAISED as error:
            absent[row] = explain(error)
    return CallResult(_without(rows, absent), results, absent)


async def call_async(
    spec: FunctionSpec,
    ledger: Ledger,
    extra: Mapping[str, Any],
    check: Callable[[Any], Any],
    gate: asyncio.Semaphore,
    recorder: CallRecorder,
    pieces: Sequence[str] = (),
) -> CallResult:
    """All rows concurrently, limited by the gate; results as those of `call_plain`."""
    needs, rows, absent = _prepare(spec, ledger, extra, pieces)
    function = partial(spec.function, **extra)

    async def one(row: int, values: Sequence[Any]) -> Any:
        async with gate:
            try:
                with recorder.row(row, spec.name):
                    return check(await function(**dict(zip(needs, values, strict=True))))
            except StopRunError:
                raise  # it stops the run
            except asyncio.CancelledError as error:
                task = asyncio.current_task()
                if task is None or task.cancelling():
                    raise
                absent[row] = explain(error)  # the function cancelled itself
            except _RAISED as error:
                absent[row] = explain(error)

    inputs = _row_values(spec, needs, ledger, rows)
    answers = await gather_or_cancel(one(row, values) for row, values in zip(rows.tolist(), inputs, strict=True))
    results = [answer for row, answer in zip(rows.tolist(), answers, strict=True) if row not in absent]
    return CallResult(_without(rows, absent), results, absent)


def call_columnar(
    spec: FunctionSpec,
    ledger: Ledger,
    extra: Mapping[str, Any],
    check: Callable[[Any, int], Any],
    join: Callable[[Sequence[Any]], Any],
    pieces: Sequence[str] = (),
) -> CallResult:
    """Whole columns at once. If that fails, row by row, so that only the rows that raise fail.

    `check` turns what the function returned into a result for that many rows, `join` makes one result of many.
    """
    needs, rows, absent = _prepare(spec, ledger, extra, pieces)
    function = partial(spec.function, **extra)

    def call(chosen: np.ndarray) -> Any:
        columns = {
            need: ledger.some_of(need, chosen) if need in spec.either else ledger[need].column_of(chosen)
            for need in needs
        }
        return check(function(**columns), len(chosen))

    try:
        return CallResult(rows, call(rows) if len(rows) else join([]), absent)
    except _RAISED as error:
        if len(rows) == 1:
            absent[int(rows[0])] = explain(error)
            return CallResult(rows[:0], join([]), absent)
    results = []
    for row in rows:
        try:
            results.append(call(np.array([row])))
        except _RAISED as error:
            absent[int(row)] = explain(error)
    return CallResult(_without(rows, absent), join(results), absent)


def explain(error: BaseException) -> Absence:
    """The absence for an exception: skipped for `Skip`, failed otherwise. The reason is one line of printable text."""
    try:
        words = " ".join(str(error).split())
    except Exception:  # noqa: BLE001  (an exception that cannot be printed has only its name)
        words = ""
    text = "".join(character if character.isprintable() else "�" for character in words[: _LONGEST_REASON + 1])
    if len(text) > _LONGEST_REASON:
        text = f"{text[:_LONGEST_REASON]}…"
    if isinstance(error, Skip):
        return Absence(SKIPPED, text or "the function gave no reason")
    if isinstance(error, Refused | LLMError):
        return Absence(FAILED, text)
    return Absence(FAILED, f"{type(error).__name__}: {text}" if text else type(error).__name__)


def absent_cells(size: int, absent: Mapping[int, Absence]) -> Cells:
    """Cells of a batch with its absences filled in."""
    cells = Cells.all_ok(np.zeros(size))
    for row, (status, reason) in absent.items():
        cells.fail(row, reason, status)
    return cells


def _prepare(
    spec: FunctionSpec, ledger: Ledger, extra: Mapping[str, Any], pieces: Sequence[str]
) -> tuple[list[str], np.ndarray, dict[int, Absence]]:
    needs = [need for need in spec.needs if need not in extra]
    return needs, *ledger.common_rows([need for need in needs if need not in spec.optional], spec.either, pieces)


def _row_values(spec: FunctionSpec, needs: Sequence[str], ledger: Ledger, rows: np.ndarray) -> Any:
    if not needs:
        return [()] * len(rows)
    absent_ok = {*spec.either, *spec.optional}
    columns = [
        ledger.values_or_none(need, rows) if need in absent_ok else ledger[need].values_of(rows) for need in needs
    ]
    return zip(*columns, strict=True)


def _without(rows: np.ndarray, absent: Mapping[int, Absence]) -> np.ndarray:
    return rows if not absent else rows[[row not in absent for row in rows.tolist()]] if len(rows) else rows
