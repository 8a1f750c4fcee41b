"""False answers that could be true: of the same kind as the right one, put in its place in the passages, and checked."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ragstone.data.types import Chunk
from ragstone.stress.beds import WHY_NO_ERROR
from ragstone.stress.pools import Pool, stands_in

_MOST_WORDS = 8
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CHINESE = re.compile("[\u3400-\u9fff\u3040-\u30ff]")
_MONTHS = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\d\s*[月年日]", re.IGNORECASE)


def plant_errors(pools: Sequence[Pool], seed: int = 0) -> list[Pool]:
    """Pools that bring no false passages get some: the answer is replaced where it stands, or it is said why not."""
    others = [spelling for pool in pools if len(pool.answers) == 1 for spelling in pool.answers[0]]
    return [pool if pool.wrong else _plant(pool, others, seed) for pool in pools]


def kind_of(answer: str) -> str:
    """What an answer is, by how it is written: two answers of one kind can stand in each other's place."""
    text = answer.strip()
    script = "chinese" if _CHINESE.search(text) else "other"
    if _NUMBER.search(text):
        if _MONTHS.search(text):
            return f"date {script}"
        # The same unit: 12 metres may become 15 metres, but not 15 people.
        return f"number {_NUMBER.sub('#', text).casefold()}"
    if script == "chinese":
        return f"words chinese {min(len(text) // 3, 4)}"
    capital = all(word[:1].isupper() for word in text.split() if len(word) > 3)
    return f"{'name' if capital else 'words'} {min(len(text.split()), 4)}"


def _plant(pool: Pool, others: Sequence[str], seed: int) -> Pool:
    if len(pool.answers) != 1 or not pool.answers[0]:
        return _without(pool, "it needs several answers at once" if pool.answers else "no right answer is known")
    right = pool.answers[0]
    holding = [chunk for chunk in pool.positives if pool.holds_answer(chunk.text)]
    there = [spelling for spelling in right if any(stands_in(spelling, chunk.text) for chunk in holding)]
    if not there:
        return _without(pool, "its answer does not stand in its passages word for word")
    spelling = min(there, key=lambda one: len(one.split()))
    if len(spelling.split()) > _MOST_WORDS:
        return _without(pool, f"its answer is longer than {_MOST_WORDS} words")
    for fake in _candidates(spelling, others, random.Random(f"{seed}|{pool.id}")):  # noqa: S311
        if _is_other(fake, right) and not any(stands_in(fake, chunk.text) for chunk in pool.positives):
            wrong = [chunk for chunk in (_falsify(one, right, fake) for one in holding) if chunk is not None]
            if wrong:
                return replace(pool, wrong=wrong, fake=fake)
    return _without(pool, "there is no false answer of its kind")


def _without(pool: Pool, reason: str) -> Pool:
    return replace(pool, metadata={**pool.metadata, WHY_NO_ERROR: reason})


def _candidates(right: str, others: Iterable[str], chance: random.Random) -> Iterator[str]:
    """Answers of other questions of the same kind, in an order that the seed decides; then numbers that are made up."""
    alike = sorted({other for other in others if kind_of(other) == kind_of(right)})
    chance.shuffle(alike)
    yield from alike
    if _NUMBER.search(right):
        for _ in range(10):
            yield _NUMBER.sub(lambda found: _other_number(found[0], chance), right, count=1)


def _other_number(text: str, chance: random.Random) -> str:
    """A number that looks the same: a year near it, a day or hour that exists, else one of its size."""
    digits = re.sub(r"\D", "", text)
    value = int(digits)
    if text.isdigit() and len(text) == 4 and 1100 <= value <= 2100:
        return str(value - chance.randint(2, 19))
    if text.isdigit() and value <= 28:
        # Another day of a month or hour of a day, where that is what it counts.
        return str((value + chance.randint(1, 11)) % (24 if value < 24 else 28) or 1).rjust(len(text), "0")
    made = str(value + chance.randint(max(1, value // 10), max(2, value)))[: len(digits)].rjust(len(digits), "1")
    figures = iter(made)
    return "".join(next(figures) if character.isdigit() else character for character in text)


def _is_other(fake: str, right: Sequence[str]) -> bool:
    """Whether the false answer is neither a spelling of the right one, nor a part of it, nor has it as a part."""
    folded = fake.casefold().strip()
    return bool(folded) and not any(
        folded in spelling.casefold() or spelling.casefold() in folded for spelling in right
    )


def _falsify(chunk: Chunk, right: Sequence[str], fake: str) -> Chunk | None:
    """The passage with every spelling replaced; None where something of the right answer would stay."""
    text = chunk.text
    for spelling in sorted(right, key=len, reverse=True):
        text = re.sub(_whole(spelling), lambda _: fake, text, flags=re.IGNORECASE)
    left = text.casefold()
    if text == chunk.text or any(spelling.casefold() in left for spelling in right):
        return None
    return Chunk(text, None if chunk.id is None else f"{chunk.id}!", chunk.score, chunk.source)


def _whole(spelling: str) -> str:
    """The spelling as whole words where its script has spaces; any white space will do between them."""
    pattern = r"\s+".join(map(re.escape, spelling.split()))
    if _CHINESE.search(spelling):
        return pattern
    return rf"(?<!\w){pattern}(?!\w)"
