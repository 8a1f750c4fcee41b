"""Plans the questions to write, and a language model that writes them and answers them with and without their passages.

Kinds go by their shares, passages are spread over documents and sections. `Shelf` finds passages by words: those that may
answer a question, and those with a common subject.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Literal

from ragstone.formats.documents import Passage
from ragstone.llm.prompted import Asker, Judge
from ragstone.llm.reply_types import AnswerReply, NewQuestionReply
from ragstone.text.names import names
from ragstone.text.overlap import content_words
from ragstone.text.refusals import find_refusal
from ragstone.text.sentences import sentences
from ragstone.text.words import words
from ragstone.tools.llm_judges import JudgeReader
from ragstone.truth.synthesis.styles import STYLES, Style, mistyped, shuffled_styles


class Shelf:
    """All passages with their words and names."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = list(passages)
        # A heading often names the subject that its passage only calls "it".
        self._words = [content_words(f"{passage.heading or ''} {passage.text}") for passage in passages]
        self._names = [frozenset(names(f"{passage.heading or ''}. {passage.text}")) for passage in passages]
        # The names in a heading are the subject of the passage.
        self._subjects = [frozenset(names(passage.heading or "")) for passage in passages]
        self._common = Counter(word for words in self._words for word in words)

    def find(self, question: str, most: int, source: str | None = None) -> list[Passage]:
        """The passages that share most words with a question, rare words first; none that shares nothing.

        With `source`, only passages of that document.
        """
        wanted = content_words(question)
        scores = [
            sum(self._weight(word) for word in wanted & words) if source in (None, passage.source) else 0.0
            for passage, words in zip(self._passages, self._words, strict=True)
        ]
        best = sorted(range(len(scores)), key=lambda position: (-scores[position], position))[:most]
        return [self._passages[position] for position in best if scores[position] > 0]

    def partner(self, passage: Passage) -> Passage:
        """The other passage with most common names, then most common words; of another document, if there is one."""
        own = next(position for position, other in enumerate(self._passages) if other.id == passage.id)

        def alike(position: int) -> tuple[bool, int, float, int]:
            shared, either = self._words[own] & self._words[position], self._words[own] | self._words[position]
            named = len(self._names[own] & self._names[position]) + len(self._subjects[own] & self._subjects[position])
            elsewhere = self._passages[position].source != passage.source
            return elsewhere, named, len(shared) / max(len(either), 1), -position

        return self._passages[max((position for position in range(len(self._passages)) if position != own), key=alike)]

    def _weight(self, word: str) -> float:
        return math.log1p(len(self._passages) / self._common[word])


Kind = Literal[
    "single", "several", "bridge", "comparison", "aggregation", "table", "unanswerable", "distracting", "paraphrase"
]
# Questions per hundred.
SHARES: dict[Kind, int] = {
    "single": 20,
    "several": 10,
    "bridge": 10,
    "comparison": 10,
    "aggregation": 10,
    "table": 10,
    "unanswerable": 10,
    "distracting": 10,
    "paraphrase": 10,
}
# They need something from each of their two passages.
NEED_BOTH = frozenset({"bridge", "comparison", "aggregation"})
# They are shown a second passage.
PAIRED = NEED_BOTH | {"distracting"}
PERSONAS = (
    "A beginner with everyday words.",
    "An expert in a hurry, with the terms of the subject.",
    "A customer with a concrete problem of their own.",
    "An auditor in need of the exact figure.",
)


@dataclass(frozen=True)
class Order:
    """The wanted questions: how many, their styles, personas, and language; None is that of the documents."""

    count: int
    seed: int = 0
    styles: tuple[Style, ...] = STYLES
    personas: tuple[str, ...] = PERSONAS
    language: str | None = None


_ROW = re.compile(r"^[^\S\n]*\|(?:[^|\n]*[^\s|:-][^|\n]*\|){2,}[^\S\n]*$|^[^\t\n]+(?:\t[^\t\n]+)+$", re.MULTILINE)
_LEAST_ROWS = 2
# A passage with fewer words has hardly anything to ask about.
LEAST_WORDS = 8


@dataclass(frozen=True)
class Job:
    """One question to write: its kind, its passages, its style and the persona of its user."""

    kind: Kind
    passages: tuple[Passage, ...]
    style: Style = "plain"
    persona: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The identity of the job."""
        return (self.kind, self.style, *(passage.id for passage in self.passages))


def has_table(text: str) -> bool:
    """Whether a text has table rows: a header and at least one row."""
    return len(_ROW.findall(text)) >= _LEAST_ROWS


def is_row(text: str) -> bool:
    """Whether a citation is a table row, or cells of one."""
    return "|" in text or "\t" in text


def plan_jobs(passages: Sequence[Passage], order: Order) -> Iterator[Job]:
    """An endless stream of jobs, the same for the same passages and order."""
    usable = [passage for passage in passages if sum(1 for _ in words(passage.text)) >= LEAST_WORDS]
    if not usable:
        return
    chance = random.Random(order.seed)  # noqa: S311  (a draw, not a secret)
    tables = [passage for passage in usable if has_table(passage.text)]
    allowed = [
        kind for kind in SHARES if not (kind == "table" and not tables) and not (kind in PAIRED and len(usable) < 2)
    ]
    shelf = Shelf(usable)
    turns = {kind: Turn(tables if kind == "table" else usable, chance) for kind in allowed}
    styles, personas = shuffled_styles(order.styles, chance), cycle(order.personas or ("",))
    while True:
        for kind in shuffled_kinds(allowed, chance):
            first = turns[kind].next()
            shown = (first, shelf.partner(first)) if kind in PAIRED else (first,)
            yield Job(kind, shown, next(styles), next(personas))


def shuffled_kinds(allowed: Sequence[Kind], chance: random.Random) -> list[Kind]:
    """The kinds of ten questions by their shares; the shares of impossible kinds go to the first kinds."""
    drawn = [kind for kind in SHARES if kind in allowed for _ in range(SHARES[kind] // 10)]
    drawn += [allowed[number % len(allowed)] for number in range(10 - len(drawn))]
    chance.shuffle(drawn)
    return drawn


class Turn:
    """Passages in turn: one of each document, and of each section in it, before any is repeated."""

    def __init__(self, passages: Sequence[Passage], chance: random.Random) -> None:
        by_document: dict[str, dict[str, list[Passage]]] = defaultdict(lambda: defaultdict(list))
        for passage in passages:
            by_document[passage.source][passage.section].append(passage)
        queues = [_interleaved(_shuffled(list(sections.values()), chance), chance) for sections in by_document.values()]
        self._order = deque(_interleaved(_shuffled(queues, chance), None))

    def next(self) -> Passage:
        """The next passage."""
        passage = self._order[0]
        self._order.rotate(-1)
        return passage


def _shuffled(items: list[list[Passage]], chance: random.Random) -> list[list[Passage]]:
    chance.shuffle(items)
    return items


def _interleaved(lists: list[list[Passage]], chance: random.Random | None) -> list[Passage]:
    """The first of each list, then the second of each; each list is shuffled first if `chance` is passed."""
    for one in lists if chance else []:
        chance.shuffle(one)  # type: ignore[union-attr]
    longest = max(map(len, lists))
    return [one[position] for position in range(longest) for one in lists if position < len(one)]


PROMPTS = ("new_question", "answer_from_passages", "answer_from_memory", "answer_match")
_MATCHES = 0.5
# The number of other passages with which an unanswerable question is tried.
NEAREST = 5
ONE_IS_ENOUGH = "one of its two documents is enough"


@dataclass(frozen=True)
class Draft:
    """A written question with its answer, citations and earlier questions of the conversation."""

    job: Job
    question: str
    answer: str
    citations: list[str]
    history: list[str]
    # How it was made: `rule` or `cloze` without a model; None with one.
    form: str | None = None

    @property
    def asked(self) -> str:
        """The question after the earlier ones of the conversation."""
        return "\n".join([*self.history, self.question])


class Writer(Asker):
    """Writes and answers questions with a language model."""

    # Questions that are tried at most, per wanted question.
    most_tries = 3
    asks = PROMPTS

    def __init__(self, judge: Judge, passages: Sequence[Passage] = (), order: Order = Order(0)) -> None:  # noqa: B008  (immutable)
        super().__init__(judge)
        self._reader = JudgeReader(judge)
        self._order = order
        self._shelf = Shelf(passages)
        self.jobs = plan_jobs(passages, order)

    async def write(self, job: Job, asked: Sequence[str]) -> Draft:
        """Writes a question of the job's kind and style that differs from those in `asked`."""
        # Models correct what they write: slips are made by rule.
        manner = ["plain" if job.style == "typo" else job.style, *([f"by {job.persona}"] if job.persona else [])]
        manner += [f"in {self._order.language}"] if self._order.language else []
        data = {"kind": job.kind, "manner": ", ".join(manner), **_shown(job.passages), "asked": list(asked)}
        reply = await self._judge.ask("new_question", NewQuestionReply, data, _guess(job))
        history = [*map(_one_line, reply.history)] if job.style == "follow-up" else []
        question = _one_line(reply.question)
        question = mistyped(question) if job.style == "typo" else question
        return Draft(job, question, reply.answer.strip(), reply.citations, history)

    async def find_failure(self, draft: Draft) -> str | None:
        """Why a draft fails the round trip: only with its whole source must the model answer it; None if it passes.

        An unanswerable question is also tried with the nearest passages of all documents, and one that needs two documents
        with the nearest passages of each alone.
        """
        shown = draft.job.passages
        if draft.job.kind == "unanswerable":
            reply = await self.answer(draft, [*shown, *self._shelf.find(draft.asked, NEAREST)])
            return "the documents answer an unanswerable question" if reply.answerable else None
        reply = await self.answer(draft, shown)
        if not reply.answerable or not reply.answer.strip():
            return "its source does not answer it"
        if not await self._agrees(draft, reply):
            return "its source gives another answer"
        for alone in shown if draft.job.kind in NEED_BOTH else shown[1:]:
            if await self._agrees(draft, await self.answer(draft, self._near(draft, alone), alone=True)):
                return ONE_IS_ENOUGH if draft.job.kind in NEED_BOTH else "the distracting passage answers it too"
        if await self._agrees(draft, await self.remember(draft)):
            return "the model answers it without its source"
        return None

    def _near(self, draft: Draft, passage: Passage) -> list[Passage]:
        """A passage and, if the other is of another document, what its own document says besides."""
        if len({one.source for one in draft.job.passages}) == 1 or draft.job.kind == "distracting":
            return [passage]
        return [passage, *self._shelf.find(draft.asked, NEAREST, passage.source)]

    async def answer(self, draft: Draft, passages: Sequence[Passage], alone: bool = False) -> AnswerReply:
        """Answers from passages; if these are not its whole source, a cost estimate expects no answer."""
        different = {passage.text: passage for passage in passages}
        data = {"question": draft.asked, **_shown(list(different.values()))}
        answer = "" if alone else draft.answer
        guess = AnswerReply(answerable=bool(answer), answer=answer)
        return await self._judge.ask("answer_from_passages", AnswerReply, data, guess, _check_answer)

    async def remember(self, draft: Draft) -> AnswerReply:
        """Answers without any passage."""
        guess = AnswerReply(answerable=True, answer=draft.answer)
        data = {"question": draft.asked}
        return await self._judge.ask("answer_from_memory", AnswerReply, data, guess, _check_answer)

    async def _agrees(self, draft: Draft, reply: AnswerReply) -> bool:
        """Whether an answer means the same as the draft's answer."""
        if not reply.answerable or not reply.answer.strip():
            return False
        return (await self._reader.matches(draft.asked, reply.answer, [draft.answer]))[0] > _MATCHES


def _shown(passages: Sequence[Passage]) -> dict[str, list[str]]:
    """The title and heading of each passage, and its text; apart, so that a citation cannot contain a title."""
    return {"titles": [passage.subject for passage in passages], "passages": [passage.text for passage in passages]}


def _check_answer(reply: AnswerReply) -> str | None:
    """The contradiction between the fields of a reply; None if there is none. A refusal is not an answer."""
    has_answer = bool(reply.answer.strip()) and find_refusal(reply.answer) is None
    if has_answer and not reply.answerable:
        return "there is an answer, but answerable is false"
    return "answerable is true, but there is no answer" if reply.answerable and not has_answer else None


def _guess(job: Job) -> NewQuestionReply:
    """A plausible reply for a cost estimate: one sentence per passage."""
    firsts = [passage.text[span.start : span.end] for passage in job.passages for span in sentences(passage.text)[:1]]
    answer = "" if job.kind == "unanswerable" else firsts[0]
    return NewQuestionReply(
        # Different per job, because equal questions count as one.
        question=f"What ({job.kind}, {job.style}) is known about {job.passages[0].id}: {firsts[0][:40]}?",
        answer=answer,
        citations=firsts if answer else [],
        history=["What else is known about it?"] if job.style == "follow-up" else [],
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
