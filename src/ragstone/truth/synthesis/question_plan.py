"""Plans the questions to write: kinds by their shares, passages spread over documents and sections.

Searches passages by words: those that may answer a question, and those with a common subject.
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
from ragstone.text.names import names
from ragstone.text.overlap import content_words
from ragstone.text.words import words


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
