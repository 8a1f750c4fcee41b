"""Ground truth laid beside answers: each sample with the case that is about it, by id or by question and documents."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragstone.data.codec import canonical_json
from ragstone.data.dataset import samples_table
from ragstone.data.types import Sample
from ragstone.errors import UsageError
from ragstone.formats import Reader, open_reader
from ragstone.truth.cases import Case
from ragstone.truth.exchange import WEIGHT
from ragstone.truth.versions import TruthStore, Version, parse_reference

# What only the ground truth says, once one is named.
TRUTH_FIELDS = ("references", "reference_contexts", "relevance", "facts", "answerable")
# Given evidence that no longer holds when the references are others.
_RESTS_ON_REFERENCES = (
    "reference_claims",
    "answer_claims_in_reference",
    "reference_claims_in_answer",
    "reference_claims_in_contexts",
)


def read_with_truth(
    data: Any,
    truth: str | Version,
    root: str = "ragstone-store",
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> TruthReader:
    """Data with the ground truth of a version, ready for `ragstone.evaluate`; `truth` is `NAME` or `NAME@3` under the root."""
    version = TruthStore(root).read(*parse_reference(truth)) if isinstance(truth, str) else truth
    return TruthReader(open_reader(data, format, columns, limit), version)


class TruthReader(Reader):
    """A reader whose samples have the ground truth of one version, and none but that."""

    def __init__(self, inner: Reader, version: Version) -> None:
        super().__init__(inner.sources, inner.format, inner.limit)
        self.schema = inner.schema
        self.report = inner.report
        self._inner = inner
        self._version = version

    @property
    def name(self) -> str:
        """The sources as the user named them."""
        return self._inner.name

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Checked samples with the truth that is known about them; what did not join is said at the end."""
        matcher = CaseMatcher(self._version.cases)
        for batch in self._inner.batches():
            yield join_batch(batch, matcher)
        info = self._version.info
        matcher.check_met(self.name, info.reference)
        about = {"name": info.name, "version": info.number, "fingerprint": info.fingerprint, "cases": info.rows}
        self.report.info["truth"] = about | matcher.counts()
        for remark in matcher.remarks(info.reference):
            self.report.note(remark)


class CaseMatcher:
    """Finds the case that a sample is about, and counts how."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._by_id: dict[str, Case] = {}
        self._by_question: dict[str, list[Case]] = {}
        for case in cases:
            self._by_id[case.id] = case
            self._by_question.setdefault(_folded(case.question), []).append(case)
        self._met: set[str] = set()
        self._how: Counter[str] = Counter()

    def find(self, name: str, question: str | None, documents: Sequence[str] | None) -> Case | None:
        """The case of the same id and question, else of the same question and documents, else of the same id."""
        own = self._by_id.get(name)
        asked = None if question is None else _folded(question)
        if own is not None and asked in (None, _folded(own.question)):
            return self._count("by_id", own)
        same = [] if asked is None else _same_documents(self._by_question.get(asked, []), frozenset(documents or ()))
        if same:
            return self._count("by_question", same[0])
        if own is not None:
            self._how["asked_otherwise"] += 1
            return self._count("by_id", own)
        self._how["samples_without_case"] += 1
        return None

    def counts(self) -> dict[str, int]:
        """How many samples joined and how, and what was left over on both sides."""
        found = {name: self._how[name] for name in ("by_id", "by_question", "asked_otherwise", "samples_without_case")}
        return found | {"cases_without_sample": len(self._by_id) - len(self._met)}

    def check_met(self, source: str, truth: str) -> None:
        """Refuse data that has nothing to do with the ground truth: most likely one of the two names is wrong."""
        if not self._met:
            raise UsageError(
                f"not one sample of {source} has a case in {truth}, by id or by question and documents. "
                f"Compare them: ragstone truth show {truth}"
            )

    def remarks(self, truth: str) -> Iterator[str]:
        """What a person should know about the join."""
        counts = self.counts()
        if any(self._by_id[name].weight is not None for name in self._met):
            yield "cases stand for many requests each: `ragstone truth estimate RUN` weighs them"
        if waiting := sum(_waits(self._by_id[name]) for name in self._met):
            yield (
                f"{waiting:,} of {len(self._met):,} cases of {truth} have only proposed references or facts, which do not count "
                "until somebody accepts them: `ragstone view` shows the queue"
            )
        samples = counts["by_id"] + counts["by_question"] + counts["samples_without_case"]
        if lone := counts["samples_without_case"]:
            yield f"{lone:,} of {samples:,} samples have no case in {truth}: they have no ground truth"
        if unused := counts["cases_without_sample"]:
            yield f"{unused:,} of {len(self._by_id):,} cases of {truth} have no sample"
        if other := counts["asked_otherwise"]:
            yield (
                f"{other:,} sample{'s' if other != 1 else ''} joined by id though the question reads otherwise in {truth}; "
                "if the ids mean different things, leave them out of the data"
            )

    def _count(self, how: str, case: Case) -> Case:
        self._how[how] += 1
        self._met.add(case.id)
        return case


def _waits(case: Case) -> bool:
    """Whether all that is known about a case still waits for somebody who accepts it."""
    proposed = case.standing == "proposed" and any(case.references)
    proposed = proposed or any(fact.standing == "proposed" for fact in case.facts)
    return proposed and not case.accepted_facts and (case.standing != "accepted" or not case.references)


def join_batch(batch: pa.RecordBatch, matcher: CaseMatcher) -> pa.RecordBatch:
    """The samples of a batch with the truth of their cases in place of their own."""
    old = {name: batch.column(name).to_pylist() for name in ("id", "question", "documents", "references", "metadata")}
    cases = [matcher.find(*key) for key in zip(old["id"], old["question"], old["documents"], strict=True)]
    truth = samples_table([Sample("") if case is None else case.as_sample() for case in cases])
    new = {name: truth.column(name).to_pylist() for name in ("documents", "references", "metadata")}
    columns = {name: truth.column(name).combine_chunks() for name in TRUTH_FIELDS}
    columns["documents"] = _array(batch, "documents", [mine or own for mine, own in _pairs(new, old, "documents")])
    columns["metadata"] = _array(batch, "metadata", [_merge_json(*pair) for pair in _pairs(new, old, "metadata")])
    changed = [mine != own for mine, own in _pairs(new, old, "references")]
    for name in _RESTS_ON_REFERENCES:
        if name in batch.schema.names:
            given = batch.column(name)
            columns[name] = pc.if_else(pa.array(changed), pa.nulls(len(given), given.type), given)
    arrays = [columns.get(field.name, batch.column(field.name)) for field in batch.schema]
    return pa.RecordBatch.from_arrays(arrays, schema=batch.schema)


def _pairs(new: Mapping[str, list[Any]], old: Mapping[str, list[Any]], name: str) -> Iterator[tuple[Any, Any]]:
    return zip(new[name], old[name], strict=True)


def _array(batch: pa.RecordBatch, name: str, values: list[Any]) -> pa.Array:
    return pa.array(values, batch.schema.field(name).type)


def _merge_json(mine: str | None, own: str | None) -> str | None:
    """What is known about the case beside what the sample says of itself; the weight is the case's alone."""
    if mine is None or own is None:
        return mine or own
    case, sample = json.loads(mine), json.loads(own)
    return canonical_json({**case, **sample, **({WEIGHT: case[WEIGHT]} if WEIGHT in case else {})})


def _same_documents(cases: Sequence[Case], documents: frozenset[str]) -> list[Case]:
    """Of the cases of one question those about the same documents; where a side names none, only one may be left."""
    exact = [case for case in cases if frozenset(case.documents) == documents]
    if exact:
        return exact
    open_ended = [case for case in cases if not case.documents or not documents]
    return open_ended if len(open_ended) == 1 else []


def _folded(question: str) -> str:
    """Questions that differ in blanks or in how letters are composed are the same."""
    return " ".join(unicodedata.normalize("NFC", question).split())
