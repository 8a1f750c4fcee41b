"""What is known about each sample of a run: the sample itself, and its evidence wherever that lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ragstone.data.codec import decoder
from ragstone.data.dataset import view_samples
from ragstone.data.schema import GIVEN_EVIDENCE
from ragstone.data.types import Claim, FactMatch, Sample
from ragstone.storage.runs import Run

# What causes are made from; a run has some of these.
NEEDED = (
    *GIVEN_EVIDENCE,
    "answer_claims_in_all_contexts",
    "reference_claims_in_all_contexts",
    "noncommittal",
    "declining_words",
    "fact_matches",
    "fact_ranks",
    "chunk_usefulness",
)
_ROWS_AT_A_TIME = 10_000


@dataclass(frozen=True)
class Case:
    """One sample with its evidence; what is not there was not found out."""

    sample: Sample
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def claims(self, whose: str) -> list[Claim]:
        """The claims of `answer` or `reference`."""
        return list(self.evidence.get(f"{whose}_claims") or ())

    def verdicts(self, name: str) -> list[str]:
        """A verdict a claim; empty where there are none."""
        return list(self.evidence.get(name) or ())

    def matrix(self, name: str) -> list[list[str]]:
        """A verdict a claim and chunk; empty where there are none."""
        return [list(row) for row in self.evidence.get(name) or ()]

    def has(self, *names: str) -> bool:
        """Whether all these kinds of evidence were found out."""
        return all(self.evidence.get(name) is not None for name in names)

    @property
    def matches(self) -> list[FactMatch]:
        """Where facts stand in chunks."""
        return list(self.evidence.get("fact_matches") or ())


def read_cases(run: Run, most: int | None = None, names: Sequence[str] = NEEDED) -> Iterator[Case]:
    """The samples of a run with their evidence, some at a time so that memory stays small; at most so many."""
    tables = {name: run.evidence(name) for name in names if name in run.info["evidence"]}
    rows = len(run.samples) if most is None else min(most, len(run.samples))
    for start in range(0, rows, _ROWS_AT_A_TIME):
        count = min(_ROWS_AT_A_TIME, rows - start)
        samples = run.samples.table.slice(start, count)
        columns = {name: _values(name, samples, tables.get(name), start, count) for name in names}
        for row, sample in enumerate(view_samples(samples)):
            known = {name: column[row] for name, column in columns.items() if column and column[row] is not None}
            yield Case(sample, known)


def read_case(run: Run, row: int) -> Case:
    """One sample with all evidence that the run has."""
    sample = run.samples.table.slice(row, 1)
    names = dict.fromkeys([*NEEDED, *run.info["evidence"]])
    evidence = {}
    for name in names:
        table = run.evidence(name) if name in run.info["evidence"] else None
        column = _values(name, sample, table, row, 1)
        if column and column[0] is not None:
            evidence[name] = column[0]
    return Case(next(view_samples(sample)), evidence)


def _values(name: str, samples: pa.Table, found: pa.Table | None, start: int, count: int) -> list[Any] | None:
    """One kind of evidence, a value a sample: given by the data, or else what the run found out.

    Evidence is stored in the order of the samples.
    """
    convert = decoder(_annotation(name)) or (lambda value: value)
    given = samples[name].to_pylist() if name in samples.column_names else [None] * count
    made = [None] * count if found is None else found["value"].slice(start, count).to_pylist()
    if found is None and name not in samples.column_names:
        return None
    return [convert(new if old is None else old) for old, new in zip(given, made, strict=True)]


def _annotation(name: str) -> Any:
    """Only evidence made of objects has to be put together again; all other values are stored as they are."""
    return list[FactMatch] if name == "fact_matches" else GIVEN_EVIDENCE.get(name)
