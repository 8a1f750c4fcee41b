"""Which questions are to be written from which passages: drawn by a seed, spread over documents and sections."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence

from ragstone.formats.documents import Passage
from ragstone.text.words import words
from ragstone.truth.synthesis.kinds import SHARES, Job, Kind, has_table, possible_kinds
from ragstone.truth.synthesis.searching import Shelf

# A passage of fewer words hardly holds anything to ask about.
LEAST_WORDS = 8


def plan_jobs(passages: Sequence[Passage], seed: int) -> Iterator[Job]:
    """Jobs without end, the same for the same passages and seed; kinds come by their shares, passages in turn."""
    usable = [passage for passage in passages if sum(1 for _ in words(passage.text)) >= LEAST_WORDS]
    if not usable:
        return
    chance = random.Random(seed)  # noqa: S311  (a draw, no secret)
    allowed = possible_kinds(usable)
    shelf = Shelf(usable)
    turns = {kind: _Turn(_suited(kind, usable), chance) for kind in allowed}
    while True:
        for kind in _shuffled_kinds(allowed, chance):
            first = turns[kind].next()
            yield Job(kind, (first, shelf.partner(first)) if kind == "comparison" else (first,))


def _shuffled_kinds(allowed: Sequence[Kind], chance: random.Random) -> list[Kind]:
    """Ten questions' worth of kinds by their shares; what is lacking of those that are not possible goes to the first kinds."""
    drawn = [kind for kind in SHARES if kind in allowed for _ in range(SHARES[kind] // 10)]
    drawn += [allowed[place % len(allowed)] for place in range(10 - len(drawn))]
    chance.shuffle(drawn)
    return drawn


class _Turn:
    """Passages one after the other: a passage of each document, and of each section in it, before any comes again."""

    def __init__(self, passages: Sequence[Passage], chance: random.Random) -> None:
        by_document: dict[str, dict[str, list[Passage]]] = defaultdict(lambda: defaultdict(list))
        for passage in passages:
            by_document[passage.source][passage.section].append(passage)
        queues = [_interleaved(_shuffled(list(sections.values()), chance), chance) for sections in by_document.values()]
        self._order = deque(_interleaved(_shuffled(queues, chance), None))

    def next(self) -> Passage:
        """The passage whose turn it is."""
        passage = self._order[0]
        self._order.rotate(-1)
        return passage


def _shuffled(items: list[list[Passage]], chance: random.Random) -> list[list[Passage]]:
    chance.shuffle(items)
    return items


def _interleaved(lists: list[list[Passage]], chance: random.Random | None) -> list[Passage]:
    """The first of each list, then the second of each; each list shuffled before."""
    for one in lists if chance else []:
        chance.shuffle(one)  # type: ignore[union-attr]
    longest = max(map(len, lists))
    return [one[place] for place in range(longest) for one in lists if place < len(one)]


def _suited(kind: Kind, passages: Sequence[Passage]) -> list[Passage]:
    return [passage for passage in passages if has_table(passage.text)] if kind == "table" else list(passages)
