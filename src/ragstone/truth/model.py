"""Ground truth: a case is a question with its references and facts; a fact has a provenance and a review state."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa

from ragstone.data.codec import arrow_type, decoder, encoder
from ragstone.data.types import Chunk, Fact, Sample

Standing = Literal["accepted", "proposed", "rejected"]


@dataclass(frozen=True, slots=True)
class TruthFact:
    """A fact with its provenance and review state (`standing`). Answers are scored against accepted facts only."""

    text: str
    kind: str = "citation"
    source: str | None = None
    provenance: str = "manual"
    standing: str = "accepted"
    confidence: float | None = None
    note: str | None = None

    def as_fact(self) -> Fact:
        """The fact as evaluations use it."""
        return Fact(self.text, self.kind, self.source)


@dataclass(frozen=True, slots=True)
class Case:
    """One question with its ground truth.

    `passages` are the texts that must contain the citations. `weight` is the number of production requests that the
    case represents, if it was sampled from a log. `standing` applies to the references, or to `answerable: False`; each
    fact has its own.
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
        """The facts that answers are scored against."""
        return [fact for fact in self.facts if fact.standing == "accepted"]

    @property
    def accepted_references(self) -> list[str]:
        """The references that answers are scored against."""
        return self.references if self.standing == "accepted" else []

    @property
    def accepted_answerable(self) -> bool | None:
        """Whether the documents contain the answer; None until "unanswerable" is accepted."""
        counts = self.standing == "accepted" if self.answerable is False else self.is_confirmed
        return self.answerable if counts else None

    @property
    def has_proposed_answer(self) -> bool:
        """Whether its references, or that it is unanswerable, are proposed."""
        return self.standing == "proposed" and (bool(self.references) or self.answerable is False)

    @property
    def is_confirmed(self) -> bool:
        """Whether a person wrote the case, or accepted its answer or one of its facts."""
        return self.provenance == "manual" or self.standing == "accepted" or bool(self.accepted_facts)

    def as_sample(self) -> Sample:
        """The case as a sample without an answer; only what is accepted is included."""
        confirmed = self.is_confirmed
        return Sample(
            id=self.id,
            question=self.question,
            references=self.accepted_references or None,
            reference_contexts=(self.reference_contexts if confirmed else None) or None,
            relevance=(self.relevance if confirmed else None) or None,
            facts=[fact.as_fact() for fact in self.accepted_facts] or None,
            answerable=self.accepted_answerable,
            documents=self.documents or None,
            metadata=self.metadata if self.weight is None else {**self.metadata, "weight": self.weight},
        )

    def with_facts(self, facts: list[TruthFact]) -> Case:
        """A copy with other facts."""
        return replace(self, facts=facts)


_HINTS = typing.get_type_hints(Case)
CASES = pa.schema([pa.field(name, arrow_type(hint), nullable=name != "id") for name, hint in _HINTS.items()])


def cases_to_table(cases: Iterable[Case]) -> pa.Table:
    """Cases as the stored table, one row per case."""
    rows = list(cases)
    columns = {
        name: _convert_all(encoder(hint), [getattr(case, name) for case in rows]) for name, hint in _HINTS.items()
    }
    return pa.table({name: pa.array(column, CASES.field(name).type) for name, column in columns.items()}, schema=CASES)


def cases_from_table(table: pa.Table) -> list[Case]:
    """The cases of a stored table; fields without a column have their defaults."""
    stored = {name: hint for name, hint in _HINTS.items() if name in table.column_names}
    columns = {name: _convert_all(decoder(hint), table.column(name).to_pylist()) for name, hint in stored.items()}
    return [Case(**dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


def _convert_all(convert: Callable[[Any], Any] | None, values: list[Any]) -> list[Any]:
    return values if convert is None else [None if value is None else convert(value) for value in values]
