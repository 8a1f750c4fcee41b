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
from typing import Literal

from ragstone.formats.documents import Passage
from ragstone.llm.prompted import Judge
from ragstone.llm.reply_types import AnswerReply, NewQuestionReply
from ragstone.text.names import names
from ragstone.text.overlap import content_words
from ragstone.text.refusals import find_refusal
from ragstone.text.sentences import sentences
from ragstone.text.words import words
from ragstone.tools.llm_judges import JudgeReader


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

    def find(self, question: str, most: int) -> list[Passage]:
        """The passages that share most words with a question, rare words first; none that shares nothing."""
        wanted = content_words(question)
        scores = [sum(self._weight(word) for word in wanted & words) for words in self._words]
        best = sorted(range(len(scores)), key=lambda position: (-scores[position], position))[:most]
        return [self._passages[position] for position in best if scores[position] > 0]

    def partner(self, passage: Passage) -> Passage:
        """The other passage with most common names, then most common words, for a comparison."""
        own = next(position for position, other in enumerate(self._passages) if other.id == passage.id)

        def alike(position: int) -> tuple[int, float, int]:
            shared, either = self._words[own] & self._words[position], self._words[own] | self._words[position]
            named = len(self._names[own] & self._names[position]) + len(self._subjects[own] & self._subjects[position])
            return named, len(shared) / max(len(either), 1), -position

        return self._passages[max((position for position in range(len(self._passages)) if position != own), key=alike)]

    def _weight(self, word: str) -> float:
        return math.log1p(len(self._passages) / self._common[word])


Kind = Literal["single", "several", "comparison", "table", "unanswerable", "paraphrase", "conversational"]
# Questions per hundred.
SHARES: dict[Kind, int] = {
    "single": 30,
    "several": 20,
    "comparison": 10,
    "table": 10,
    "unanswerable": 10,
    "paraphrase": 10,
    "conversational": 10,
}
_ROW = re.compile(r"^[^\S\n]*\|(?:[^|\n]*[^\s|:-][^|\n]*\|){2,}[^\S\n]*$|^[^\t\n]+(?:\t[^\t\n]+)+$", re.MULTILINE)
_LEAST_ROWS = 2
# A passage with fewer words has hardly anything to ask about.
LEAST_WORDS = 8


@dataclass(frozen=True)
class Job:
    """One question to write: its kind and its passages."""

    kind: Kind
    passages: tuple[Passage, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """The identity of the job."""
        return (self.kind, *(passage.id for passage in self.passages))


def has_table(text: str) -> bool:
    """Whether a text has table rows: a header and at least one row."""
    return len(_ROW.findall(text)) >= _LEAST_ROWS


def is_row(text: str) -> bool:
    """Whether a citation is a table row, or cells of one."""
    return "|" in text or "\t" in text


def plan_jobs(passages: Sequence[Passage], seed: int) -> Iterator[Job]:
    """An endless stream of jobs, the same for the same passages and seed."""
    usable = [passage for passage in passages if sum(1 for _ in words(passage.text)) >= LEAST_WORDS]
    if not usable:
        return
    chance = random.Random(seed)  # noqa: S311  (a draw, not a secret)
    tables = [passage for passage in usable if has_table(passage.text)]
    allowed = [kind for kind in SHARES if kind not in ("table", "comparison")]
    allowed += ["table"] if tables else []
    allowed += ["comparison"] if len(usable) > 1 else []
    shelf = Shelf(usable)
    turns = {kind: _Turn(tables if kind == "table" else usable, chance) for kind in allowed}
    while True:
        for kind in _shuffled_kinds(allowed, chance):
            first = turns[kind].next()
            yield Job(kind, (first, shelf.partner(first)) if kind == "comparison" else (first,))


def _shuffled_kinds(allowed: Sequence[Kind], chance: random.Random) -> list[Kind]:
    """The kinds of ten questions by their shares; the shares of impossible kinds go to the first kinds."""
    drawn = [kind for kind in SHARES if kind in allowed for _ in range(SHARES[kind] // 10)]
    drawn += [allowed[number % len(allowed)] for number in range(10 - len(drawn))]
    chance.shuffle(drawn)
    return drawn


class _Turn:
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


@dataclass(frozen=True)
class Draft:
    """A written question with its answer, citations and earlier questions of the conversation."""

    job: Job
    question: str
    answer: str
    citations: list[str]
    history: list[str]

    @property
    def asked(self) -> str:
        """The question after the earlier ones of the conversation."""
        return "\n".join([*self.history, self.question])


class Writer:
    """Writes and answers questions."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._reader = JudgeReader(judge)

    @property
    def signature(self) -> str:
        """The model."""
        return self._judge.signature

    @property
    def prompts(self) -> dict[str, str]:
        """The hashes of the prompts."""
        return {name: self._judge.prompt_hash(name) for name in PROMPTS}

    async def write(self, job: Job, asked: Sequence[str]) -> Draft:
        """Writes a question of the job's kind that differs from those in `asked`."""
        data = {"kind": job.kind, **_shown(job.passages), "asked": list(asked)}
        reply = await self._judge.ask("new_question", NewQuestionReply, data, _guess(job))
        history = reply.history if job.kind == "conversational" else []
        return Draft(job, _one_line(reply.question), reply.answer.strip(), reply.citations, [*map(_one_line, history)])

    async def answer(self, draft: Draft, others: Sequence[Passage] = ()) -> AnswerReply:
        """Answers from the draft's passages and `others`."""
        passages = {passage.text: passage for passage in (*draft.job.passages, *others)}
        data = {"question": draft.asked, **_shown(list(passages.values()))}
        guess = AnswerReply(answerable=bool(draft.answer), answer=draft.answer)
        return await self._judge.ask("answer_from_passages", AnswerReply, data, guess, _check_answer)

    async def remember(self, draft: Draft) -> AnswerReply:
        """Answers without any passage."""
        guess = AnswerReply(answerable=True, answer=draft.answer)
        data = {"question": draft.asked}
        return await self._judge.ask("answer_from_memory", AnswerReply, data, guess, _check_answer)

    async def agrees(self, draft: Draft, answer: str) -> bool:
        """Whether an answer means the same as the draft's answer."""
        scores = await self._reader.matches(draft.asked, answer, [draft.answer])
        return scores[0] > _MATCHES


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
        question=f"What ({job.kind}) is known about {job.passages[0].id}: {firsts[0][:40]}?",
        answer=answer,
        citations=firsts if answer else [],
        history=["What else is known about it?"] if job.kind == "conversational" else [],
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
