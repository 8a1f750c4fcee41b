"""Facts from answers that are known to be good: the citations that each answer needs, every one held against its passages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragstone.data.types import Chunk
from ragstone.engine.execution import run_to_end
from ragstone.engine.progress import Report, silent
from ragstone.llm.recording import Call
from ragstone.truth.asking import Done, Work, ask_each, is_local, opened_judge
from ragstone.truth.cases import Case, TruthFact
from ragstone.truth.checking import Held, count_verdicts, passages_of
from ragstone.truth.citers import Citer, JudgeCiter
from ragstone.truth.validation import CitationCheck, check_citation


@dataclass(frozen=True)
class Checked:
    """A citation as it was named, and what the validator says of it."""

    citation: str
    check: CitationCheck


@dataclass(frozen=True)
class Extracted:
    """What was found for one case: all citations with their checks, and the facts that they leave."""

    case: Case
    checked: list[Checked]
    facts: list[TruthFact]

    @property
    def repeated(self) -> int:
        """Citations that stand, within others that stand."""
        return sum(item.check.holds for item in self.checked) - len(self.facts)


@dataclass(frozen=True)
class Extraction:
    """What was found for all cases; who found it, by which prompts, and what it took."""

    found: list[Extracted]
    # Cases that nobody was asked about, and cases for which there was no reply: the reason of each.
    skipped: dict[str, str]
    failed: dict[str, str]
    signature: str
    prompts: dict[str, str]
    calls: list[Call]

    @property
    def held(self) -> Held:
        """How many citations there are, and how many stand or were repaired."""
        return count_verdicts(item.check for row in self.found for item in row.checked)

    @property
    def counts(self) -> dict[str, int]:
        """For the lineage of a version and for reports."""
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
            "repeated": sum(row.repeated for row in self.found),
            "facts": sum(len(row.facts) for row in self.found),
        }


def extract(cases: Sequence[Case], work: Work, told: Report = silent) -> Extraction:
    """The citations that the answers of cases need; by a language model, or by models on this machine."""
    return run_to_end(_extract(cases, work, told))


async def _extract(cases: Sequence[Case], work: Work, told: Report) -> Extraction:
    if is_local(work.judge):
        from ragstone.truth.local_citer import open_local_citer  # noqa: PLC0415  (reads models)

        return await extract_with(open_local_citer(), cases, work, told, {})
    async with opened_judge(work) as judge:
        citer = JudgeCiter(judge)
        return await extract_with(citer, cases, work, told, citer.prompts)


async def extract_with(
    citer: Citer, cases: Sequence[Case], work: Work, told: Report, prompts: dict[str, str]
) -> Extraction:
    """The same with a citer of one's own."""
    skipped = {case.id: reason for case in cases if (reason := _lack(case))}
    asked = [case for case in cases if case.id not in skipped]
    calls: list[Call] = []

    async def ask(case: Case) -> Extracted:
        texts = [passage.text for passage in passages_of(case)]
        return check_all(case, await citer.citations(case.question, "\n".join(case.references), texts))

    done: list[Done[Extracted]] = await ask_each([(case.id, case) for case in asked], ask, work, calls, told)
    failed = {case.id: item.reason for case, item in zip(asked, done, strict=True) if item.reason is not None}
    found = [item.value for item in done if item.value is not None]
    return Extraction(found, skipped, failed, citer.signature, prompts, calls)


def _lack(case: Case) -> str | None:
    if not case.question:
        return "no question"
    if case.answerable is False:
        return "the documents do not hold the answer"
    if not any(text.strip() for text in case.references):
        return "no answer and no reference"
    return None if any(passage.text.strip() for passage in passages_of(case)) else "no contexts"


def check_all(case: Case, citations: Sequence[str]) -> Extracted:
    """Each citation once, held against the passages; what stands becomes a proposed fact in its true words."""
    passages = passages_of(case)
    texts = [passage.text for passage in passages]
    checked = [Checked(text, check_citation(text, texts)) for text in dict.fromkeys(map(str.strip, citations))]
    facts = [_as_fact(item, passages) for item in checked if item.check.holds and not _is_within_another(item, checked)]
    return Extracted(case, checked, facts)


def _is_within_another(item: Checked, others: Sequence[Checked]) -> bool:
    """Whether another citation covers the same words; of two that cover each other the first counts."""
    for place, other in enumerate(others):
        if other is item or not other.check.holds or other.check.passage != item.check.passage:
            continue
        ours, theirs = _span(item), _span(other)
        if theirs[0] <= ours[0] and ours[1] <= theirs[1] and (ours != theirs or place < others.index(item)):
            return True
    return False


def _span(item: Checked) -> tuple[int, int]:
    return item.check.start or 0, item.check.end or 0


def _as_fact(item: Checked, passages: Sequence[Chunk]) -> TruthFact:
    passage = passages[item.check.passage or 0]
    note = f"repaired from '{item.citation}'" if item.check.verdict == "repaired" else None
    source = passage.source or passage.id
    return TruthFact(item.check.text, source=source, provenance="judge", standing="proposed", note=note)


def add_facts(earlier: Sequence[Case], found: Extraction, cases: Sequence[Case]) -> list[Case]:
    """The earlier cases with the facts that they lacked, then the cases that are new; no fact that is there is touched.

    A case without passages gets those that its facts were found in: nobody could check them otherwise.
    """
    rows = {row.case.id: row for row in found.found}
    known = {case.id for case in earlier}
    everything = [*earlier, *(case for case in cases if case.id not in known)]
    return [_with_facts(case, rows[case.id]) if case.id in rows else case for case in everything]


def count_new(earlier: Sequence[Case], found: Extraction, cases: Sequence[Case]) -> int:
    """How many of the facts found are in no case yet: only they are proposed now."""
    there = {case.id: case.facts for case in (*cases, *earlier)}
    return sum(len(_joined(there[row.case.id], row.facts)) - len(there[row.case.id]) for row in found.found)


def _with_facts(case: Case, row: Extracted) -> Case:
    passages = case.passages if passages_of(case) or not row.facts else passages_of(row.case)
    return replace(case, facts=_joined(case.facts, row.facts), passages=passages)


def _joined(there: list[TruthFact], new: Sequence[TruthFact]) -> list[TruthFact]:
    texts = {fact.text for fact in there}
    return [*there, *(fact for fact in new if fact.text not in texts)]


def count_reasons(reasons: dict[str, str]) -> list[tuple[str, int]]:
    """Each reason with how many cases have it, the most frequent first."""
    return Counter(reasons.values()).most_common()
