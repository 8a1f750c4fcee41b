"""Writes questions from passages in rounds: written, checked, deduplicated, answered with and without source."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from ragstone.data.types import Chunk
from ragstone.engine.execute import run_to_end
from ragstone.engine.progress import Report, silent
from ragstone.errors import UsageError
from ragstone.formats.documents import Passage
from ragstone.llm.wrappers import Call
from ragstone.truth.citations.check import CitationCheck
from ragstone.truth.llm_tasks import Work, ask_each, is_local, opened_judge
from ragstone.truth.model import Case, TruthFact
from ragstone.truth.synthesis.checks import (
    Known,
    check_citations,
    difficulty,
    find_failure,
    find_fault,
    name_difficulty,
    open_known,
)
from ragstone.truth.synthesis.question_plan import Job, Shelf, plan_jobs
from ragstone.truth.synthesis.writer import Draft, Writer

T = TypeVar("T")
R = TypeVar("R")
# At most this many times the wanted number of questions is tried.
MOST_TRIES = 3
DUPLICATE = "it asks the same as another question"


@dataclass(frozen=True)
class Covered:
    """How much of a document has questions, and the sections that have none."""

    source: str
    passages: int
    passages_used: int
    sections: int
    sections_used: int
    questions: int
    unused: list[str]


def measure_coverage(passages: Sequence[Passage], used: Iterable[Sequence[str]]) -> list[Covered]:
    """The coverage per document; `used` has the passage ids per question."""
    questions = [frozenset(ids) for ids in used]
    everything = frozenset().union(*questions)
    by_source: defaultdict[str, list[Passage]] = defaultdict(list)
    for passage in passages:
        by_source[passage.source].append(passage)
    coverage = []
    for source, of_source in by_source.items():
        ids = {passage.id for passage in of_source}
        sections = dict.fromkeys(passage.section for passage in of_source)
        reached = {passage.section for passage in of_source if passage.id in everything}
        asked = sum(bool(question & ids) for question in questions)
        unused = [section for section in sections if section not in reached]
        numbers = len(of_source), len(ids & everything), len(sections), len(reached), asked
        coverage.append(Covered(source, *numbers, unused))
    return coverage


@dataclass(frozen=True)
class Rejected:
    """A rejected draft with the reason."""

    kind: str
    question: str
    reason: str


@dataclass
class Synthesis:
    """The result: cases, rejected drafts, failed jobs, and the calls."""

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
        """Counts for the lineage of a version and for reports."""
        reasons = Counter(item.reason for item in self.rejected)
        return {
            "wanted": self.wanted,
            "tried": self.tried,
            "kept": len(self.cases),
            "rejected": len(self.rejected),
            "failed": len(self.failed),
            **{f"kind {kind}": count for kind, count in Counter(case.metadata["kind"] for case in self.cases).items()},
            **{f"rejected: {reason}": count for reason, count in reasons.most_common()},
        }


def synthesise(passages: Sequence[Passage], count: int, seed: int, work: Work, report: Report = silent) -> Synthesis:
    """Writes `count` cases from passages; fewer if too many are rejected or fail."""
    if is_local(work.judge):
        raise UsageError(
            "writing questions needs a language model: name one with --judge, such as --judge openai/gpt-4o-mini"
        )
    return run_to_end(_synthesise(list(passages), count, seed, work, report))


async def _synthesise(passages: list[Passage], count: int, seed: int, work: Work, report: Report) -> Synthesis:
    made = Synthesis(passages, count, seed)
    jobs = _Jobs(plan_jobs(passages, seed))
    known = Known() if work.quoting else open_known()
    async with opened_judge(work) as judge:
        maker = _Maker(Writer(judge), work, known, report, made)
        made.signature, made.prompts, made.compared_by = maker.writer.signature, maker.writer.prompts, known.signature
        while len(made.cases) < count and made.tried < MOST_TRIES * count:
            room = min(count - len(made.cases), MOST_TRIES * count - made.tried)
            batch = jobs.take(room)
            before = len(made.failed)
            if not batch:
                break
            await maker.make(batch)
            # The server is down or the budget is spent: more rounds would only fail.
            if len(made.failed) - before == len(batch) or work.quoting:
                break
    return made


class _Jobs:
    """Jobs in rounds without repeats, since two equal jobs would get one reply."""

    def __init__(self, jobs: Iterator[Job]) -> None:
        self._jobs = jobs
        self._waiting: list[Job] = []

    def take(self, most: int) -> list[Job]:
        """The next jobs, at most `most`, up to the first repeat."""
        taken, self._waiting = self._waiting, []
        for job in islice(self._jobs, most - len(taken)):
            if job.key in {other.key for other in taken}:
                self._waiting = [job]
                break
            taken.append(job)
        return taken


class _Maker:
    """Makes the cases round by round."""

    def __init__(self, writer: Writer, work: Work, known: Known, report: Report, made: Synthesis) -> None:
        self.writer = writer
        self._work = work
        self._known = known
        self._report = report
        self._made = made
        self._shelf = Shelf(made.passages)
        self._asked: defaultdict[str, list[str]] = defaultdict(list)

    async def make(self, jobs: Sequence[Job]) -> None:
        """Writes one question per job, and keeps those that pass."""
        self._made.tried += len(jobs)
        written = await self._ask([(_name(job), job) for job in jobs], self._write)
        for draft in written:
            for passage in draft.job.passages:
                self._asked[passage.id].append(draft.question)
        sound = [(draft, checks) for draft in written if (checks := self._sound(draft)) is not None]
        new = await self._known.add_new([draft.asked for draft, _ in sound])
        fresh = []
        for item, is_new in zip(sound, new, strict=True):
            if is_new or self._work.quoting:
                fresh.append((_name(item[0].job), item))
            else:
                self._reject(item[0], DUPLICATE)
        verdicts = await self._ask(fresh, self._try)
        for draft, checks, reason in verdicts:
            if reason and not self._work.quoting:
                self._reject(draft, reason)
            else:
                self._made.cases.append(make_case(draft, checks))

    async def _ask(self, items: Sequence[tuple[str, T]], ask: Callable[[T], Awaitable[R]]) -> list[R]:
        done = await ask_each(items, ask, self._work, self._made.calls, self._report)
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
    """A draft that passed as a proposed case, with its facts in the passages' words."""
    passages = draft.job.passages
    spans = {(check.passage, check.start, check.end): check for check in checks if check.holds}
    facts = [
        TruthFact(check.text, source=passages[check.passage or 0].source, provenance="synthetic", standing="proposed")
        for check in spans.values()
    ]
    hard = difficulty(draft, list(checks))
    digest = hashlib.sha256(f"{passages[0].id}|{draft.asked}".encode()).hexdigest()[:12]
    answerable = draft.job.kind != "unanswerable"
    return Case(
        id=f"syn-{digest}",
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
