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
_VERSION = 2
_LATIN = "aeioubdfgklmnprstv"
_SCRIPTS = tuple(
    str.maketrans(_LATIN, other) for other in ("αεηουβδφγκλμνπρστω", "аеиоубдфгклмнпрств", "äeiöübdfgklmnprstv")
)
_COMMON = ("the", "a", "of", "in", "and", "to")

Row = dict[str, Any]


def short_file(rows: int) -> Path:
    """JSONL with what most people have: question, answer, one reference, three short contexts as text."""
    return _kept("short", rows, _short)


def viewed_file(rows: int) -> Path:
    """The same with a fact, in a chunk or in none, and a label: what the viewer finds causes and slices from."""
    return _kept("viewed", rows, _viewed)


def answers_file(rows: int, foreign: bool = False) -> Path:
    """JSONL of answers of 60 words and references of 40; in foreign scripts if wanted."""
    return _kept("answers-foreign" if foreign else "answers", rows, _answers, foreign)


def grounded_file(rows: int, foreign: bool = False) -> Path:
    """The same with five contexts of 200 words."""
    return _kept("grounded-foreign" if foreign else "grounded", rows, _grounded, foreign)


def facts_file(rows: int, foreign: bool = False) -> Path:
    """JSONL of three facts of eight words and ten chunks of 100; one fact as it is, one slightly torn, one nowhere."""
    return _kept("facts-foreign" if foreign else "facts", rows, _facts, foreign)


def _kept(name: str, rows: int, make: Callable[[Random, list[str], int], Row], foreign: bool = False) -> Path:
    target = FOLDER / f"{name}-{rows}-v{_VERSION}.jsonl"
    if not target.exists():
        FOLDER.mkdir(exist_ok=True)
        temporary = target.with_suffix(".tmp")
        with temporary.open("w", encoding="utf-8") as stream:
            stream.writelines(f"{json.dumps(row)}\n" for row in _rows(rows, make, foreign))
        os.replace(temporary, target)
    return target


def _rows(count: int, make: Callable[[Random, list[str], int], Row], foreign: bool) -> Iterator[Row]:
    random = Random(_SEED)
    words = _vocabulary(random)
    if foreign:
        words = [_abroad(word, number % 4) for number, word in enumerate(words)]
    return (make(random, words, number) for number in range(count))


def _vocabulary(random: Random) -> list[str]:
    """Some thousand words of two to four syllables, and every fifth word of a text one of the common ones."""
    syllables = [first + second for first in "bdfgklmnprstv" for second in "aeiou"]
    rare = sorted({"".join(random.choices(syllables, k=random.choice((2, 3, 3, 4)))) for _ in range(4_000)})
    return [*rare, *(_COMMON * (len(rare) // (4 * len(_COMMON))))]


def _abroad(word: str, script: int) -> str:
    """A word in the letters of another script: Greek, Cyrillic, Latin with umlauts, or as it is."""
    return word.translate(_SCRIPTS[script]) if script < len(_SCRIPTS) else word


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


def _viewed(random: Random, words: list[str], number: int) -> Row:
    row = _short(random, words, number)
    fact = row["references"][0] if number % 3 else " ".join(random.choices(words, k=6))
    return {**row, "facts": [fact], "metadata": {"kind": f"kind {number % 5}"}}


def _answers(random: Random, words: list[str], number: int) -> Row:
    reference = random.choices(words, k=40)
    answer = reference if number % 50 == 0 else random.choices(words, k=20) + random.sample(reference, k=40)
    return {"id": f"q{number}", "answer": _sentences(answer), "references": [_sentences(reference)]}


def _grounded(random: Random, words: list[str], number: int) -> Row:
    row = _answers(random, words, number)
    said = row["answer"].split()
    chunks = [random.choices(words, k=194) + said[start : start + 6] for start in range(0, 60, 12)]
    return {**row, "contexts": [{"text": _sentences(chunk)} for chunk in chunks]}


def _facts(random: Random, words: list[str], number: int) -> Row:
    facts = [random.choices(words, k=8) for _ in range(3)]
    chunks = [random.choices(words, k=100) for _ in range(10)]
    cited, torn = random.sample(chunks, k=2)
    cited[20:28] = facts[0]
    longest = max(range(8), key=lambda at: len(facts[1][at]))
    torn[60:68] = [f"{word[:5]}-{word[5:]}" if at == longest else word for at, word in enumerate(facts[1])]
    return {
        "id": f"q{number}",
        "contexts": [{"text": _sentences(chunk)} for chunk in chunks],
        "facts": [" ".join(fact).capitalize() for fact in facts],
    }


def _answer(random: Random, reference: list[str], others: list[str]) -> list[str]:
    """Right to the word, right in part, or wrong."""
    return random.choice((reference, reference[: len(reference) // 2] + others, others))


def _sentence(words: list[str]) -> str:
    """With the capital, the comma and the full stop that a normaliser must take away."""
    text = " ".join(words) if len(words) < 7 else f"{' '.join(words[:6])}, {' '.join(words[6:])}"
    return f"{text.capitalize()}."


def _sentences(words: list[str]) -> str:
    """Sentences of about a dozen words."""
    return " ".join(_sentence(words[start : start + 12]) for start in range(0, len(words), 12))
