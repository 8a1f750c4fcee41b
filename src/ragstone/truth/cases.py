"""The nouns of ground truth: a case is a question with what is known to be true about it, a fact with where it came from."""

from __future__ import annotations

import typing
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa

from ragstone.data.codec import arrow_type, decoder, encoder
from ragstone.data.types import Chunk, Fact, Sample

Provenance = Literal["manual", "synthetic", "harvested", "judge"]
Standing = Literal["accepted", "proposed", "rejected"]


@dataclass(frozen=True, slots=True)
class TruthFact:
    """A fact with where it came from and whether a person has let it in; only accepted facts are scored against."""

    text: str
    kind: str = "citation"
    source: str | None = None
    provenance: str = "manual"
    standing: str = "accepted"
    confidence: float | None = None
    note: str | None = None

    def as_fact(self) -> Fact:
        """The fact as an evaluation sees it."""
        return Fact(self.text, self.kind, self.source)


@dataclass(frozen=True, slots=True)
class Case:
    """One question with its ground truth.

    `passages` are the texts of the documents that citations must stand in; `weight` says how many requests of
    production the case stands for, where it was sampled from a log. `standing` is that of the references, which a log or
    a model may propose as well; facts have their own.
    """

    id: str
    question: str
    references: list[str] = field(default_factory=list)
    facts: list[TruthFact] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    passages: list[Chunk] = field(default_factory=list)
    reference_contexts: list[str] = field(default_factory=list)
    relevance: dict[str, float] = field(default_factory=dict)
    answerable: bool | None = None
    weight: float | None = None
    provenance: str = "manual"
    standing: str = "accepted"
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def accepted_facts(self) -> list[TruthFact]:
        """The facts that are scored against."""
        return [fact for fact in self.facts if fact.standing == "accepted"]

    def as_sample(self) -> Sample:
        """The case as a sample without an answer: what is known to be true, nothing that is only proposed."""
        return Sample(
            id=self.id,
            question=self.question,
            references=(self.references or None) if self.standing == "accepted" else None,
            reference_contexts=self.reference_contexts or None,
            relevance=self.relevance or None,
            facts=[fact.as_fact() for fact in self.accepted_facts] or None,
            answerable=self.answerable,
            documents=self.documents or None,
            metadata=self.metadata if self.weight is None else {**self.metadata, "weight": self.weight},
        )

    def with_facts(self, facts: list[TruthFact]) -> Case:
        """The same case with other facts."""
        return replace(self, facts=facts)


_HINTS = typing.get_type_hints(Case)
CASES = pa.schema([pa.field(name, arrow_type(hint), nullable=name != "id") for name, hint in _HINTS.items()])


def cases_to_table(cases: Iterable[Case]) -> pa.Table:
    """Cases as the table that a version keeps, a row a case."""
    rows = list(cases)
    columns = {name: _encoded(hint, [getattr(case, name) for case in rows]) for name, hint in _HINTS.items()}
    return pa.table({name: pa.array(column, CASES.field(name).type) for name, column in columns.items()}, schema=CASES)


def cases_from_table(table: pa.Table) -> list[Case]:
    """The cases of a version's table."""
    columns = {name: _decoded(hint, table.column(name).to_pylist()) for name, hint in _HINTS.items()}
    return [Case(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def _encoded(hint: Any, values: list[Any]) -> list[Any]:
    convert = encoder(hint)
    return values if convert is None else [None if value is None else convert(value) for value in values]


def _decoded(hint: Any, values: list[Any]) -> list[Any]:
    convert = decoder(hint)
    return values if convert is None else [None if value is None else convert(value) for value in values]
