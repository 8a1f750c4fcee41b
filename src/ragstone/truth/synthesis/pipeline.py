"""Writes questions from passages in rounds: written, checked, deduplicated, answered with and without source."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ragstone.data.types import Chunk
from ragstone.engine.execute import run_to_end
from ragstone.engine.progress import Report, silent
from ragstone.errors import UsageError
from ragstone.formats.documents import Passage
from ragstone.llm.wrappers import Call
from ragstone.text.overlap import content_words
from ragstone.truth.citations.check import CitationCheck, check_citation
from ragstone.truth.llm_tasks import Work, ask_each, is_local, opened_judge
from ragstone.truth.model import Case, TruthFact
from ragstone.truth.synthesis.writer import Draft, Job, Shelf, Writer, is_row, plan_jobs

if TYPE_CHECKING:
    from ragstone.models.embedders import LocalEmbedder

T = TypeVar("T")
R = TypeVar("R")
# At most this many times the wanted number of questions is tried.
MOST_TRIES = 3
DUPLICATE = "it asks the same as another question"

# A paraphrase may share at most this much of the passage's words.
MOST_SHARED = 0.5
# The number of other passages with which an unanswerable question is tried.
NEAREST = 5
_MENTIONS = re.compile(
    r"\b(?:passages?|excerpts?|snippets?)\b|\b(?:the|this|these|given|provided|above) (?:text|document|context|article)s?\b"
    r"|according to (?:the|this) |\b(?:im|dem|diesem) (?:Text|Dokument|Abschnitt)\b|(?:文中|本文|上文|这段)",
    re.IGNORECASE,
)
_LEAST = {"several": 2, "comparison": 2}
# Share of common words, and cosine, from which two questions are duplicates.
SAME_WORDS = 0.8
SAME_MEANING = 0.92


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
            if job in taken:
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
        written = await self._ask([(" ".join(job.key), job) for job in jobs], self._write)
        for draft in written:
            for passage in draft.job.passages:
                self._asked[passage.id].append(draft.question)
        sound = [(draft, checks) for draft in written if (checks := self._sound(draft)) is not None]
        new = await self._known.add_new([draft.asked for draft, _ in sound])
        fresh = []
        for item, is_new in zip(sound, new, strict=True):
            if is_new or self._work.quoting:
                fresh.append((" ".join(item[0].job.key), item))
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


def check_citations(draft: Draft) -> list[CitationCheck]:
    """Checks each citation once against the passages."""
    texts = [passage.text for passage in draft.job.passages]
    return [check_citation(text, texts) for text in dict.fromkeys(draft.citations)]


def find_fault(draft: Draft, checks: list[CitationCheck]) -> str | None:
    """Why a draft is rejected before the model is asked; None if it is well-formed."""
    if not content_words(draft.question):
        return "no question"
    if _MENTIONS.search(draft.question):
        return "it mentions its source text"
    if draft.job.kind == "conversational" and not draft.history:
        return "a conversational question without an earlier one"
    if draft.job.kind == "unanswerable":
        return "an unanswerable question with an answer" if draft.answer or draft.citations else None
    if not draft.answer:
        return "no answer"
    return _fault_of_citations(draft, checks)


def _fault_of_citations(draft: Draft, checks: list[CitationCheck]) -> str | None:
    if not checks:
        return "no citation"
    if fallen := [check for check in checks if not check.holds]:
        return f"a citation is not in the passages: {fallen[0].verdict}"
    if len({(check.passage, check.start) for check in checks}) < _LEAST.get(draft.job.kind, 1):
        return f"fewer facts than '{draft.job.kind}' needs"
    if draft.job.kind == "comparison" and len({check.passage for check in checks}) < len(draft.job.passages):
        return "a comparison that needs only one of its passages"
    if draft.job.kind == "table" and not any(is_row(check.text) or _is_in_row(draft, check) for check in checks):
        return "no row of the table is cited"
    if draft.job.kind == "paraphrase" and _share_of_words(draft, checks) > MOST_SHARED:
        return "it repeats the words of the passage"
    return None


def _is_in_row(draft: Draft, check: CitationCheck) -> bool:
    text, start = draft.job.passages[check.passage or 0].text, check.start or 0
    end = text.find("\n", start)
    return is_row(text[text.rfind("\n", 0, start) + 1 : end if end >= 0 else len(text)])


def _share_of_words(draft: Draft, checks: list[CitationCheck]) -> float:
    """The share of the question's words that its citations contain; names and numbers do not count."""
    asked = {word.lower() for word in re.findall(r"(?<!^)\b[A-Z]\w+|\d+", draft.question)}
    wanted = content_words(draft.question) - asked
    there = {word for check in checks for word in content_words(check.text)}
    return len(wanted & there) / len(wanted) if wanted else 0.0


async def find_failure(writer: Writer, draft: Draft, shelf: Shelf) -> str | None:
    """Why a draft fails the round trip: only with its source must the model answer it; None if it passes.

    An unanswerable question is also tried with the nearest passages of all documents.
    """
    if draft.job.kind == "unanswerable":
        reply = await writer.answer(draft, shelf.find(draft.asked, NEAREST))
        return "the documents answer an unanswerable question" if reply.answerable else None
    reply = await writer.answer(draft)
    if not reply.answerable or not reply.answer.strip():
        return "its source does not answer it"
    if not await writer.agrees(draft, reply.answer):
        return "its source gives another answer"
    alone = await writer.remember(draft)
    if alone.answerable and alone.answer.strip() and await writer.agrees(draft, alone.answer):
        return "the model answers it without its source"
    return None


def difficulty(draft: Draft, checks: list[CitationCheck]) -> float:
    """From 0 (easy) to 1 (hard): by the distance between question and source, and the facts and passages needed."""
    if draft.job.kind == "unanswerable":
        return 1.0
    distance = 1 - _share_of_words(draft, checks)
    facts = min(len(checks) - 1, 2) / 2
    return round(0.5 * distance + 0.25 * facts + 0.15 * (len(draft.job.passages) > 1) + 0.1 * bool(draft.history), 3)


def name_difficulty(value: float) -> str:
    """The difficulty as a word."""
    return "easy" if value < 1 / 3 else "medium" if value < 2 / 3 else "hard"


class Known:
    """The accepted questions so far."""

    def __init__(self, embedder: LocalEmbedder | None = None) -> None:
        self._embedder = embedder
        self._words: list[frozenset[str]] = []
        self._vectors: list[np.ndarray] = []

    @property
    def signature(self) -> str:
        """How questions are compared."""
        return f"words:{SAME_WORDS:g}" + (f"+minilm:{SAME_MEANING:g}" if self._embedder else "")

    async def add_new(self, questions: Sequence[str]) -> list[bool]:
        """Whether each question is new, in order; new ones are added."""
        vectors = await self._embedder.embed(questions) if self._embedder and questions else None
        return [self._add(text, None if vectors is None else vectors[place]) for place, text in enumerate(questions)]

    def _add(self, text: str, vector: np.ndarray | None) -> bool:
        words = content_words(text)
        if any(len(words & other) >= SAME_WORDS * len(words | other) for other in self._words):
            return False
        if vector is not None:
            unit = vector / max(float(np.linalg.norm(vector)), 1e-9)
            if any(float(unit @ other) >= SAME_MEANING for other in self._vectors):
                return False
            self._vectors.append(unit)
        self._words.append(words)
        return True


def open_known() -> Known:
    """An empty set of questions, with the local embedding model if it is installed."""
    from ragstone.models.embedders import LocalEmbedder, find_minilm  # noqa: PLC0415  (reads a model)

    minilm = find_minilm()
    return Known(LocalEmbedder(minilm) if minilm else None)
