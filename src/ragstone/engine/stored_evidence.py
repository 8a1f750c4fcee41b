"""Reuses the evidence of a stored run: valid for rows whose inputs are the same, out of date for others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.codec import decoder
from ragstone.data.columns import OK, SKIPPED, STATUSES, Rows
from ragstone.data.schema import GIVEN_EVIDENCE
from ragstone.data.signature import Signature
from ragstone.engine.collect import complete
from ragstone.engine.ledger import Absence, Entry, Ledger
from ragstone.engine.plan import EvidenceStep
from ragstone.registry import CATALOGUE, EvidenceSpec
from ragstone.storage.runs import Run, read_table

OUT_OF_DATE = "out of date, rerun with a judge"
NEVER_MADE = "not collected in the run that is rescored, rerun with a judge"


@dataclass
class StoredTool:
    """Replaces a model of a stored run; it only has a signature."""

    name: str
    signature: str


class StoredEvidence:
    """Returns stored evidence for the steps that would call a model."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._samples: pa.Table = run.samples.table
        self._row_of = {name: row for row, name in enumerate(self._samples["id"].to_pylist())}
        self._evidence = cache(lambda piece: read_table(run.folder.evidence(piece)).combine_chunks())

    def covers(self, step: EvidenceStep, tools: Mapping[str, Any]) -> bool:
        """Whether a step would call a model."""
        return step.spec.is_async or any(isinstance(tools.get(need), StoredTool) for need in step.spec.needs)

    def mark_outdated(self, ledger: Ledger) -> None:
        """Give the reason "out of date", not "none", for given evidence that no longer holds."""
        positions = self._positions(ledger)
        for name in GIVEN_EVIDENCE.keys() & set(ledger.batch.schema.names) & set(self._samples.schema.names):
            given = self._samples[name].take(positions).is_valid().to_numpy()
            entry = ledger[name]
            lost = np.flatnonzero(given & ~ledger.has(name)).tolist()
            entry.absent.update(dict.fromkeys(lost, Absence(SKIPPED, OUT_OF_DATE)))

    def recall(self, step: EvidenceStep, ledger: Ledger) -> list[Entry]:
        """The pieces of a step for the rows of a batch."""
        ledger = ledger.seen_by(step.spec)
        needs = [need for need in step.spec.needs if need in ledger]
        rows, absent = ledger.common_rows(needs, step.spec.either, step.pieces)
        return [complete(step, self._piece(piece, step, ledger, rows, absent), ledger) for piece in step.pieces]

    def _piece(
        self, piece: str, step: EvidenceStep, ledger: Ledger, rows: np.ndarray, absent: Mapping[int, Absence]
    ) -> Entry:
        lost = dict(absent)
        if piece not in self._run.info["evidence"]:
            lost.update(dict.fromkeys(rows.tolist(), Absence(SKIPPED, NEVER_MADE)))
            return Entry(piece, rows[:0], Rows([]), lost)
        stored = self._evidence(piece).take(self._positions(ledger))
        status, reasons = stored["status"].to_pylist(), stored["reason"].to_pylist()
        holds = self._unchanged(piece, ledger) & _made_alike(piece, step, stored["signature"])
        for row in rows.tolist():
            if not holds[row]:
                lost[row] = Absence(SKIPPED, OUT_OF_DATE)
            elif status[row] != STATUSES[OK]:
                lost[row] = Absence(STATUSES.index(status[row]), reasons[row])
        kept = rows[[row not in lost for row in rows.tolist()]] if len(rows) else rows
        column = restore_column(step.spec, piece, stored["value"].take(kept).combine_chunks())
        return Entry(piece, kept, column, lost)

    def _unchanged(self, piece: str, ledger: Ledger) -> np.ndarray:
        """The rows in which all inputs of a piece are unchanged."""
        same = np.ones(ledger.size, dtype=bool)
        positions = self._positions(ledger)
        closure = CATALOGUE.closure([piece], replaced=CATALOGUE.replacements())
        for name in {*closure.fields, *(closure.evidence.keys() & GIVEN_EVIDENCE.keys() - {piece})}:
            if name in ledger.batch.schema.names:
                before = (
                    self._samples[name].take(positions).combine_chunks() if name in self._samples.schema.names else None
                )
                now = ledger.batch.column(name)
                if before is None:
                    same &= now.is_null().to_numpy(zero_copy_only=False)
                elif not before.equals(now):
                    same &= [old == new for old, new in zip(before.to_pylist(), now.to_pylist(), strict=True)]
        return same

    def _positions(self, ledger: Ledger) -> pa.Array:
        """The positions of the rows of a batch in the stored run."""
        return pa.array([self._row_of[name] for name in ledger.batch.column("id").to_pylist()])


def _made_alike(piece: str, step: EvidenceStep, signatures: pa.ChunkedArray) -> np.ndarray:
    """The rows whose piece was made as it would be made now.

    A step's signature covers all its pieces; only what belongs to this one counts, since another run may have wanted others.
    """
    specs = CATALOGUE.closure([piece], replaced=CATALOGUE.replacements()).evidence.values()
    names = {name for spec in specs for name in (*spec.needs, *spec.prompts)}
    stamps = {spec.stamp for spec in specs}
    wanted = _made_by(Signature.parse(step.signature), stamps, names)
    alike = {text: wanted <= _made_by(Signature.parse(text), stamps, names) for text in signatures.unique().to_pylist()}
    return np.array([alike[text] for text in signatures.to_pylist()], dtype=bool)


def _made_by(signature: Signature, stamps: set[str], names: set[str]) -> set[tuple[str, str]]:
    """The evidence functions, tools and prompts of a signature that are among these."""
    named = [*((name, str(tool)) for name, tool in signature.tools.items()), *signature.prompts]
    return {(stamp, "") for stamp in signature.evidence if stamp in stamps} | {
        pair for pair in named if pair[0] in names
    }


def restore_column(spec: EvidenceSpec, piece: str, stored: pa.Array) -> Any:
    """Stored values as the column that the evidence function declares.

    Without a declared column class, numbers of a columnar function become a NumPy array and all else Python values.
    """
    if column_type := spec.column_type(piece):
        return column_type.from_arrow(stored)
    if spec.columnar and pa.types.is_primitive(stored.type):
        return stored.to_numpy(zero_copy_only=False)
    convert = decoder(spec.annotation_of(piece))
    values = stored.to_pylist()
    return Rows([convert(value) for value in values] if convert else values)
