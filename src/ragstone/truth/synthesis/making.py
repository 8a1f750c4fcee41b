"""Questions from passages, round by round until there are enough: written, checked, freed of duplicates, tried both ways."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from ragstone.data.types import Chunk
from ragstone.engine.execution import run_to_end
from ragstone.engine.progress import Report, silent
from ragstone.errors import UsageError
from ragstone.formats.documents import Passage
from ragstone.llm.recording import Call
from ragstone.truth.asking import Work, ask_each, is_local, opened_judge
from ragstone.truth.cases import Case, TruthFact
from ragstone.truth.synthesis.coverage import Covered, measure_coverage
from ragstone.truth.synthesis.duplicates import Known, open_known
from ragstone.truth.synthesis.kinds import Job
from ragstone.truth.synthesis.planning import plan_jobs
from ragstone.truth.synthesis.searching import Shelf
from ragstone.truth.synthesis.verifying import check_citations, difficulty, find_failure, find_fault, name_difficulty
from ragstone.truth.synthesis.writing import Draft, Writer
from ragstone.truth.validation import CitationCheck

T = TypeVar("T")
R = TypeVar("R")
# So many times the wanted number is tried before what is there must do.
MOST_TRIES = 3
DUPLICATE = "it asks what another one asks"


@dataclass(frozen=True)
class Rejected:
    """A draft that was not kept, and why."""

    kind: str
    question: str
    reason: str


@dataclass
class Synthesis:
    """What was made: cases, what was rejected with its reason, jobs that failed, and what it took."""

    passages: list[Passage]
    wanted: int
    seed: int
    signature: str = ""
    compared_by: str = ""
    prompts: dict[str, str] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    tried: int = 0

    @property
    def coverage(self) -> list[Covered]:
        """Which parts of the documents have questions."""
        return measure_coverage(self.passages, [[str(chunk.id) for chunk in case.passages] for case in self.cases])

    @property
    def counts(self) -> dict[str, int]:
        """For the lineage of a version and for reports."""
        reasons = Counter(item.reason for item in self.rejected)
        return {
            "wanted": self.wanted,
            "tried": self.tried,
            "kept": len(self.cases),
            "rejected": len(self.rejected),
            "failed": len(self.failed),
            **{f"kind {kind}": count for kind, count in Counter(_kind(case) for case in self.cases).items()},
            **{f"rejected: {reason}": count for reason, count in reasons.most_common()},
        }


def _kind(case: Case) -> str:
    return str(case.metadata["kind"])


def synthesise(passages: Sequence[Passage], count: int, seed: int, work: Work, told: Report = silent) -> Synthesis:
    """So many cases from passages; fewer where too much is rejected or fails."""
    if is_local(work.judge):
        raise UsageError(
            "to write questions takes a language model: name one with --judge, as in --judge openai/gpt-4o-mini"
        )
    return run_to_end(_synthesise(list(passages), count, seed, work, told))


async def _synthesise(passages: list[Passage], count: int, seed: int, work: Work, told: Report) -> Synthesis:
    made = Synthesis(passages, count, seed)
    jobs = _Jobs(plan_jobs(passages, seed))
    known = Known() if work.quoting else open_known()
    async with opened_judge(work) as judge:
        maker = _Maker(Writer(judge), work, known, told, made)
        made.signature, made.prompts, made.compared_by = maker.writer.signature, maker.writer.prompts, known.signature
        while len(made.cases) < count and made.tried < MOST_TRIES * count:
            room = min(count - len(made.cases), MOST_TRIES * count - made.tried)
            batch = jobs.take(room)
            before = len(made.failed)
            if not batch:
                break
            await maker.make(batch)
            # A server that answers nothing any more, or no money left: more rounds would bring more failures.
            if len(made.failed) - before == len(batch) or work.quoting:
                break
    return made


class _Jobs:
    """Jobs in rounds: one that has come in a round waits for the next, since two equal ones would get one reply."""

    def __init__(self, jobs: Iterator[Job]) -> None:
        self._jobs = jobs
        self._waiting: list[Job] = []

    def take(self, most: int) -> list[Job]:
        """The next ones, as many at most, until one comes again."""
        taken, self._waiting = self._waiting, []
        for job in islice(self._jobs, most - len(taken)):
            if job.key in {other.key for other in taken}:
                self._waiting = [job]
                break
            taken.append(job)
        return taken


class _Maker:
    """One round after the other."""

    def __init__(self, writer: Writer, work: Work, known: Known, told: Report, made: Synthesis) -> None:
        self.writer = writer
        self._work = work
        self._known = known
        self._told = told
        self._made = made
        self._shelf = Shelf(made.passages)
        self._asked: defaultdict[str, list[str]] = defaultdict(list)

    async def make(self, jobs: Sequence[Job]) -> None:
        """Write a question a job, and keep those that pass."""
        self._made.tried += len(jobs)
        written = await self._ask([(_name(job), job) for job in jobs], self._write)
        for draft in written:
            for passage in draft.job.passages:
                self._asked[passage.id].append(draft.question)
        sound = [(draft, checks) for draft in written if (checks := self._sound(draft)) is not None]
        new = await self._known.add_new([draft.asked for draft, _ in sound])
        fresh = []
        for (draft, checks), is_new in zip(sound, new, strict=True):
            if is_new or self._work.quoting:
                fresh.append((draft, checks))
            else:
                self._reject(draft, DUPLICATE)
        verdicts = await self._ask([(_name(draft.job), (draft, checks)) for draft, checks in fresh], self._try)
        for draft, checks, reason in verdicts:
            if reason and not self._work.quoting:
                self._reject(draft, reason)
            else:
                self._made.cases.append(make_case(draft, checks))

    async def _ask(self, items: Sequence[tuple[str, T]], ask: Callable[[T], Awaitable[R]]) -> list[R]:
        done = await ask_each(items, ask, self._work, self._made.calls, self._told)
        self._made.failed += [item.reason for item in done if item.reason is not None]
        return [item.value for item in done if item.value is not None]

    async def _write(self, job: Job) -> Draft:
        asked = dict.fromkeys(text for passage in job.passages for text in self._asked[passage.id])
        return await self.writer.write(job, list(asked))

    def _sound(self, draft: Draft) -> list[CitationCheck] | None:
        checks = check_citations(draft)
        fault = None if self._work.quoting else find_fault(draft, checks)
        if fault:
            self._reject(draft, fault)
        return None if fault else checks

    async def _try(self, item: tuple[Draft, list[CitationCheck]]) -> tuple[Draft, list[CitationCheck], str | None]:
        return (*item, await find_failure(self.writer, item[0], self._shelf))

    def _reject(self, draft: Draft, reason: str) -> None:
        self._made.rejected.append(Rejected(draft.job.kind, draft.asked, reason))


def _name(job: Job) -> str:
    return " ".join(job.key)


def make_case(draft: Draft, checks: Sequence[CitationCheck]) -> Case:
    """A draft that passed as a proposed case, its facts in the true words of the passages."""
    passages = draft.job.passages
    spans = {(check.passage, check.start, check.end): check for check in checks if check.holds}
    facts = [
        TruthFact(check.text, source=passages[check.passage or 0].source, provenance="synthetic", standing="proposed")
        for check in spans.values()
    ]
    hard = difficulty(draft, list(checks))
    answerable = draft.job.kind != "unanswerable"
    return Case(
        id=f"syn-{_digest(draft)}",
        question=draft.asked,
        references=[draft.answer] if answerable else [],
        facts=facts,
        documents=list(dict.fromkeys(passage.source for passage in passages)),
        passages=[Chunk(passage.text, passage.id, source=passage.source) for passage in passages],
        reference_contexts=[passage.text for passage in passages] if answerable else [],
        answerable=answerable,
        provenance="synthetic",
        standing="proposed",
        metadata={
            "kind": draft.job.kind,
            "difficulty": name_difficulty(hard),
            "difficulty_score": hard,
            "sections": [passage.section for passage in passages],
            **({"history": draft.history} if draft.history else {}),
        },
    )


def _digest(draft: Draft) -> str:
    """The same for the same question to the same passage."""
    return hashlib.sha256(f"{draft.job.passages[0].id}|{draft.asked}".encode()).hexdigest()[:12]
