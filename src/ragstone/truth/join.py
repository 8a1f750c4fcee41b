"""Joins answers with ground truth, by id or by question and documents, and rescores stored runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragstone.data.codec import canonical_json
from ragstone.data.dataset import samples_table
from ragstone.data.types import Sample
from ragstone.engine.progress import Report, silent
from ragstone.engine.rescore import StoredReader, rescore
from ragstone.engine.stored_evidence import NEVER_MADE, OUT_OF_DATE
from ragstone.errors import UsageError
from ragstone.formats import Reader, open_reader
from ragstone.storage.places import Place
from ragstone.storage.runs import Run
from ragstone.storage.scores import OK, read_scores
from ragstone.text.questions import question_key
from ragstone.truth.model import WEIGHT, Case
from ragstone.truth.store import TruthStore, Version, parse_reference

# Fields that come from the ground truth only.
TRUTH_FIELDS = ("references", "reference_contexts", "relevance", "facts", "answerable")
# Evidence in the data that is invalid if the references change.
_REFERENCE_EVIDENCE = (
    "reference_claims",
    "answer_claims_in_reference",
    "reference_claims_in_answer",
    "reference_claims_in_contexts",
)


def read_with_truth(
    data: Any, truth: str | Version, root: str = "ragstone-store", *reading: Any, **options: Any
) -> TruthReader:
    """Data, read as by `open_reader`, joined with a version of ground truth; `truth` is `NAME` or `NAME@3`."""
    version = TruthStore(root).read(*parse_reference(truth)) if isinstance(truth, str) else truth
    reader = TruthReader(open_reader(data, *reading, **options), version)
    reader.options += ["--truth", version.info.reference]
    return reader


class TruthReader(Reader):
    """A reader whose samples have the ground truth of one version instead of their own."""

    def __init__(self, inner: Reader, version: Version) -> None:
        super().__init__(inner.sources, inner.format, inner.limit)
        self.schema = inner.schema
        self.report = inner.report
        self.options = inner.options
        self._inner = inner
        self._version = version
        # Counts of facts that were found for this data; run.json keeps them.
        self.about_facts: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """The sources as the user named them."""
        return self._inner.name

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Samples with their ground truth; at the end, the report states which samples and cases did not match."""
        matcher = CaseMatcher(self._version.cases)
        for batch in self._inner.batches():
            yield _join_batch(batch, matcher)
        info = self._version.info
        matcher.check_met(self.name, info.reference)
        about = {"name": info.name, "version": info.number, "fingerprint": info.fingerprint, "cases": info.rows}
        facts = {"facts": self.about_facts} if self.about_facts else {}
        self.report.info["truth"] = about | matcher.counts() | facts
        for remark in matcher.remarks(info.reference):
            self.report.note(remark)


class CaseMatcher:
    """Matches samples with cases, and counts the matches."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._by_id: dict[str, Case] = {}
        self._by_question: dict[str, list[Case]] = {}
        for case in cases:
            self._by_id[case.id] = case
            self._by_question.setdefault(question_key(case.question), []).append(case)
        self._met: set[str] = set()
        self._how: Counter[str] = Counter()

    def find(
        self, name: str, question: str | None, documents: Sequence[str] | None, shared: bool = False
    ) -> Case | None:
        """The case with the same id and question, otherwise the same unshared question and documents, otherwise the same id."""
        own = self._by_id.get(name)
        asked = None if question is None else question_key(question)
        if own is not None and asked in (None, question_key(own.question)):
            return self._count("by_id", own)
        same = [] if asked is None else _same_documents(self._by_question.get(asked, []), frozenset(documents or ()))
        if same and not shared and all(case.references == same[0].references for case in same):
            return self._count("by_question", same[0])
        self._how["shared_questions"] += bool(same) and own is None
        if own is not None:
            self._how["asked_otherwise"] += 1
            return self._count("by_id", own)
        self._how["samples_without_case"] += 1
        return None

    def counts(self) -> dict[str, int]:
        """The number of matches by kind, and of samples and cases without a match."""
        found = {name: self._how[name] for name in ("by_id", "by_question", "asked_otherwise", "samples_without_case")}
        return found | {"cases_without_sample": len(self._by_id) - len(self._met)}

    def check_met(self, source: str, truth: str) -> None:
        """Raises UsageError if nothing matches: probably one of the names is wrong."""
        if not self._met:
            raise UsageError(
                f"no sample of {source} has a case in {truth}, by id or by question and documents. "
                f"Compare them: ragstone truth show {truth}"
            )

    def remarks(self, truth: str) -> Iterator[str]:
        """Notes on the join for the user."""
        counts = self.counts()
        if any(self._by_id[name].weight is not None for name in self._met):
            yield "cases represent several requests each: `ragstone truth estimate RUN` computes weighted means"
        if waiting := sum(_waits(self._by_id[name]) for name in self._met):
            yield (
                f"{waiting:,} of {len(self._met):,} cases of {truth} have only proposed references or facts, which do not "
                "count until they are accepted: `ragstone view` shows the queue"
            )
        samples = counts["by_id"] + counts["by_question"] + counts["samples_without_case"]
        if lone := counts["samples_without_case"]:
            yield f"{lone:,} of {samples:,} samples have no case in {truth}: they have no ground truth"
        if shared := self._how["shared_questions"]:
            yield f"{shared:,} of them share a question with others; conversations match by id only, such as c7#2"
        if unused := counts["cases_without_sample"]:
            names = [" ".join(name.split())[:40] for name in self._by_id if name not in self._met]
            some = ", ".join(names[:3]) + ", …" * (unused > 3)
            yield f"{unused:,} of {len(self._by_id):,} cases of {truth} have no sample: {some}"
        if other := counts["asked_otherwise"]:
            yield (
                f"{other:,} sample{'s' if other != 1 else ''} joined by id although the question differs in {truth}; "
                "if the ids do not match, remove them from the data"
            )

    def _count(self, how: str, case: Case) -> Case:
        self._how[how] += 1
        self._met.add(case.id)
        return case


def _waits(case: Case) -> bool:
    """Whether a case has a proposed answer or proposed facts, and nothing accepted."""
    proposed = case.has_proposed_answer or any(fact.standing == "proposed" for fact in case.facts)
    return proposed and not case.accepted_facts and not case.accepted_references


def _join_batch(batch: pa.RecordBatch, matcher: CaseMatcher) -> pa.RecordBatch:
    """The samples of a batch with the ground truth of their cases."""
    names = ("id", "question", "documents", "references", "metadata", "history")
    absent = [None] * batch.num_rows  # in runs of earlier versions
    old = {name: batch.column(name).to_pylist() if name in batch.schema.names else absent for name in names}
    # The question of several conversations does not match alone.
    asked = Counter(question for question, _ in set(zip(old["question"], map(str, old["history"]), strict=True)))
    keys = zip(old["id"], old["question"], old["documents"], strict=True)
    cases = [matcher.find(*key, asked[key[1]] > 1) for key in keys]
    truth = samples_table([Sample("") if case is None else case.as_sample() for case in cases])
    new = {name: truth.column(name).to_pylist() for name in names[2:5]}
    columns = {name: truth.column(name).combine_chunks() for name in TRUTH_FIELDS}
    pairs = {name: list(zip(new[name], old[name], strict=True)) for name in new}
    merged = {"documents": [ours or own for ours, own in pairs["documents"]]}
    merged["metadata"] = [_merge_json(*pair) for pair in pairs["metadata"]]
    columns |= {name: pa.array(values, batch.schema.field(name).type) for name, values in merged.items()}
    changed = [ours != own for ours, own in pairs["references"]]
    for name in _REFERENCE_EVIDENCE:
        if name in batch.schema.names:
            own = batch.column(name)
            columns[name] = pc.if_else(pa.array(changed), pa.nulls(len(own), own.type), own)
    arrays = [columns.get(field.name, batch.column(field.name)) for field in batch.schema]
    return pa.RecordBatch.from_arrays(arrays, schema=batch.schema)


def _merge_json(ours: str | None, own: str | None) -> str | None:
    """The metadata of case and sample; the sample wins, except for the weight."""
    if ours is None or own is None:
        return ours or own
    case, sample = json.loads(ours), json.loads(own)
    return canonical_json({**case, **sample, **({WEIGHT: case[WEIGHT]} if WEIGHT in case else {})})


def _same_documents(cases: Sequence[Case], documents: frozenset[str]) -> list[Case]:
    """The cases about the same documents; if one side names none, only a single case matches."""
    exact = [case for case in cases if frozenset(case.documents) == documents]
    if exact:
        return exact
    open_ended = [case for case in cases if not case.documents or not documents]
    return open_ended if len(open_ended) == 1 else []


def rescore_with_truth(
    run: Run, version: Version, out: str | Place | None = None, *, name: str = "", progress: Report = silent
) -> Run:
    """Scores the answers of a stored run against a version of ground truth, as a new run.

    Stored model output is used if its input has not changed. Other cells are skipped as out of date. The new run's info
    names the original run and the ground truth.
    """
    return rescore(run, TruthReader(StoredReader(run), version), out, name=name, progress=progress)


def count_outdated(run: Run) -> dict[str, int]:
    """The number of cells per metric that need new model calls."""
    reasons = run.scores["reason"].cast("string")
    scores = run.scores.filter(pc.fill_null(pc.is_in(reasons, pa.array([OUT_OF_DATE, NEVER_MADE])), fill_value=False))
    return {item["values"]: item["counts"] for item in pc.value_counts(scores["metric"].cast("string")).to_pylist()}


def mean_before(run: Run, again: Run, metrics: Collection[str]) -> dict[str, float | None]:
    """The earlier means over the rows that still have a value, so that both means cover the same rows."""
    old, new = read_scores(run, metrics), read_scores(again, metrics)
    means: dict[str, float | None] = {}
    for metric in metrics:
        if not len(old[metric].values):  # the earlier run did not compute it
            continue
        kept = old[metric].values[(old[metric].states == OK) & (new[metric].states == OK)]
        means[metric] = float(np.mean(kept)) if len(kept) else None
    return means
