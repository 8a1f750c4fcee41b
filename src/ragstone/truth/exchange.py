"""Between cases and samples: any data set becomes ground truth, and ground truth any format."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ragstone.data.dataset import Dataset, view_samples
from ragstone.data.types import Fact, Sample
from ragstone.errors import UsageError
from ragstone.formats import Reader
from ragstone.truth.cases import Case, TruthFact

WEIGHT = "weight"
# What a sample can say about a case; the rest of a case is known to us alone.
_TOLD = ("references", "facts", "documents", "reference_contexts", "relevance", "answerable")


@dataclass(frozen=True)
class ReadCases:
    """Cases of a data set, which fields it has at all, and remarks."""

    cases: list[Case]
    told: frozenset[str]
    notes: list[str]


def cases_to_samples(cases: Iterable[Case]) -> Dataset:
    """Cases as samples without answers: accepted facts only."""
    return Dataset.from_samples(case.as_sample() for case in cases)


def read_cases(reader: Reader) -> ReadCases:
    """The ground truth in a data set; answers and retrieved chunks are none of it."""
    cases: list[Case] = []
    unasked: list[str] = []
    told: set[str] = set()
    for batch in reader.batches():
        for sample in view_samples(batch):
            told |= {name for name in _TOLD if getattr(sample, name) is not None}
            if sample.question:
                cases.append(case_from_sample(sample))
            else:
                unasked.append(sample.id)
    if not cases:
        raise UsageError(f"{reader.name} holds no question, so there is nothing to know the truth about")
    return ReadCases(cases, frozenset(told), _note_unasked(unasked))


def _note_unasked(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    if len(names) == 1:
        return [f"1 sample without a question is left out: '{names[0]}'"]
    return [f"{len(names):,} samples without a question are left out, for instance '{names[0]}'"]


def case_from_sample(sample: Sample, provenance: str = "manual") -> Case:
    """The ground truth of one sample."""
    weight, metadata = _weight(sample.metadata)
    return Case(
        id=sample.id,
        question=sample.question or "",
        references=sample.references or [],
        facts=[_as_truth(fact, provenance) for fact in sample.facts or ()],
        documents=sample.documents or [],
        reference_contexts=sample.reference_contexts or [],
        relevance=sample.relevance or {},
        answerable=sample.answerable,
        weight=weight,
        provenance=provenance,
        metadata=metadata,
    )


def update_cases(earlier: Sequence[Case], found: ReadCases, drop_others: bool) -> list[Case]:
    """The earlier cases brought up to what a data set says, in the earlier order, then the new ones.

    What the data has no column for stays: a format without a place for passages must not remove them.
    """
    new = {case.id: case for case in found.cases}
    known = {case.id for case in earlier}
    kept = [_update(case, new[case.id], found.told) if case.id in new else case for case in earlier]
    if drop_others:
        kept = [case for case in kept if case.id in new]
    return [*kept, *(case for case in found.cases if case.id not in known)]


def _update(earlier: Case, new: Case, told: Collection[str]) -> Case:
    values: dict[str, Any] = {name: getattr(new, name) for name in told if name != "facts"}
    if new.references:
        values["standing"] = "accepted"
    elif earlier.standing != "accepted":
        values["references"] = earlier.references
    facts = _update_facts(earlier.facts, new.facts) if "facts" in told else earlier.facts
    weight = earlier.weight if new.weight is None else new.weight
    metadata = {**earlier.metadata, **new.metadata}
    return replace(earlier, question=new.question, facts=facts, weight=weight, metadata=metadata, **values)


def _update_facts(earlier: Sequence[TruthFact], new: Sequence[TruthFact]) -> list[TruthFact]:
    """The new facts with what was known about those of the same text; exports have no place for what is not accepted."""
    known = {fact.text: fact for fact in earlier}
    named = {fact.text for fact in new}
    facts = [replace(known[fact.text], standing="accepted") if fact.text in known else fact for fact in new]
    return facts + [fact for fact in earlier if fact.standing != "accepted" and fact.text not in named]


def _as_truth(fact: Fact, provenance: str) -> TruthFact:
    return TruthFact(fact.text, fact.kind, fact.source, provenance)


def _weight(metadata: Mapping[str, Any]) -> tuple[float | None, dict[str, Any]]:
    """The weight among the metadata, where an export has put it."""
    value = metadata.get(WEIGHT)
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value), {name: item for name, item in metadata.items() if name != WEIGHT}
    return None, dict(metadata)
