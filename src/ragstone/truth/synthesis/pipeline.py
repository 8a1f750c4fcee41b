"""Makes questions from passages in rounds: written or extracted, checked, deduplicated, and tried."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from pydantic import BaseModel

from ragstone.data.types import Chunk
from ragstone.engine.evaluate import unheard
from ragstone.engine.execute import run_to_end
from ragstone.engine.progress import Report, silent
from ragstone.errors import UsageError
from ragstone.formats.documents import Passage
from ragstone.llm.prompted import Judge
from ragstone.llm.prompts import Prompt
from ragstone.llm.prompts.fence import Data
from ragstone.llm.wrappers import Call
from ragstone.text.languages import guess_language
from ragstone.text.overlap import content_words
from ragstone.truth.citations.check import CitationCheck, check_citation
from ragstone.truth.llm_tasks import Work, ask_each, is_local, opened_judge
from ragstone.truth.model import Case, TruthFact
from ragstone.truth.synthesis.extraction import RuleWriter
from ragstone.truth.synthesis.question_rules import orders_a_model
from ragstone.truth.synthesis.writer import NEED_BOTH, Draft, Job, Order, Writer, is_row
from ragstone.truth.work_journal import WorkJournal, open_journal

if TYPE_CHECKING:
    from ragstone.models.embedders import LocalEmbedder

T = TypeVar("T")
R = TypeVar("R")
M = TypeVar("M", bound=BaseModel)
LABELS = ("kind", "style", "difficulty", "written_by")
DUPLICATE = "it asks the same as another question"

# A paraphrase may share at most this much of the passage's words.
MOST_SHARED = 0.5
_MENTIONS = re.compile(
    r"\b(?:passages?|excerpts?|snippets?)\b|\b(?:the|this|these|given|provided|above) (?:text|document|context|article)s?\b"
    r"|according to (?:the|this) |\b(?:im|dem|diesem) (?:Text|Dokument|Abschnitt)\b|(?:文中|本文|上文|这段)",
    re.IGNORECASE,
)
_LEAST = dict.fromkeys(("several", *NEED_BOTH), 2)
# What was checked before a case is proposed: by rules, and by a model.
_CHECKED = (
    defaultdict(
        lambda: "checked by words: no other sentence of the documents competes with its answer",
        unanswerable="checked by words: no sentence has the changed detail and half of the other words",
        **dict.fromkeys(NEED_BOTH, "checked by words: neither document alone has both facts"),
    ),
    defaultdict(
        lambda: "the model answers it with its source and not without",
        unanswerable="the model does not answer it from the nearest passages",
        distracting="the model answers it with its source, and otherwise from the distracting passage alone",
        **dict.fromkeys(NEED_BOTH, "the model answers it from both passages, and from neither document alone"),
    ),
)
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
    order: Order
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
        # The passage that distracts is not asked about.
        needed = (case.passages[:1] if case.metadata["kind"] == "distracting" else case.passages for case in self.cases)
        return measure_coverage(self.passages, [[str(chunk.id) for chunk in chunks] for chunks in needed])

    def count(self, label: str) -> Counter[str]:
        """The number of cases per kind, style or difficulty."""
        return Counter(str(case.metadata[label]) for case in self.cases)

    @property
    def counts(self) -> dict[str, int]:
        """Counts for the lineage of a version and for reports."""
        reasons = Counter(item.reason for item in self.rejected)
        return {
            "wanted": self.order.count,
            "tried": self.tried,
            "kept": len(self.cases),
            "rejected": len(self.rejected),
            "failed": len(self.failed),
            **{f"{label} {name}": count for label in LABELS for name, count in self.count(label).items()},
            "documents": len(self.coverage),
            "documents with a question": sum(item.questions > 0 for item in self.coverage),
            "topics": sum(item.sections for item in self.coverage),
            "topics with a question": sum(item.sections_used for item in self.coverage),
            **{f"rejected: {reason}": count for reason, count in reasons.most_common()},
        }


@dataclass(frozen=True)
class Resumable:
    """The journal of a synthesis: a local file, or None, and whether to continue from it."""

    path: str | None = None
    resume: bool = False
    note: Callable[[str], object] = unheard


def synthesise(
    passages: Sequence[Passage],
    order: Order,
    work: Work,
    report: Report = silent,
    kept: Resumable = Resumable(),  # noqa: B008  (immutable)
) -> Synthesis:
    """Makes the ordered cases from passages; fewer if too many are rejected or fail.

    With a language model they are written, with the local judge they are extracted by rules.
    """
    if not is_local(work.judge):
        path, resume = (None, False) if work.quoting else (kept.path, kept.resume)
        # Around the event loop, because an interrupt ends the loop first.
        with open_journal(path, {"synthesis": 1}, resume, kept.note) as journal:
            made = run_to_end(_write_all(list(passages), order, work, report, journal))
            journal.is_finished = not made.failed
        return made
    if order.language is not None:
        raise UsageError(
            "writing in another language needs a language model: name one with --judge, such as openai/gpt-4o-mini"
        )
    return run_to_end(_extract_all(list(passages), order, work, report))


async def _write_all(
    passages: list[Passage], order: Order, work: Work, report: Report, journal: WorkJournal
) -> Synthesis:
    async with opened_judge(work) as judge:
        writer = Writer(JournalledJudge(judge, journal), passages, order)
        return await _make_all(writer, passages, order, work, report)


async def _extract_all(passages: list[Passage], order: Order, work: Work, report: Report) -> Synthesis:
    from ragstone.models.local_judge import Judgements, find_local_judge  # noqa: PLC0415  (reads a model)
    from ragstone.tools.local_judges import LocalChecker  # noqa: PLC0415

    judge = None if work.quoting else find_local_judge()
    checker = LocalChecker(Judgements(judge), judge.card, judge.signature) if judge else None
    return await _make_all(RuleWriter(passages, order, checker), passages, order, work, report)


async def _make_all(
    writer: Writer | RuleWriter, passages: list[Passage], order: Order, work: Work, report: Report
) -> Synthesis:
    # Rules ask alike for different cells, and do not ask for one fact twice: only equal words are duplicates.
    by_rules = isinstance(writer, RuleWriter)
    known = Known(same_words=1.0) if by_rules else Known() if work.quoting else open_known()
    made = Synthesis(passages, order, writer.signature, known.signature, writer.prompts)
    jobs, most = _Jobs(writer.jobs), writer.most_tries * order.count
    maker = _Maker(writer, work, known, report, made)
    while len(made.cases) < order.count and made.tried < most:
        batch = jobs.take(min(order.count - len(made.cases), most - made.tried))
        before = len(made.failed)
        if not batch:
            break
        await maker.make(batch)
        # The server is down or the budget is spent: more rounds would only fail.
        if len(made.failed) - before == len(batch) or work.quoting:
            break
    return made


class JournalledJudge(Judge):
    """A judge whose replies are kept in a journal; what the journal has is not asked again."""

    def __init__(self, judge: Judge, journal: WorkJournal) -> None:
        super().__init__(judge.llm, judge.prompts, judge.temperature)
        self._journal = journal

    async def ask(self, prompt: str | Prompt, kind: type[M], data: Data, guess: M, *others: Any, **options: Any) -> M:
        """The stored reply to the same prompt and data, or that of the model."""
        page = self.prompts.get(prompt) if isinstance(prompt, str) else prompt
        request = json.dumps([self.signature, page.name, page.hash, dict(data)])
        key = hashlib.blake2b(request.encode("utf-8", "replace"), digest_size=16).hexdigest()
        with suppress(ValueError, KeyError):
            return kind.model_validate(self._journal.known[key])
        reply = await super().ask(prompt, kind, data, guess, *others, **options)
        self._journal.add(key, reply.model_dump())
        return reply


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

    def __init__(self, writer: Writer | RuleWriter, work: Work, known: Known, report: Report, made: Synthesis) -> None:
        self.writer = writer
        self._work = work
        self._known = known
        self._report = report
        self._made = made
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
                self._made.cases.append(make_case(draft, checks, self._made))

    async def _ask(self, items: Sequence[tuple[str, T]], ask: Callable[[T], Awaitable[R]]) -> list[R]:
        done = await ask_each(items, ask, self._work, self._made.calls, self._report)
        self._made.failed += [item.reason for item in done if item.reason is not None]
        return [item.value for item in done if item.value is not None]

    async def _write(self, job: Job) -> Draft:
        asked = dict.fromkeys(text for passage in job.passages for text in self._asked[passage.id])
        return await self.writer.write(job, list(asked))

    def _sound(self, draft: Draft) -> list[CitationCheck] | None:
        checks = check_citations(draft)
        fault = None if self._work.quoting else find_fault(draft, checks, self._made.order.language)
        if fault:
            self._reject(draft, fault)
        return None if fault else checks

    async def _try(self, item: tuple[Draft, list[CitationCheck]]) -> tuple[Draft, list[CitationCheck], str | None]:
        return (*item, await self.writer.find_failure(item[0]))

    def _reject(self, draft: Draft, reason: str) -> None:
        self._made.rejected.append(Rejected(draft.job.kind, draft.asked, reason))


def make_case(draft: Draft, checks: Sequence[CitationCheck], made: Synthesis) -> Case:
    """A draft that passed as a proposed case, with its facts in the passages' words, and how it was made and checked."""
    job = draft.job
    spans = {(check.passage, check.start, check.end): check for check in checks if check.holds}
    facts = [
        TruthFact(
            check.text, source=job.passages[check.passage or 0].source, provenance="synthetic", standing="proposed"
        )
        for check in spans.values()
    ]
    hard = difficulty(draft, list(checks))
    digest = hashlib.sha256(f"{job.passages[0].id}|{draft.asked}".encode()).hexdigest()[:12]
    answerable = job.kind != "unanswerable"
    needed = job.passages[:1] if job.kind == "distracting" else job.passages
    by = f"{draft.form} question" if draft.form else made.signature
    return Case(
        id=f"syn-{digest}",
        question=draft.asked,
        references=[draft.answer] if answerable else [],
        facts=facts,
        documents=list(dict.fromkeys(passage.source for passage in needed)),
        passages=[Chunk(passage.text, passage.id, source=passage.source) for passage in job.passages],
        reference_contexts=[passage.text for passage in needed] if answerable else [],
        answerable=answerable,
        provenance="synthetic",
        standing="proposed",
        metadata={
            "kind": job.kind,
            "style": job.style,
            **({"persona": job.persona} if job.persona else {}),
            **({"language": made.order.language} if made.order.language else {}),
            "difficulty": name_difficulty(hard),
            "difficulty_score": hard,
            "written_by": by,
            # Shown with the answer in the viewer's queue.
            "why": [
                f"written by {by}",
                f"{job.kind}, {job.style}, {name_difficulty(hard)}",
                _CHECKED[draft.form is None][job.kind],
            ],
            "sections": [passage.section for passage in job.passages],
            **({"history": draft.history} if draft.history else {}),
        },
    )


def check_citations(draft: Draft) -> list[CitationCheck]:
    """Checks each citation once against the passages."""
    texts = [passage.text for passage in draft.job.passages]
    return [check_citation(text, texts) for text in dict.fromkeys(draft.citations)]


def find_fault(draft: Draft, checks: list[CitationCheck], language: str | None = None) -> str | None:
    """Why a draft is rejected before the model is asked; None if it is well-formed."""
    if not content_words(draft.question):
        return "no question"
    if _MENTIONS.search(draft.question):
        return "it mentions its source text"
    if draft.job.style == "follow-up" and not draft.history:
        return "a follow-up without an earlier question"
    if (
        language
        and draft.job.style != "keyword"
        and guess_language(draft.question) not in (language.lower()[:2], "other")
    ):
        return "it is in another language"
    if draft.job.kind == "unanswerable":
        return "an unanswerable question with an answer" if draft.answer or draft.citations else None
    if not draft.answer:
        return "no answer"
    if draft.job.kind != "comparison" and content_words(draft.answer) <= content_words(draft.question):
        return "the question gives its answer away"
    return _fault_of_citations(draft, checks)


def _fault_of_citations(draft: Draft, checks: list[CitationCheck]) -> str | None:
    if not checks:
        return "no citation"
    if fallen := [check for check in checks if not check.holds]:
        return f"a citation is not in the passages: {fallen[0].verdict}"
    if len({(check.passage, check.start) for check in checks}) < _LEAST.get(draft.job.kind, 1):
        return f"fewer facts than '{draft.job.kind}' needs"
    if any(orders_a_model(check.text) for check in checks):
        return "it cites an order to a model"
    cited = {check.passage for check in checks}
    if draft.job.kind in NEED_BOTH and len(cited) < len(draft.job.passages):
        return "its citations are all in one of its passages"
    if draft.job.kind == "distracting" and cited != {0}:
        return "it cites the distracting passage"
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

    def __init__(self, embedder: LocalEmbedder | None = None, same_words: float = SAME_WORDS) -> None:
        self._embedder = embedder
        self._same_words = same_words
        self._words: list[frozenset[str]] = []
        self._vectors: list[np.ndarray] = []

    @property
    def signature(self) -> str:
        """How questions are compared."""
        return f"words:{self._same_words:g}" + (f"+minilm:{SAME_MEANING:g}" if self._embedder else "")

    async def add_new(self, questions: Sequence[str]) -> list[bool]:
        """Whether each question is new, in order; new ones are added."""
        vectors = await self._embedder.embed(questions) if self._embedder and questions else None
        return [self._add(text, None if vectors is None else vectors[place]) for place, text in enumerate(questions)]

    def _add(self, text: str, vector: np.ndarray | None) -> bool:
        words = content_words(text)
        if any(len(words & other) >= self._same_words * len(words | other) for other in self._words):
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
