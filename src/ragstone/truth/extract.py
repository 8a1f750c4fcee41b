"""Extracts facts from good answers: the citations that support each answer, checked against the passages.

A citation becomes a proposed fact if it is in the passages and supports the answer: the first does not imply the second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragstone.data.types import Chunk
from ragstone.engine.execute import run_to_end
from ragstone.engine.progress import Report, silent
from ragstone.llm.wrappers import Call
from ragstone.text.words import FoldedText
from ragstone.truth.citations.check import CitationCheck, Held, check_citation, count_verdicts, passages_of
from ragstone.truth.citers import NAMED, Citer, JudgeCiter, Support, open_local_citer
from ragstone.truth.llm_tasks import Done, Work, ask_each, is_local, opened_judge
from ragstone.truth.model import Case, TruthFact

# The end of a title in front of a fact.
_TITLE_END = re.compile(r"\n|[:|]\s|\s[-–—]\s|^#+\s")


@dataclass(frozen=True)
class Checked:
    """A citation with its check."""

    citation: str
    check: CitationCheck
    support: Support = NAMED

    @property
    def kept(self) -> bool:
        """Whether it is in the passages and supports the answer."""
        return self.check.holds and self.support.supports


@dataclass(frozen=True)
class Extracted:
    """The result for one case: all citations with their checks, and the facts that remain."""

    case: Case
    checked: list[Checked]
    facts: list[TruthFact]

    @property
    def repeated(self) -> int:
        """The number of kept citations that are inside other kept ones."""
        return sum(item.kept for item in self.checked) - len(self.facts)


@dataclass(frozen=True)
class Extraction:
    """The result for all cases, with the citer's signature, its prompts and its calls."""

    found: list[Extracted]
    # The reason per case that was not asked about, and per case without a reply.
    skipped: dict[str, str]
    failed: dict[str, str]
    signature: str
    prompts: dict[str, str]
    calls: list[Call]

    @property
    def held(self) -> Held:
        """The number of citations per verdict."""
        return count_verdicts(item.check for row in self.found for item in row.checked)

    @property
    def supporting(self) -> int | None:
        """The number of citations in the documents that support the answer; None if that was not measured."""
        held = [item for row in self.found for item in row.checked if item.check.holds]
        measured = all(item.support.sure is not None for item in held)
        return sum(item.kept for item in held) if held and measured else None

    @property
    def counts(self) -> dict[str, int]:
        """Counts for the lineage of a version and for reports."""
        held = self.held
        return {
            "cases": len(self.found) + len(self.skipped) + len(self.failed),
            "skipped": len(self.skipped),
            "failed": len(self.failed),
            "citations": held.checked,
            "kept": held.stands,
            "repaired": held.repaired,
            "dropped_absent": held.absent,
            "dropped_invalid": held.invalid,
            "dropped_unsupported": 0 if self.supporting is None else held.held - self.supporting,
            "repeated": sum(row.repeated for row in self.found),
            "facts": sum(len(row.facts) for row in self.found),
        }

    def count_new(self, earlier: Sequence[Case], cases: Sequence[Case]) -> int:
        """The number of facts that no case has yet; only these are proposed."""
        there = {case.id: case.facts for case in (*cases, *earlier)}
        return sum(len(_joined(there[row.case.id], row.facts)) - len(there[row.case.id]) for row in self.found)


def extract(cases: Sequence[Case], work: Work, report: Report = silent) -> Extraction:
    """Extracts the citations for the answers of cases, with a language model or with local models."""
    return run_to_end(_extract(cases, work, report))


async def _extract(cases: Sequence[Case], work: Work, report: Report) -> Extraction:
    if is_local(work.judge):
        return await extract_with(open_local_citer(), cases, work, report, {})
    async with opened_judge(work) as judge:
        citer = JudgeCiter(judge)
        return await extract_with(citer, cases, work, report, citer.prompts)


async def extract_with(
    citer: Citer, cases: Sequence[Case], work: Work, report: Report, prompts: dict[str, str]
) -> Extraction:
    """Extracts with a given citer."""
    skipped = {case.id: reason for case in cases if (reason := _lack(case))}
    asked = [case for case in cases if case.id not in skipped]
    calls: list[Call] = []

    async def ask(case: Case) -> Extracted:
        texts = [passage.text for passage in passages_of(case)]
        answer = "\n".join(case.references)
        citations = list(dict.fromkeys(map(str.strip, await citer.citations(case.question, answer, texts))))
        return check_all(case, citations, await citer.support(case.question, answer, citations))

    done: list[Done[Extracted]] = await ask_each([(case.id, case) for case in asked], ask, work, calls, report)
    failed = {case.id: item.reason for case, item in zip(asked, done, strict=True) if item.reason is not None}
    found = [item.value for item in done if item.value is not None]
    return Extraction(found, skipped, failed, citer.signature, prompts, calls)


def _lack(case: Case) -> str | None:
    if not case.question:
        return "no question"
    if case.answerable is False:
        return "the documents do not contain the answer"
    if not any(text.strip() for text in case.references):
        return "no answer and no reference"
    return None if any(passage.text.strip() for passage in passages_of(case)) else "no contexts"


def check_all(case: Case, citations: Sequence[str], support: Sequence[Support] | None = None) -> Extracted:
    """Checks each citation once; those that are in the passages and support the answer become proposed facts."""
    passages = passages_of(case)
    texts = [passage.text for passage in passages]
    supports = dict(zip(map(str.strip, citations), support or [NAMED] * len(citations), strict=True))
    checked = [Checked(text, check_citation(text, texts), support) for text, support in supports.items()]
    kept = [item for item in checked if item.kept]
    return Extracted(case, checked, [_as_fact(item, passages) for item in kept if not _is_within_another(item, kept)])


def _is_within_another(item: Checked, others: Sequence[Checked]) -> bool:
    """Whether another citation covers the same words; of two equal ones, the first counts."""
    ours = item.check
    for position, other in enumerate(others):
        theirs = other.check
        if other is item or not theirs.holds or theirs.passage != ours.passage:
            continue
        covers = (theirs.start or 0) <= (ours.start or 0) and (ours.end or 0) <= (theirs.end or 0)
        same = (theirs.start, theirs.end) == (ours.start, ours.end)
        if covers and (not same or position < others.index(item)):
            return True
    return False


def _as_fact(item: Checked, passages: Sequence[Chunk]) -> TruthFact:
    passage = passages[item.check.passage or 0]
    note = f"repaired from '{item.citation}'" if item.check.verdict == "repaired" else None
    source = passage.source or passage.id
    sure = item.support.sure
    return TruthFact(item.check.text, "citation", source, "judge", "proposed", confidence=sure, note=note)


def add_facts(earlier: Sequence[Case], found: Extraction, cases: Sequence[Case]) -> list[Case]:
    """The earlier cases with the facts that they lacked, then the new cases; existing facts stay unchanged.

    A case without passages gets those in which its facts were found, so that they can be checked.
    """
    rows = {row.case.id: row for row in found.found}
    known = {case.id for case in earlier}
    everything = [*earlier, *(case for case in cases if case.id not in known)]
    return [_with_facts(case, rows[case.id]) if case.id in rows else case for case in everything]


def _with_facts(case: Case, row: Extracted) -> Case:
    passages = case.passages if passages_of(case) or not row.facts else passages_of(row.case)
    return replace(case, facts=_joined(case.facts, row.facts), passages=passages)


def _joined(there: list[TruthFact], new: Sequence[TruthFact]) -> list[TruthFact]:
    """The facts with those that are new: in other words, and not an existing one with or without a title in front."""
    known = {FoldedText(fact.text).folded for fact in there}
    titled = {key for fact in there for key in _untitled(fact.text)}
    return [
        *there,
        *(
            fact
            for fact in new
            if FoldedText(fact.text).folded not in known | titled and known.isdisjoint(_untitled(fact.text))
        ),
    ]


def _untitled(text: str) -> set[str]:
    """The folded text without a possible title in front of it."""
    return {FoldedText(text[end.end() :]).folded for end in _TITLE_END.finditer(text)} - {FoldedText("").folded}
