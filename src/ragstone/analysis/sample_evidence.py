"""The samples of a run with their evidence, from the data or from the run, and with the earlier turns of their conversation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import pyarrow as pa

import ragstone.evidence_functions
import ragstone.metrics  # noqa: F401  (both register what a run may contain)
from ragstone.analysis.label_use import sample_key, with_claim_labels
from ragstone.data.codec import decoder
from ragstone.data.dataset import view_column, view_samples
from ragstone.data.schema import GIVEN_EVIDENCE
from ragstone.data.types import CheckedItem, CitedPart, Claim, Grade, Sample
from ragstone.data.verdict import ENTAILMENT, UNSURE
from ragstone.registry import CATALOGUE
from ragstone.storage.human_labels import HumanLabel, labels_of
from ragstone.storage.images import located
from ragstone.storage.places import Place
from ragstone.storage.runs import Run, read_batches, read_rows
from ragstone.text.overlap import content_stems
from ragstone.text.refusals import find_refusal

_NEEDED = ("answer_citations", "claim_citations", "answer_claims_in_contexts", "answer_claims_in_all_contexts")


# The evidence that causes are derived from; a run has some of it.
NEEDED = (
    *GIVEN_EVIDENCE,
    *("noncommittal", "declining_words", "fact_matches", "fact_ranks", "reference_matches"),
    *("answer_citations", "claim_citations"),
)


@dataclass(frozen=True)
class Case:
    """One sample with its evidence; absent evidence was not collected."""

    sample: Sample
    evidence: Mapping[str, Any] = field(default_factory=dict)
    # Whether its annotated facts are more reliable than its claims.
    by_facts: bool = False
    # Which local judge decided: the large one reads better, also where it decides what the small one is unsure of.
    judge: Literal["small", "large"] = "small"
    # What people say about the answer, and the evidence before verdicts of people replaced those of the judge.
    labels: tuple[HumanLabel, ...] = ()
    judged: Mapping[str, Any] | None = None
    # Whether causes are explained in words, with hints to chunks that are nearly right.
    words: bool = True

    @property
    def answer_is_empty(self) -> bool:
        """Whether the system returned an answer without text."""
        return self.sample.answer is not None and not self.sample.answer.strip()

    @cached_property
    def declining_words(self) -> str | None:
        """The clause of the answer that declines, as stored or found now."""
        found = self.evidence.get("declining_words")
        return found or None if found is not None else find_refusal(self.sample.answer or "")

    @cached_property
    def judged_locally(self) -> bool:
        """Whether verdicts on claims come from the local judge."""
        verdicts = [*self.verdicts("reference_claims_in_answer"), *self.verdicts("answer_claims_in_reference")]
        rows = [*self.matrix("answer_claims_in_contexts"), *self.matrix("reference_claims_in_contexts")]
        return _has_probability([verdicts, *rows])

    @cached_property
    def has_probabilities(self) -> bool:
        """Whether any verdict on a claim has a probability."""
        joint = [self.verdicts(f"{whose}_claims_in_all_contexts") for whose in ("answer", "reference")]
        return self.judged_locally or _has_probability(joint)

    def claims(self, whose: str) -> list[Claim]:
        """The claims of `answer` or `reference`."""
        claims: list[Claim] = self.evidence.get(f"{whose}_claims") or []
        return claims

    def verdicts(self, name: str) -> list[str]:
        """One verdict per claim; empty if there are none."""
        verdicts: list[str] = self.evidence.get(name) or []
        return verdicts

    def matrix(self, name: str) -> list[list[str]]:
        """One verdict per claim and chunk; empty if there are none."""
        rows: list[list[str]] = self.evidence.get(name) or []
        return rows

    def has(self, *names: str) -> bool:
        """Whether all these kinds of evidence are present."""
        return None not in map(self.evidence.get, names)


def _has_probability(rows: Iterable[Sequence[str]]) -> bool:
    # A list of all is faster than a search for the first: most rows have none.
    return bool([1 for row in rows for one in row if getattr(one, "support", None) is not None])


def trusts_facts(run: Run) -> bool:
    """Whether a run has annotated facts found by their words, while its claims come from the local judge."""
    by_judge = str((run.info.get("tools") or {}).get("matcher", "")).startswith("judge/")
    return "fact_ranks" in run.info.evidence and run.info.uses_local_judge and not by_judge


def _judge_of(run: Run) -> Literal["small", "large"]:
    checker = str((run.info.get("tools") or {}).get("checker", ""))
    return "large" if "judge-1.5b" in checker else "small"


def read_cases(run: Run, first: int = 0, end: int | None = None, words: bool = True) -> Iterator[Case]:
    """The samples of a run from row `first` to before `end` with the evidence that causes need, read in batches."""
    names = [name for name in NEEDED if name in run.info.evidence and name != "fact_matches"]
    made = {name: _stream_values(run, name, first) for name in names}
    make = _case_maker(run, words)
    samples = (pair for batch in _batches(run.folder.samples, first) for pair in _view(batch, bare=True))
    for sample, given in islice(samples, None if end is None else end - first):
        found = {name: next(values) for name, values in made.items()}
        yield make(sample, found | given)


def _case_maker(run: Run, words: bool = True) -> Callable[[Sample, Mapping[str, Any]], Case]:
    """How samples and evidence of a run become cases, with the labels of people in its store."""
    by_facts, judge, people = trusts_facts(run), _judge_of(run), labels_of(run)

    def make(sample: Sample, evidence: Mapping[str, Any]) -> Case:
        known = {name: value for name, value in evidence.items() if value is not None}
        if not people.labels:
            return Case(sample, known, by_facts, judge, words=words)
        labels = people.of_answer(sample_key(sample))
        return Case(sample, with_claim_labels(sample, known, people), by_facts, judge, labels, known, words)

    return make


def read_case(run: Run, row: int) -> Case:
    """One sample with all evidence that the run has."""
    sample, given = next(_view(run.samples.table.slice(row, 1)))
    found = {name: _decoded(name, run.evidence(name)["value"].slice(row, 1))[0] for name in run.info.evidence}
    return _case_maker(run)(sample, found | given)


def read_cases_at(run: Run, rows: Collection[int], names: Collection[str] = NEEDED) -> dict[int, Case]:
    """Some samples with the named evidence, by row number; only the row groups with these rows are read."""
    found: dict[int, dict[str, Any]] = {row: {} for row in rows}
    samples: dict[int, Sample] = {}
    for row, part in read_rows(run.folder.samples, rows):
        sample, given = next(_view(part))
        if any(chunk.image for chunk in sample.contexts or ()):
            sample = replace(sample, contexts=located(sample.contexts or (), run.info["dataset"].get("folder")))
        samples[row], found[row] = sample, given
    for name in names:
        if name in run.info.evidence:
            for row, part in read_rows(run.folder.evidence(name), rows, ["value"]):
                value = _decoded(name, part["value"])[0]
                if value is not None:
                    found[row].setdefault(name, value)
    make = _case_maker(run)
    return {row: make(samples[row], found[row]) for row in samples}


def _stream_values(run: Run, name: str, first: int) -> Iterator[Any]:
    """Evidence is stored in the order of the samples."""
    for batch in _batches(run.folder.evidence(name), first, ["value"]):
        yield from _decoded(name, batch["value"])


def _batches(place: Place, first: int, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a file from row `first`."""
    for batch in read_batches(place, columns):
        if first < len(batch):
            yield batch.slice(first)
        first = max(0, first - len(batch))


def _view(table: pa.Table | pa.RecordBatch, bare: bool = False) -> Iterator[tuple[Sample, dict[str, Any]]]:
    """Each sample with the evidence in its data, which takes precedence over evidence of the run."""
    names = [name for name in GIVEN_EVIDENCE if name in table.schema.names]
    columns = [_decoded(name, table[name]) for name in names]
    for row, sample in enumerate(view_samples(table, bare)):
        pairs = zip(names, columns, strict=True)
        yield sample, {name: column[row] for name, column in pairs if column[row] is not None}


def _decoded(name: str, column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Values as the objects that the evidence declares."""
    if name in GIVEN_EVIDENCE:
        return view_column(name, column)
    convert = decoder(_annotation(name))
    values: list[Any] = column.to_pylist()
    return [convert(value) for value in values] if convert else values


def _annotation(name: str) -> Any:
    """The type of evidence. Aspects and checklists of a user's file are known by their names where the file is not loaded."""
    if spec := CATALOGUE.evidence(name):
        return spec.annotation_of(name)
    if name.endswith("_checks"):
        return list[CheckedItem]
    return Grade if "_grade" in name else None


@dataclass(frozen=True)
class EarlierTurn:
    """A message before the question, with the numbers of the answer claims that it supports."""

    number: int
    role: str
    text: str
    chunks: int
    claims: tuple[int, ...]


def earlier_turns(case: Case) -> list[EarlierTurn]:
    """The turns in order; empty without a conversation."""
    behind = {number: turn_behind(case, number) for number in range(1, len(case.claims("answer")) + 1)}
    return [
        EarlierTurn(
            number,
            turn.role,
            turn.text,
            len(turn.contexts or ()),
            tuple(claim for claim, place in behind.items() if place == number),
        )
        for number, turn in enumerate(case.sample.history or (), start=1)
    ]


def turn_behind(case: Case, claim: int) -> int | None:
    """The turn that has most words of an answer claim (both from 1), or whose chunks have; None if no turn supports it.

    The judge reads all turns as one text, so the turn is found by its words.
    """
    verdicts, turns = case.verdicts("answer_claims_in_history"), case.sample.history or []
    if claim > len(verdicts) or verdicts[claim - 1] != ENTAILMENT or not turns:
        return None
    wanted = content_stems(case.claims("answer")[claim - 1].text)
    texts = [[turn.text, *(chunk.text for chunk in turn.contexts or ())] for turn in turns]
    common = [max(len(wanted & content_stems(text)) for text in some) for some in texts]
    return common.index(max(common)) + 1


def standalone_question(case: Case) -> str | None:
    """The question as it was completed from the conversation; None if it was not changed."""
    completed = case.evidence.get("standalone_question")
    return None if completed is None or completed == case.sample.question else str(completed)


@dataclass(frozen=True)
class CitedClaim:
    """The citations of a claim: the ranks of the cited chunks, and whether they are right."""

    tone: Literal["good", "bad", "unsure", "silent"]
    # `cites chunk 2, but chunk 1 supports it`
    words: str
    ranks: tuple[int, ...]


def cited_claims(case: Case) -> list[CitedClaim]:
    """One entry per claim of the answer; none if citations were not read."""
    if not case.has(*_NEEDED):
        return []
    citations: Sequence[CitedPart] = case.evidence["answer_citations"]
    together = case.verdicts("answer_claims_in_all_contexts")
    rows = zip(case.matrix("answer_claims_in_contexts"), case.evidence["claim_citations"], together, strict=True)
    return [_describe(row, [citations[one] for one in cited], joint) for row, cited, joint in rows]


def _describe(row: Sequence[str], cited: Sequence[CitedPart], together: str) -> CitedClaim:
    if not cited:
        return CitedClaim("silent", "cites nothing", ())
    ranks = tuple(dict.fromkeys(chunk + 1 for one in cited for chunk in one.chunks))
    cites = f"cites {' and '.join(filter(None, [_chunks(ranks), _unknown(cited)]))}"
    right = [rank for rank in ranks if row[rank - 1] == ENTAILMENT]
    if right:
        needless = [rank for rank in ranks if rank not in right and not _shares_citation(rank, right, cited)]
        return CitedClaim("good", f"{cites}{f', {_chunks(needless)} needlessly' if needless else ''}", ranks)
    if len(ranks) > 1 and together == ENTAILMENT and ENTAILMENT not in row:
        return CitedClaim("good", f"{cites}, which support it together", ranks)
    if others := [rank for rank, word in enumerate(row, 1) if word == ENTAILMENT]:
        verb = "supports" if len(others) == 1 else "support"
        return CitedClaim("bad", f"{cites}, but {_chunks(others)} {verb} it", ranks)
    if any(row[rank - 1] == UNSURE for rank in ranks):
        return CitedClaim("unsure", f"{cites}, which may support it", ranks)
    return CitedClaim("bad", f"{cites}; no chunk supports it", ranks)


def _shares_citation(rank: int, right: Sequence[int], cited: Sequence[CitedPart]) -> bool:
    """Whether a right chunk belongs to the same citation: several chunks may have the cited source."""
    return any(rank - 1 in one.chunks and any(other - 1 in one.chunks for other in right) for one in cited)


def citation_texts(case: Case) -> list[str]:
    """Each citation in words: the mark in the answer, and its chunks."""
    return [
        f"{one.name} ({_chunks([chunk + 1 for chunk in one.chunks]) or 'not retrieved'})"
        for one in case.evidence.get("answer_citations") or ()
    ]


def _unknown(cited: Sequence[CitedPart]) -> str:
    """The marks of citations that name nothing that was retrieved."""
    marks = list(dict.fromkeys(one.name[:40] for one in cited if not one.chunks))
    return f"{', '.join(marks)}, which was not retrieved" if marks else ""


def _chunks(ranks: Sequence[int]) -> str:
    if len(ranks) < 2:
        return f"chunk {ranks[0]}" if ranks else ""
    return f"chunks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"
