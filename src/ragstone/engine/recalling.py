"""Evidence of a stored run where nobody may be asked again: still true for rows whose inputs are the same, out of date for others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from ragstone.data.codec import decoder
from ragstone.data.columns import OK, SKIPPED, STATUSES, Rows
from ragstone.data.places import Places
from ragstone.data.schema import FIELDS, GIVEN_EVIDENCE
from ragstone.data.types import FactMatch
from ragstone.engine.collecting import hold_to_type, lacking_rows, with_given, without_own_needs
from ragstone.engine.ledger import Absence, Entry, Ledger
from ragstone.engine.planning import EvidenceStep, Tool
from ragstone.registry import CATALOGUE, EvidenceSpec
from ragstone.storage.runs import Run, read_table
from ragstone.text.matchers import MATCHERS, make_matcher

OUT_OF_DATE = "out of date, rerun with a judge"
NEVER_MADE = "not collected in the run that is rescored, rerun with a judge"


class StoredTool:
    """Stands for a model that was asked in a stored run, and is not asked now."""

    def __init__(self, name: str, signature: str) -> None:
        self.name = name
        self.signature = signature


class PromptedTool(StoredTool):
    """One that was asked with prompts from files."""

    def __init__(self, name: str, signature: str, hashes: Mapping[str, str]) -> None:
        super().__init__(name, signature)
        self._hashes = hashes

    def prompt_hash(self, name: str) -> str:
        """What identified the wording when it was asked."""
        return self._hashes.get(name, "unknown")


def stored_tools(run: Run) -> dict[str, Tool]:
    """The tools of a stored run: a matcher that needs no model as itself, everybody else as who is remembered."""
    said: dict[str, str] = run.info["tools"]
    hashes = {name: prompt["hash"] for name, prompt in (run.info.get("prompts") or {}).items()}
    matcher = said.get("matcher", "citation/").partition("/")[0]
    tools: dict[str, Tool] = {"matcher": make_matcher(matcher)} if matcher in MATCHERS else {}
    for tool, signature in said.items():
        if tool not in tools:
            prompted = _was_prompted(run, tool, hashes)
            tools[tool] = PromptedTool(tool, signature, hashes) if prompted else StoredTool(tool, signature)
    return tools


def _was_prompted(run: Run, tool: str, hashes: Mapping[str, str]) -> bool:
    """Whether the signature of evidence that the tool made names a prompt."""
    for piece in run.info["evidence"]:
        spec = CATALOGUE.evidence(piece)
        if spec is not None and tool in spec.needs and spec.prompts:
            parts = {part for signature in _signatures(run, piece) for part in signature.split("|")}
            return any(f"{name}:{hashes.get(name)}" in parts for name in spec.prompts)
    return False


def _signatures(run: Run, piece: str) -> set[str]:
    return set(read_table(run.folder.evidence(piece), ["signature"])["signature"].unique().to_pylist())


class Recollection:
    """Answers for the steps that would ask a model, with what a stored run has of them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._samples: pa.Table = run.samples.table
        self._row_of = {name: row for row, name in enumerate(self._samples["id"].to_pylist())}
        self._evidence = cache(lambda piece: read_table(run.folder.evidence(piece)).combine_chunks())

    def covers(self, step: EvidenceStep, tools: Mapping[str, Any]) -> bool:
        """Whether a step would ask somebody."""
        return step.spec.is_async or any(isinstance(tools.get(need), StoredTool) for need in step.needs)

    def mark_outdated(self, ledger: Ledger) -> None:
        """Say of evidence that the data gave, and that no longer holds, that it is out of date and not that there was none."""
        places = self._places(ledger)
        for name in GIVEN_EVIDENCE.keys() & set(ledger.batch.schema.names) & set(self._samples.schema.names):
            given = self._samples[name].take(places).is_valid().to_numpy()
            entry = ledger[name]
            lost = np.flatnonzero(given & ~ledger.has(name)).tolist()
            entry.absent.update(dict.fromkeys(lost, Absence(SKIPPED, OUT_OF_DATE)))

    def recall(self, step: EvidenceStep, ledger: Ledger) -> list[Entry]:
        """The pieces of a step for the rows of a batch."""
        needs = [need for need in step.active.needs if need in ledger]
        rows, absent = ledger.common_rows(needs, step.active.either)
        if (lacking := lacking_rows(step, ledger)) is not None:
            rows = np.intersect1d(rows, lacking, assume_unique=True)
            absent = {row: absent[row] for row in lacking.tolist() if row in absent}
        entries = [self._piece(piece, step, ledger, rows, absent) for piece in step.pieces]
        entries = [with_given(without_own_needs(step, entry, ledger), ledger) for entry in entries]
        return [hold_to_type(entry, step.spec.annotation_of(entry.name)) for entry in entries]

    def _piece(
        self, piece: str, step: EvidenceStep, ledger: Ledger, rows: np.ndarray, absent: Mapping[int, Absence]
    ) -> Entry:
        lost = dict(absent)
        if piece not in self._run.info["evidence"]:
            lost.update(dict.fromkeys(rows.tolist(), Absence(SKIPPED, NEVER_MADE)))
            return Entry(piece, rows[:0], Rows([]), lost)
        stored = self._evidence(piece).take(self._places(ledger))
        status, reasons = stored["status"].to_pylist(), stored["reason"].to_pylist()
        holds = self._unchanged(piece, ledger) & _made_alike(piece, step, stored["signature"])
        for row in rows.tolist():
            if not holds[row]:
                lost[row] = Absence(SKIPPED, OUT_OF_DATE)
            elif status[row] != STATUSES[OK]:
                lost[row] = Absence(STATUSES.index(status[row]), reasons[row])
        kept = rows[[row not in lost for row in rows.tolist()]] if len(rows) else rows
        values = _decode(step.spec.annotation_of(piece), stored["value"].take(kept).to_pylist())
        return Entry(piece, kept, _as_column(values, columnar=step.spec.columnar), lost)

    def _unchanged(self, piece: str, ledger: Ledger) -> np.ndarray:
        """The rows in which all that a piece rests on is as it was."""
        same = np.ones(ledger.size, dtype=bool)
        places = self._places(ledger)
        for name in fields_under(piece):
            if name in ledger.batch.schema.names:
                before = (
                    self._samples[name].take(places).combine_chunks() if name in self._samples.schema.names else None
                )
                same &= _equal(before, ledger.batch.column(name))
        return same

    def _places(self, ledger: Ledger) -> pa.Array:
        """Where the rows of a batch stand in the stored run."""
        return pa.array([self._row_of[name] for name in ledger.batch.column("id").to_pylist()])


def fields_under(piece: str) -> set[str]:
    """The fields, and the evidence that data may give, that a piece rests on."""
    needs = {need for name, spec in _specs_under(piece).items() for need in spec.needs_of([name])}
    return {need for need in needs if need in FIELDS or need in GIVEN_EVIDENCE}


def _specs_under(piece: str) -> dict[str, EvidenceSpec]:
    """Who makes a piece, and what it rests on, by name."""
    found: dict[str, EvidenceSpec] = {}
    waiting = [piece]
    while waiting:
        name = waiting.pop()
        spec = CATALOGUE.evidence(name)
        if spec and name not in found:
            found[name] = spec
            waiting += spec.needs_of([name])
    return found


def _made_alike(piece: str, step: EvidenceStep, signatures: pa.ChunkedArray) -> np.ndarray:
    """The rows whose piece was made as it would be made now.

    A step's signature covers all its pieces; only what belongs to this one counts, since another run may have wanted others.
    """
    specs = _specs_under(piece).values()
    names = {name for spec in specs for name in (*spec.needs, *spec.prompts)}
    stamps = {spec.stamp for spec in specs}
    parts = {part for part in step.signature.split("|") if part in stamps or part.partition(":")[0] in names}
    alike = {signature: parts <= set(signature.split("|")) for signature in signatures.unique().to_pylist()}
    return np.array([alike[signature] for signature in signatures.to_pylist()], dtype=bool)


def _equal(before: pa.Array | None, now: pa.Array) -> np.ndarray:
    if before is None:
        return np.asarray(now.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    if before.equals(now):
        return np.ones(len(now), dtype=bool)
    return np.array([old == new for old, new in zip(before.to_pylist(), now.to_pylist(), strict=True)], dtype=bool)


def _decode(annotation: Any, values: list[Any]) -> list[Any]:
    convert = decoder(annotation)
    return [convert(value) for value in values] if convert else values


def _as_column(values: Sequence[Any], columnar: bool) -> Any:
    """Values as those who need them expect: where facts were found is looked at as columns."""
    if not columnar:
        return Rows(values)
    matches: Iterable[list[FactMatch]] = values
    lists = [[(m.fact, m.chunk, m.start, m.end, m.confidence) for m in row] for row in matches]
    return Places.from_lists(lists, next((m.matcher for row in values for m in row), ""))
