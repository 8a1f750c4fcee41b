"""Collects the evidence of one step for a batch.

The function of the step is called, its return value is split into pieces, and each piece is checked against its declared type.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.codec import arrow_type, encoder
from ragstone.data.columns import FAILED, SKIPPED, Column, Rows
from ragstone.data.types import Gaps
from ragstone.engine.function_calls import (
    CallRecorder,
    CallResult,
    Refused,
    call_async,
    call_columnar,
    call_plain,
    explain,
)
from ragstone.engine.ledger import Absence, Entry, Ledger
from ragstone.engine.plan import EvidenceStep
from ragstone.errors import Skip
from ragstone.registry.specs import WANTED, EvidenceSpec
from ragstone.tools.protocols import Tool


async def collect(
    step: EvidenceStep, ledger: Ledger, tools: Mapping[str, Tool], gate: asyncio.Semaphore, recorder: CallRecorder
) -> list[Entry]:
    """The pieces of evidence of a step. The function is not called for rows in which the data has all pieces."""
    spec, ledger = step.spec, ledger.seen_by(step.spec, tools)
    extra: dict[str, Any] = {need: tools[need] for need in spec.needs if need in tools and need not in ledger}
    extra |= {need: None for own in spec.piece_needs.values() for need in own if need not in spec.needs}
    if spec.wants_pieces:
        extra[WANTED] = frozenset(step.pieces)
    if spec.columnar:

        def check(value: Any, size: int) -> dict[str, Any]:
            return {piece: _check_column(piece, column, size) for piece, column in _split(step, value).items()}

        outcome = call_columnar(spec, ledger, extra, check, _join, step.pieces)
        columns: Mapping[str, Any] = outcome.results
    else:
        if spec.is_async:
            outcome = await call_async(spec, ledger, extra, partial(_split, step), gate, recorder, step.pieces)
        else:
            outcome = call_plain(spec, ledger, extra, partial(_split, step), step.pieces)
        columns = {piece: Rows([result[piece] for result in outcome.results]) for piece in step.pieces}
    return [complete(step, _entry(piece, outcome, columns.get(piece, Rows([]))), ledger) for piece in step.pieces]


def complete(step: EvidenceStep, entry: Entry, ledger: Ledger) -> Entry:
    """The entry for the ledger: without rows that lack what only this piece needs, with the values of the data."""
    lost: dict[int, Absence] = {}
    for need in step.spec.piece_needs.get(entry.name, ()):
        lost = {**ledger[need].absent, **lost}
    entry = entry.without(lost)
    if entry.name in ledger:
        # The values of the data replace computed ones.
        given = ledger[entry.name]
        values = dict(zip(entry.rows.tolist(), entry.column, strict=True))
        values |= dict(zip(given.rows.tolist(), given.values_of(given.rows), strict=True))
        rows = sorted(values)
        absent = {row: absence for row, absence in entry.absent.items() if row not in values}
        entry = Entry(entry.name, np.array(rows, dtype=np.int64), Rows([values[row] for row in rows]), absent)
    return entry if step.spec.transient else _check_type(entry, step.spec)


def _split(step: EvidenceStep, value: Any) -> dict[str, Any]:
    """The pieces of a return value."""
    name = step.spec.name
    if step.spec.yields == (name,):
        return {name: value}
    if not isinstance(value, Mapping):
        raise Refused(
            f"evidence '{name}' must return a mapping of {', '.join(step.pieces)}, got {type(value).__name__}"
        )
    for piece in step.pieces:
        if piece not in value:
            raise Refused(f"evidence '{name}' returned no '{piece}'")
    return {piece: value[piece] for piece in step.pieces}


def _check_column(piece: str, value: Any, size: int) -> Any:
    if isinstance(value, Gaps):
        return Gaps(_check_column(piece, value.column, size), value.reasons)
    if isinstance(value, list | tuple):
        value = Rows(value)
    elif isinstance(value, pa.ChunkedArray):
        value = value.combine_chunks()
    if not isinstance(value, Column):
        raise Refused(f"evidence '{piece}' must return a column, got {type(value).__name__}")
    if len(value) != size:
        raise Refused(f"evidence '{piece}' gave {len(value)} values for {size} row{'s' if size != 1 else ''}")
    return value


def _join(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Row-by-row results of a columnar function as columns of the type that the function returns."""
    pieces: dict[str, Any] = {}
    for piece in results[0] if results else ():
        columns, reasons = [], {}
        for row, result in enumerate(results):
            column = result[piece]
            if isinstance(column, Gaps):
                if column.reasons:
                    reasons[row] = column.reasons[0]
                column = column.column
            columns.append(column)
        if isinstance(columns[0], np.ndarray):
            joined: Any = np.concatenate(columns)
        elif isinstance(columns[0], pa.Array):
            joined = pa.concat_arrays(columns)
        elif hasattr(columns[0], "concat"):
            joined = columns[0].concat(columns)
        else:
            joined = Rows([value for column in columns for value in column])
        pieces[piece] = Gaps(joined, reasons)
    return pieces


def _entry(piece: str, outcome: CallResult, column: Any) -> Entry:
    absent: dict[int, str] = {}
    if isinstance(column, Gaps):
        absent = {int(outcome.rows[position]): reason for position, reason in column.reasons.items()}
        column = column.column
    if isinstance(column, Rows):
        nothing = f"no {piece.replace('_', ' ')}"
        for row, value in zip(outcome.rows.tolist(), column, strict=True):
            if value is None or isinstance(value, Skip):
                absent.setdefault(row, str(value or nothing))
    entry = Entry(piece, outcome.rows, column, dict(outcome.absent))
    return entry.without({row: Absence(SKIPPED, reason) for row, reason in absent.items()})


def _check_type(entry: Entry, spec: EvidenceSpec) -> Entry:
    """The entry with its values as Arrow. A row whose value is not of the declared type fails."""
    column_type, annotation = spec.column_type(entry.name), spec.annotation_of(entry.name)
    if column_type is not None and isinstance(entry.column, column_type):
        entry.stored = entry.column.to_arrow()
        return entry
    kind, encode = arrow_type(annotation), encoder(annotation)

    def store(values: Any) -> pa.Array:
        encoded = [encode(value) for value in values] if encode else list(values)
        if pa.types.is_list(kind) and any(_is_text_for_list(value, kind) for value in encoded):
            raise TypeError("a text where there must be a list")
        return pa.array(encoded, type=kind)

    try:
        entry.stored = store(entry.column)
    except Exception:  # noqa: BLE001  (a user's value may raise any exception)
        wrong: dict[int, Absence] = {}
        for row, value in zip(entry.rows.tolist(), entry.column, strict=True):
            try:
                store([value])
            except Exception as error:  # noqa: BLE001
                problem = f"evidence '{entry.name}' is not what it declares, {kind}: {explain(error).reason}"
                wrong[row] = Absence(FAILED, problem)
        entry = entry.without(wrong)
        entry.stored = store(entry.column)
    return entry


def _is_text_for_list(value: Any, kind: pa.DataType) -> bool:
    """Whether a text is in the place of a list: Arrow would read it as a list of its letters."""
    if not pa.types.is_list(kind):
        return False
    return isinstance(value, str | bytes) or (
        pa.types.is_list(kind.value_type) and any(_is_text_for_list(item, kind.value_type) for item in value)
    )
