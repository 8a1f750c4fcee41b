"""The samples of a run with their evidence, from the data or from the run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pyarrow as pa

from ragstone.data.codec import decoder
from ragstone.data.dataset import view_samples
from ragstone.data.schema import GIVEN_EVIDENCE
from ragstone.data.types import CitedPart, Claim, FactMatch, Sample, ScoredVerdict
from ragstone.storage.runs import Run, read_batches, read_rows

# The evidence that causes are derived from; a run has some of it.
NEEDED = (
    *GIVEN_EVIDENCE,
    "noncommittal",
    "declining_words",
    "fact_matches",
    "fact_ranks",
    "answer_citations",
    "claim_citations",
)
# Evidence of objects that no file can give.
_OBJECTS = {"fact_matches": list[FactMatch], "answer_citations": list[CitedPart]}


@dataclass(frozen=True)
class Case:
    """One sample with its evidence; absent evidence was not collected."""

    sample: Sample
    evidence: Mapping[str, Any] = field(default_factory=dict)
    # Whether its annotated facts are more reliable than its claims.
    by_facts: bool = False
    # How often a cause that the local judge finds is the true one, as a multiple of its probability.
    cause_rates: Mapping[str, float] = field(default_factory=dict)

    @property
    def answer_is_empty(self) -> bool:
        """Whether the system returned an answer without text."""
        return self.sample.answer is not None and not self.sample.answer.strip()

    @property
    def judged_locally(self) -> bool:
        """Whether verdicts on claims come from the local judge."""
        verdicts = [*self.verdicts("reference_claims_in_answer"), *self.verdicts("answer_claims_in_reference")]
        rows = [*self.matrix("answer_claims_in_contexts"), *self.matrix("reference_claims_in_contexts")]
        return any(
            isinstance(one, ScoredVerdict) and one.supported is not None for row in [verdicts, *rows] for one in row
        )

    def claims(self, whose: str) -> list[Claim]:
        """The claims of `answer` or `reference`."""
        return list(self.evidence.get(f"{whose}_claims") or ())

    def verdicts(self, name: str) -> list[str]:
        """One verdict per claim; empty if there are none."""
        return list(self.evidence.get(name) or ())

    def matrix(self, name: str) -> list[list[str]]:
        """One verdict per claim and chunk; empty if there are none."""
        return [list(row) for row in self.evidence.get(name) or ()]

    def has(self, *names: str) -> bool:
        """Whether all these kinds of evidence are present."""
        return all(self.evidence.get(name) is not None for name in names)


def trusts_facts(run: Run) -> bool:
    """Whether a run has annotated facts found by their words, while its claims come from the local judge."""
    by_judge = str((run.info.get("tools") or {}).get("matcher", "")).startswith("judge/")
    return "fact_ranks" in run.info.evidence and run.info.uses_local_judge and not by_judge


def read_cases(run: Run, most: int | None = None) -> Iterator[Case]:
    """The first `most` samples of a run with their evidence, read in batches."""
    made = {name: _stream_values(run, name) for name in NEEDED if name in run.info.evidence}
    by_facts = trusts_facts(run)
    for sample, given in islice(_stream_samples(run), most):
        found = {name: next(values) for name, values in made.items()}
        known = {name: value for name, value in (found | given).items() if value is not None}
        yield Case(sample, known, by_facts, run.info.cause_rates)


def read_case(run: Run, row: int) -> Case:
    """One sample with all evidence that the run has."""
    sample, given = next(_view(run.samples.table.slice(row, 1)))
    found = {name: _decoded(name, run.evidence(name)["value"].slice(row, 1))[0] for name in run.info.evidence}
    known = {name: value for name, value in (found | given).items() if value is not None}
    return Case(sample, known, trusts_facts(run), run.info.cause_rates)


def read_cases_at(run: Run, rows: Collection[int], names: Collection[str] = NEEDED) -> dict[int, Case]:
    """Some samples with the named evidence, by row number; only the row groups with these rows are read."""
    found: dict[int, dict[str, Any]] = {row: {} for row in rows}
    samples: dict[int, Sample] = {}
    for row, part in read_rows(run.folder.samples, rows):
        samples[row], given = next(_view(part))
        found[row] = given
    for name in names:
        if name in run.info.evidence:
            for row, part in read_rows(run.folder.evidence(name), rows, ["value"]):
                value = _decoded(name, part["value"])[0]
                if value is not None:
                    found[row].setdefault(name, value)
    by_facts = trusts_facts(run)
    return {row: Case(samples[row], found[row], by_facts, run.info.cause_rates) for row in samples}


def _stream_samples(run: Run) -> Iterator[tuple[Sample, dict[str, Any]]]:
    for batch in read_batches(run.folder.samples):
        yield from _view(batch)


def _stream_values(run: Run, name: str) -> Iterator[Any]:
    """Evidence is stored in the order of the samples."""
    for batch in read_batches(run.folder.evidence(name), ["value"]):
        yield from _decoded(name, batch["value"])


def _view(table: pa.Table | pa.RecordBatch) -> Iterator[tuple[Sample, dict[str, Any]]]:
    """Each sample with the evidence in its data, which takes precedence over evidence of the run."""
    names = [name for name in GIVEN_EVIDENCE if name in table.schema.names]
    columns = [_decoded(name, table[name]) for name in names]
    for row, sample in enumerate(view_samples(table)):
        pairs = zip(names, columns, strict=True)
        yield sample, {name: column[row] for name, column in pairs if column[row] is not None}


def _decoded(name: str, column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Decodes evidence that consists of objects; other values are stored unchanged."""
    convert = decoder(_OBJECTS.get(name) or GIVEN_EVIDENCE.get(name))
    values: list[Any] = column.to_pylist()
    return [convert(value) for value in values] if convert else values
