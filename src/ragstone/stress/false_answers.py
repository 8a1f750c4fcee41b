"""Plants plausible false answers: answers of the same kind replace the right one in the passages."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ragstone.data.types import Chunk
from ragstone.stress.passage_pools import Pool, stands_in
from ragstone.stress.test_beds import WHY_NO_ERROR

_MOST_WORDS = 8
# Up to this many words, the longest spelling is preferred because it is the whole name.
_USUAL_WORDS = 5
_MOST_TRIED = 50
# Longer answers in lower case are phrases, which cannot replace each other.
_MOST_WORDS_OF_TERM = 3
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CHINESE = re.compile("[\u3400-\u9fff\u3040-\u30ff]")
_MONTH = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\b\.?",
    re.IGNORECASE,
)
# What a question asks for; the first pattern that matches counts.
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
    """Adds false passages to pools that have none: the answer is replaced, or the pool records why it cannot be."""
    others: dict[str, set[str]] = {}
    for pool in pools:
        for spelling in filter(_is_clean, pool.answers[0] if len(pool.answers) == 1 else ()):
            for kind in kinds_of(spelling, pool.question):
                others.setdefault(kind, set()).add(spelling)
    by_kind = {kind: sorted(found) for kind, found in others.items()}
    return [pool if pool.wrong else _plant(pool, by_kind, seed) for pool in pools]


def kinds_of(answer: str, question: str) -> list[str]:
    """The kinds of an answer, the narrowest first: by what the question asks for and how the answer is written.

    Two answers of one kind can replace each other: another country after "which country", another name after "who",
    another length in metres.
    """
    form = _form_of(answer.strip())
    asked = next((name for name, words in _ASKED.items() if re.search(words, question, re.IGNORECASE)), "thing")
    head = _HEAD.search(question) if asked == "thing" else None
    return [*([f"{head[1].casefold()}, {form}"] if head else []), f"{asked}, {form}"]


def _is_clean(spelling: str) -> bool:
    """Whether a spelling begins and ends like an answer, not like a fragment of a sentence."""
    return bool(re.fullmatch(r"[\w$€£¥\"“].*[\w%\"”).]|\w", spelling.strip(), re.DOTALL))


def _form_of(text: str) -> str:
    if _NUMBER.search(text):
        # Units and months stay: 12 metres may become 15 metres, but not 15 people.
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
        return _without(pool, "its answer is not in its passages word for word")
    spelling = _best_spelling(there)
    if len(spelling.split()) > _MOST_WORDS:
        return _without(pool, f"its answer is longer than {_MOST_WORDS} words")
    kinds = kinds_of(spelling, pool.question)
    if kinds[-1].partition(", ")[2].startswith("words") and len(spelling.split()) > _MOST_WORDS_OF_TERM:
        return _without(pool, "its answer is a phrase, not a name, number or term")
    for fake in _candidates(spelling, kinds, others, random.Random(f"{seed}|{pool.id}")):  # noqa: S311
        if _is_other(fake, right) and not any(stands_in(fake, chunk.text) for chunk in pool.positives):
            wrong = [chunk for chunk in (_falsify(one, right, fake) for one in holding) if chunk is not None]
            if wrong:
                return replace(pool, wrong=wrong, fake=fake)
    return _without(pool, "there is no false answer of its kind")


def _best_spelling(spellings: Sequence[str]) -> str:
    """The longest spelling that is not a sentence, otherwise the shortest."""
    usual = [spelling for spelling in spellings if len(spelling.split()) <= _USUAL_WORDS]
    return max(usual, key=len) if usual else min(spellings, key=len)


def _without(pool: Pool, reason: str) -> Pool:
    return replace(pool, metadata={**pool.metadata, WHY_NO_ERROR: reason})


def _candidates(right: str, kinds: Sequence[str], others: _Others, chance: random.Random) -> Iterator[str]:
    """Answers of the same kind to other questions, the narrowest kind first; then invented numbers."""
    for kind in kinds:
        alike = others.get(kind, ())
        yield from chance.sample(alike, min(len(alike), _MOST_TRIED))
    if _NUMBER.search(right):
        for _ in range(10):
            yield _NUMBER.sub(lambda found: _other_number(found[0], chance), right, count=1)


def _other_number(text: str, chance: random.Random) -> str:
    """A similar number: a nearby year, a valid day or hour, or one of the same size."""
    digits = re.sub(r"\D", "", text)
    value = int(digits)
    if text.isdigit() and len(text) == 4 and 1100 <= value <= 2100:
        return str(value - chance.randint(2, 19))
    if text.isdigit() and value <= 28:
        # It may be a day of a month or an hour: stay in that range, with as many digits.
        low, high = (1, 9) if value < 10 else (10, 23 if value < 24 else 28)
        return str(chance.choice([other for other in range(low, high + 1) if other != value])).rjust(len(text), "0")
    made = str(value + chance.randint(max(1, value // 10), max(2, value)))[: len(digits)].rjust(len(digits), "1")
    figures = iter(made)
    return "".join(next(figures) if character.isdigit() else character for character in text)


def _is_other(fake: str, right: Sequence[str]) -> bool:
    """Whether a false answer is not a spelling of the right one, and neither contains the other."""
    folded = fake.casefold().strip()
    spellings = [spelling.casefold() for spelling in right]
    return bool(folded) and not any(folded in spelling or spelling in folded for spelling in spellings)


def _falsify(chunk: Chunk, right: Sequence[str], fake: str) -> Chunk | None:
    """The passage with every spelling replaced; None if a part of the right answer would remain."""
    text = chunk.text
    for spelling in sorted(right, key=len, reverse=True):
        text = re.sub(_whole(spelling), lambda _: fake, text, flags=re.IGNORECASE)
    left = text.casefold()
    if text == chunk.text or any(spelling.casefold() in left for spelling in right):
        return None
    return Chunk(text, None if chunk.id is None else f"{chunk.id}!", chunk.score, chunk.source)


def _whole(spelling: str) -> str:
    """A pattern for the spelling as whole words, if its script has spaces; any white space separates them."""
    pattern = r"\s+".join(map(re.escape, spelling.split()))
    return pattern if _CHINESE.search(spelling) else rf"(?<!\w){pattern}(?!\w)"
