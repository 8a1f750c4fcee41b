"""Ground truth: a case is a question with its references and facts; a fact has a provenance and a review state.

Cases are made from samples and become samples again.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa

from ragstone.data.codec import arrow_type, decoder, encoder
from ragstone.data.dataset import Dataset, view_samples
from ragstone.data.types import Chunk, Fact, Sample
from ragstone.errors import UsageError
from ragstone.formats import Reader
from ragstone.formats.conversations import CONVERSATION_NAMES
from ragstone.text.questions import MADE_ID, question_key
from ragstone.text.refusals import find_refusal

# The provenance of a case whose reference is an unchecked answer of the system.
SYSTEM_ANSWER = "system answer"
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
    importance: str | None = None

    def as_fact(self) -> Fact:
        """The fact as evaluations use it."""
        return Fact(self.text, self.kind, self.source, self.importance)


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


WEIGHT = "weight"
# The fields that a sample can have; other fields exist only in cases.
_FIELDS = ("references", "facts", "documents", "reference_contexts", "relevance", "answerable")
# The fields that a case does not show before it is accepted.
_PROPOSED = ("references", "reference_contexts", "relevance", "answerable")


@dataclass(frozen=True)
class ReadCases:
    """The cases of a data set, the fields that it has, and notes for the user."""

    cases: list[Case]
    fields: frozenset[str]
    notes: list[str]


def cases_to_samples(cases: Iterable[Case]) -> Dataset:
    """Cases as samples without answers, with accepted facts only."""
    return Dataset.from_samples(case.as_sample() for case in cases)


def read_cases(reader: Reader, asked: Iterable[Sample] = ()) -> ReadCases:
    """The ground truth of a data set, in which answers without chunks are the right ones; rows without a question get that of `asked` by id."""
    cases, answers, unasked = list[Case](), list[str | None](), list[str]()
    fields, notes = set[str](), list[str]()
    rows, known = [one for batch in reader.batches() for one in view_samples(batch)], list(asked)
    # By id, else by the first metadata, with another value in each, that has an id of a row.
    for key in dict.fromkeys(["", *(name for one in known for name in one.metadata or ())]):
        values = [
            (value, one) for one in known if (value := (one.metadata or {}).get(key) if key else one.id) is not None
        ]
        named = {str(value): one for value, one in values}
        samples = [_with_question(one, named if len(named) == len(values) else {}, key) for one in rows]
        if any(one.question for one in samples):
            notes += [f"the ids are those of '{key}' in --questions"] if key else []
            break
    for sample in samples:
        fields |= {name for name in _FIELDS if getattr(sample, name) is not None}
        if sample.question:
            cases.append(case_from_sample(sample))
            answers.append(None if sample.contexts else sample.answer)
        else:
            unasked.append(sample.id)
    if not cases:
        hint = "none of its ids is in --questions" if known else "--questions RUN|FILE reads their questions"
        raise UsageError(f"{reader.name} has no sample with a question; {hint}")
    if not fields and all(answers):
        fields.add("references")
        cases = [replace(case, references=[answer or ""]) for case, answer in zip(cases, answers, strict=True)]
        notes.append("there are no chunks and no references, so the answers count as the right ones")
    answered = {question_key(case.question): case.references for case in cases}
    if other := [case.id for case in cases if case.references != answered[question_key(case.question)]]:
        how = "; add a column id, or conversation and turn" if MADE_ID.fullmatch(other[0]) else ""
        notes.append(f"'{other[0]}' has the question of another row and another reference: it matches by id only{how}")
    if unasked:
        are = "sample without a question is" if len(unasked) == 1 else "samples without a question are"
        notes.append(f"{len(unasked):,} {are} left out, for example '{unasked[0]}'")
    return ReadCases(cases, frozenset(fields), notes)


def _with_question(sample: Sample, known: Mapping[str, Sample], key: str = "") -> Sample:
    """The sample with the id of its turn, such as `c7#2`, if it has none of its own, and the question of its id, or of its `key`."""
    about = sample.metadata or {}
    turns = [f"{about[name]}#{about.get('turn')}" for name in CONVERSATION_NAMES if name in about]
    if "turn" in about and turns and MADE_ID.fullmatch(sample.id):
        sample = replace(sample, id=turns[0])
    ids = () if sample.question else (sample.id, *turns, str(about.get(key, "")))
    found = next((known[one] for one in ids if one in known and known[one].question), sample)
    return replace(sample, id=found.id, question=found.question)


def case_from_sample(sample: Sample, provenance: str = "manual") -> Case:
    """The ground truth of one sample."""
    weight, metadata = _weight(sample.metadata)
    return Case(
        id=sample.id,
        question=sample.question or "",
        references=sample.references or [],
        facts=[
            TruthFact(fact.text, fact.kind, fact.source, provenance, importance=fact.importance)
            for fact in sample.facts or ()
        ],
        documents=sample.documents or [],
        reference_contexts=sample.reference_contexts or [],
        relevance=sample.relevance or {},
        answerable=sample.answerable,
        weight=weight,
        provenance=provenance,
        metadata=metadata,
    )


def update_cases(earlier: Sequence[Case], read: ReadCases, drop_others: bool) -> list[Case]:
    """The earlier cases updated from a data set, in the earlier order, then the new ones.

    Fields that the data does not have stay unchanged.
    """
    new = {case.id: case for case in read.cases}
    known = {case.id for case in earlier}
    kept = [_update(case, new[case.id], read.fields) if case.id in new else case for case in earlier]
    if drop_others:
        kept = [case for case in kept if case.id in new]
    return [*kept, *(case for case in read.cases if case.id not in known)]


def _update(earlier: Case, new: Case, fields: Collection[str]) -> Case:
    values: dict[str, Any] = {name: getattr(new, name) for name in fields if name != "facts"}
    if new.references:
        values["standing"] = "accepted"
    elif earlier.standing != "accepted" and new.answerable is False:
        values |= {"standing": "accepted", "references": []}
    elif earlier.standing != "accepted":
        # Exported data contains accepted items only: what is missing there is not removed here.
        missing = [name for name in _PROPOSED if getattr(new, name) in (None, [], {})]
        values |= {name: getattr(earlier, name) for name in missing}
    facts = _update_facts(earlier.facts, new.facts) if "facts" in fields else earlier.facts
    weight = earlier.weight if new.weight is None else new.weight
    metadata = {**earlier.metadata, **new.metadata}
    return replace(earlier, question=new.question, facts=facts, weight=weight, metadata=metadata, **values)


def _update_facts(earlier: Sequence[TruthFact], new: Sequence[TruthFact]) -> list[TruthFact]:
    """The new facts with the stored details of equal texts, and earlier facts that are not accepted."""
    known = {fact.text: fact for fact in earlier}
    named = {fact.text for fact in new}
    facts = [replace(known[fact.text], standing="accepted") if fact.text in known else fact for fact in new]
    return facts + [fact for fact in earlier if fact.standing != "accepted" and fact.text not in named]


def _weight(metadata: Mapping[str, Any]) -> tuple[float | None, dict[str, Any]]:
    """The weight in the metadata, and the other metadata."""
    value = metadata.get(WEIGHT)
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value), {name: item for name, item in metadata.items() if name != WEIGHT}
    return None, dict(metadata)


def read_sourced(reader: Reader) -> list[Case]:
    """The cases of a data set with the retrieved contexts as passages; an answer replaces a missing reference."""
    samples = [sample for batch in reader.batches() for sample in view_samples(batch)]
    if not samples:
        raise UsageError(f"{reader.name} has no samples")
    return [sourced_case(sample) for sample in samples]


def sourced_case(sample: Sample) -> Case:
    """One sample with its contexts as passages; an answer that does not decline is proposed as a missing reference."""
    case = case_from_sample(sample)
    passages = sample.contexts or [Chunk(text) for text in sample.reference_contexts or ()]
    if case.references or not sample.answer or case.answerable is False or find_refusal(sample.answer):
        return replace(case, passages=passages)
    return replace(case, passages=passages, references=[sample.answer], provenance=SYSTEM_ANSWER, standing="proposed")
