"""Made-up samples, the same on every machine, kept in a folder that git ignores."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.processes import ROOT

FOLDER = ROOT / ".benchmarks"
_SEED = 20_240_229
# Part of the file names: raise it when the rows change, and they are made anew.
_VERSION = 1
_COMMON = ("the", "a", "of", "in", "and", "to")

Row = dict[str, Any]


def short_file(rows: int) -> Path:
    """JSONL with what most people have: question, answer, one reference, three short contexts as text."""
    return _kept("short", rows, _short)


def full_file(rows: int) -> Path:
    """JSONL for every family of metrics: two references, five chunks with ids, graded relevance, facts."""
    return _kept("full", rows, _full)


def _kept(name: str, rows: int, make: Callable[[Random, list[str], int], Row]) -> Path:
    target = FOLDER / f"{name}-{rows}-v{_VERSION}.jsonl"
    if not target.exists():
        FOLDER.mkdir(exist_ok=True)
        temporary = target.with_suffix(".tmp")
        with temporary.open("w", encoding="utf-8") as stream:
            stream.writelines(f"{json.dumps(row)}\n" for row in _rows(rows, make))
        os.replace(temporary, target)
    return target


def _rows(count: int, make: Callable[[Random, list[str], int], Row]) -> Iterator[Row]:
    random = Random(_SEED)
    words = _vocabulary(random)
    return (make(random, words, number) for number in range(count))


def _vocabulary(random: Random) -> list[str]:
    """Some thousand words of two to four syllables, and every fifth word of a text one of the common ones."""
    syllables = [first + second for first in "bdfgklmnprstv" for second in "aeiou"]
    rare = sorted({"".join(random.choices(syllables, k=random.choice((2, 3, 3, 4)))) for _ in range(4_000)})
    return [*rare, *(_COMMON * (len(rare) // (4 * len(_COMMON))))]


def _short(random: Random, words: list[str], number: int) -> Row:
    reference = random.choices(words, k=5)
    others = random.choices(words, k=40)
    return {
        "id": f"q{number}",
        "question": f"What {' '.join(others[:7])}?",
        "answer": _sentence(_answer(random, reference, others[7:11])),
        "references": [" ".join(reference)],
        "contexts": [
            _sentence(others[11:15] + reference + others[15:18]),
            _sentence(others[18:29]),
            _sentence(others[29:40]),
        ],
    }


def _full(random: Random, words: list[str], number: int) -> Row:
    facts = [random.choices(words, k=4) for _ in range(3)]
    reference = random.choices(words, k=12)
    # A chunk id has one grade; the best three of the ten are what should be found.
    ids = random.sample(range(1_000), k=10)
    chunks = [random.choices(words, k=60) for _ in range(5)]
    for chunk, fact in zip(random.sample(chunks, k=2), facts, strict=False):
        chunk[20:24] = fact
    return {
        "id": f"q{number}",
        "question": f"What {' '.join(random.choices(words, k=7))}?",
        "answer": _sentence(_answer(random, reference, random.choices(words, k=8))),
        "references": [" ".join(reference), _sentence(random.choices(words, k=9))],
        "contexts": [{"id": f"d{ids[at]}", "text": _sentence(chunk)} for at, chunk in enumerate(chunks)],
        "relevance": {f"d{name}": grade for name, grade in zip(random.sample(ids, k=4), (2, 1, 1, 0), strict=True)},
        "facts": [" ".join(fact).capitalize() for fact in facts],
    }


def _answer(random: Random, reference: list[str], others: list[str]) -> list[str]:
    """Right to the word, right in part, or wrong."""
    return random.choice((reference, reference[: len(reference) // 2] + others, others))


def _sentence(words: list[str]) -> str:
    """With the capital, the comma and the full stop that a normaliser must take away."""
    text = " ".join(words) if len(words) < 7 else f"{' '.join(words[:6])}, {' '.join(words[6:])}"
    return f"{text.capitalize()}."
