"""False answers that could be true: of the same kind as the right one, put in its place in the passages, and checked."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ragstone.data.types import Chunk
from ragstone.stress.beds import WHY_NO_ERROR
from ragstone.stress.pools import Pool, stands_in

_MOST_WORDS = 8
# Up to so many words the longest spelling is the best: it is the whole name.
_USUAL_WORDS = 5
_MOST_TRIED = 50
# Longer answers in small letters are phrases, which make no sense in another's place.
_MOST_WORDS_OF_TERM = 3
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CHINESE = re.compile("[\u3400-\u9fff\u3040-\u30ff]")
_MONTH = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b\.?",
    re.IGNORECASE,
)
# What a question asks for, by its words; the first that fits counts.
_ASKED = {
    "person": r"\bwho(?:m|se)?\b|谁|何人",
    "place": r"\bwhere\b|哪里|哪儿|何处|在哪",
    "time": r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|time|century)\b|何时|什么时候|哪[一]?年|几月|几号",
    "quantity": r"\bhow (?:many|much|long|far|tall|old|high|deep|large|often|big|fast|wide)\b|多少|几",
    "reason": r"\bwhy\b|为什么",
}
_HEAD = re.compile(r"\b(?:what|which) (?:(?:is|was|are|were|kind|type|of|the|a|an) )*(\w+)", re.IGNORECASE)
_Others = Mapping[str, Sequence[str]]


def plant_errors(pools: Sequence[Pool], seed: int = 0) -> list[Pool]:
    """Pools that bring no false passages get some: the answer is replaced where it stands, or it is said why not."""
    others: dict[str, set[str]] = {}
    for pool in pools:
        for spelling in filter(_is_clean, pool.answers[0] if len(pool.answers) == 1 else ()):
            for kind in kinds_of(spelling, pool.question):
                others.setdefault(kind, set()).add(spelling)
    by_kind = {kind: sorted(found) for kind, found in others.items()}
    return [pool if pool.wrong else _plant(pool, by_kind, seed) for pool in pools]


def kinds_of(answer: str, question: str) -> list[str]:
    """What an answer is, the narrowest kind first: by what is asked for, and by how it is written.

    Two answers of one kind can stand in each other's place: after "which country" another country, after "who" another
    name, for a length in metres another one.
    """
    form = _form_of(answer.strip())
    asked = next((name for name, words in _ASKED.items() if re.search(words, question, re.IGNORECASE)), "thing")
    head = _HEAD.search(question) if asked == "thing" else None
    return [*([f"{head[1].casefold()}, {form}"] if head else []), f"{asked}, {form}"]


def _is_clean(spelling: str) -> bool:
    """Whether a spelling begins and ends like an answer, not like a piece of a sentence."""
    return bool(re.fullmatch(r"[\w$€£¥\"“].*[\w%\"”).]|\w", spelling.strip(), re.DOTALL))


def _form_of(text: str) -> str:
    if _NUMBER.search(text):
        # The same unit, and a date like a date: 12 metres may become 15 metres, but not 15 people.
        return _NUMBER.sub("#", _MONTH.sub("month", text)).casefold()
    if _CHINESE.search(text):
        return f"chinese of {min(len(text) // 3, 4)}"
    capital = all(word[:1].isupper() for word in text.split() if len(word) > 3)
    return f"{'name' if capital else 'words'} of {len(text.split())}"


def _plant(pool: Pool, others: _Others, seed: int) -> Pool:
    if len(pool.answers) != 1 or not pool.answers[0]:
        return _without(pool, "it needs several answers at once" if pool.answers else "no right answer is known")
    right = pool.answers[0]
    holding = [chunk for chunk in pool.positives if pool.holds_answer(chunk.text)]
    there = [spelling for spelling in right if any(stands_in(spelling, chunk.text) for chunk in holding)]
    if not there:
        return _without(pool, "its answer does not stand in its passages word for word")
    spelling = _best_spelling(there)
    if len(spelling.split()) > _MOST_WORDS:
        return _without(pool, f"its answer is longer than {_MOST_WORDS} words")
    kinds = kinds_of(spelling, pool.question)
    if kinds[-1].partition(", ")[2].startswith("words") and len(spelling.split()) > _MOST_WORDS_OF_TERM:
        return _without(pool, "its answer is a phrase, neither a name, a number nor a term")
    for fake in _candidates(spelling, kinds, others, random.Random(f"{seed}|{pool.id}")):  # noqa: S311
        if _is_other(fake, right) and not any(stands_in(fake, chunk.text) for chunk in pool.positives):
            wrong = [chunk for chunk in (_falsify(one, right, fake) for one in holding) if chunk is not None]
            if wrong:
                return replace(pool, wrong=wrong, fake=fake)
    return _without(pool, "there is no false answer of its kind")


def _best_spelling(spellings: Sequence[str]) -> str:
    """The longest that is no sentence, else the shortest."""
    usual = [spelling for spelling in spellings if len(spelling.split()) <= _USUAL_WORDS]
    return max(usual, key=len) if usual else min(spellings, key=len)


def _without(pool: Pool, reason: str) -> Pool:
    return replace(pool, metadata={**pool.metadata, WHY_NO_ERROR: reason})


def _candidates(right: str, kinds: Sequence[str], others: _Others, chance: random.Random) -> Iterator[str]:
    """Answers of other questions of the same kind, the narrowest kind first; then numbers that are made up."""
    for kind in kinds:
        alike = others.get(kind, ())
        yield from chance.sample(alike, min(len(alike), _MOST_TRIED))
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
        # Another day of a month or hour of a day, where that is what it counts, with as many digits.
        low, high = (1, 9) if value < 10 else (10, 23 if value < 24 else 28)
        return str(chance.choice([other for other in range(low, high + 1) if other != value])).rjust(len(text), "0")
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
