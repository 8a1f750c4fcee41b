"""The results of a batch as the Arrow tables that are stored."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ragstone.data.codec import canonical_json
from ragstone.data.columns import OK, STATUSES, Cells
from ragstone.data.schema import CALLS, SCORES, evidence_schema
from ragstone.engine.batches import BatchResult
from ragstone.engine.ledger import Entry
from ragstone.engine.planning import EvidenceStep, Plan
from ragstone.llm.recording import Call


def scores_table(plan: Plan, result: BatchResult) -> pa.Table:
    """All cells of a batch, metric by metric."""
    ids = result.batch.column("id")
    tables = []
    for step in plan.metrics:
        cells = result.cells[step.name]
        columns = [
            ids,
            _repeated(step.name, len(cells)),
            pa.array(cells.values, mask=cells.status != OK),
            _status(cells.status),
            _reasons(cells),
            _repeated(step.signature, len(cells)),
        ]
        tables.append(pa.Table.from_arrays(columns, schema=SCORES))
    return pa.concat_tables(tables).unify_dictionaries() if tables else SCORES.empty_table()


def evidence_tables(plan: Plan, result: BatchResult) -> dict[str, pa.Table]:
    """The evidence that is kept, a table a kind, with the hash of what each row was made from."""
    tables = {}
    hashes: dict[tuple[str, ...], list[str]] = {}
    for step in plan.evidence:
        if step.spec.transient:
            continue
        # Several kinds of evidence often rest on the same fields.
        if step.fields not in hashes:
            hashes[step.fields] = _hash_inputs(step, result.batch)
        inputs = hashes[step.fields]
        for piece in step.pieces:
            tables[piece] = _evidence_table(step, result.evidence[piece], result.batch.column("id"), inputs)
    return tables


def calls_table(calls: Sequence[Call]) -> pa.Table:
    """Every call that was made for a batch, in the order in which they ended."""
    columns = {name: [getattr(call, name) for call in calls] for name in CALLS.names}
    return pa.Table.from_pydict(columns, schema=CALLS)


def _evidence_table(step: EvidenceStep, entry: Entry, ids: pa.Array, inputs: Sequence[str]) -> pa.Table:
    assert entry.stored is not None  # noqa: S101  (for the type checker: what is kept was made ready for it)
    positions = np.full(len(ids), -1)
    positions[entry.rows] = np.arange(len(entry.rows))
    values = entry.stored.take(pa.array(positions, mask=positions < 0))
    cells = Cells.all_ok(np.zeros(len(ids)))
    for row, (status, reason) in entry.absent.items():
        cells.fail(row, reason, status)
    columns = [
        ids,
        values,
        _status(cells.status),
        _reasons(cells),
        pa.array(inputs),
        _repeated(step.signature, len(ids)),
    ]
    return pa.Table.from_arrays(columns, schema=evidence_schema(values.type))


def _hash_inputs(step: EvidenceStep, batch: pa.RecordBatch) -> list[str]:
    """A hash of the fields that a row's evidence rests on: it tells later whether the evidence is still true."""
    columns = [batch.column(name).to_pylist() for name in step.fields]
    rows = zip(*columns, strict=True) if columns else [()] * batch.num_rows
    return [hashlib.blake2b(canonical_json(list(values)).encode(), digest_size=8).hexdigest() for values in rows]


def _repeated(word: str, times: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(times, dtype=np.int32)), pa.array([word]))


def _status(status: np.ndarray) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(status.astype(np.int32)), pa.array(STATUSES))


def _reasons(cells: Cells) -> pa.DictionaryArray:
    words = list(dict.fromkeys(cells.reasons.values()))
    number = {word: position for position, word in enumerate(words)}
    codes = np.full(len(cells), -1, dtype=np.int32)
    for row, reason in cells.reasons.items():
        codes[row] = number[reason]
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(words, type=pa.string()))
