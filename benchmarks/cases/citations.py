"""What becomes of citations that are changed by a rule, on sentences of SQuAD's development set: a thousand, each changed in many ways.

Changes that keep the meaning should hold; those that do not must not.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.results import Result
from ragstone.stats.intervals import wilson_interval
from ragstone.text.sentences import sentences
from ragstone.truth.citations.check import check_citation

_SENTENCES = 1_000
_SEED = 0
_DATA = Path(os.environ.get("RAGSTONE_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
_NEGATION = re.compile(r" (?:not|never|no|without) ")


def _upper(text: str, chance: random.Random) -> str:  # noqa: ARG001
    return text.upper()


def _lower(text: str, chance: random.Random) -> str:  # noqa: ARG001
    return text.lower()


def _other_lines(text: str, chance: random.Random) -> str:  # noqa: ARG001
    return text.replace(" ", "\n  ")


def _no_commas(text: str, chance: random.Random) -> str:  # noqa: ARG001
    return re.sub(r"(?<!\d),(?!\d)", "", text).rstrip(".")


def _plain_marks(text: str, chance: random.Random) -> str:  # noqa: ARG001
    return text.translate(str.maketrans("“”‘’–—", "\"\"''--"))


def _torn(text: str, chance: random.Random) -> str:
    words = list(re.finditer(r"[a-z]{8,}", text))
    place = chance.choice(words).start() + 4 if words else 0
    return f"{text[:place]}-\n{text[place:]}" if words else text


def _in_list(text: str, chance: random.Random) -> str:  # noqa: ARG001
    return f'1. "{text}"'


def _other_digit(text: str, chance: random.Random) -> str:
    places = [found.start() for found in re.finditer(r"\d", text)]
    if not places:
        return text
    place = chance.choice(places)
    return f"{text[:place]}{(int(text[place]) + chance.randint(1, 9)) % 10}{text[place + 1 :]}"


def _lost_word(text: str, chance: random.Random) -> str:
    words = text.split()
    place = chance.randrange(1, len(words) - 1)
    return " ".join([*words[:place], *words[place + 1 :]])


def _swapped(text: str, chance: random.Random) -> str:
    words = text.split()
    place = chance.randrange(0, len(words) - 1)
    return " ".join([*words[:place], words[place + 1], words[place], *words[place + 2 :]])


def _lost_negation(text: str, chance: random.Random) -> str:  # noqa: ARG001
    return _NEGATION.sub(" ", text, count=1)


def _cut_negation(text: str, chance: random.Random) -> str:  # noqa: ARG001
    found = _NEGATION.search(text)
    return text[found.end() :] if found and len(text[found.end() :].split()) > 2 else text


def _new_negation(text: str, chance: random.Random) -> str:
    words = text.split()
    place = chance.randrange(1, len(words))
    return " ".join([*words[:place], "not", *words[place:]])


def _one_letter(text: str, chance: random.Random) -> str:
    places = [found.start() for found in re.finditer(r"(?<=[a-z])[a-z](?=[a-z])", text)]
    place = chance.choice(places) if places else 0
    other = chance.choice([letter for letter in "aeioustrn" if letter != text[place]])
    return f"{text[:place]}{other}{text[place + 1 :]}" if places else text


_HARMLESS: tuple[Callable[[str, random.Random], str], ...] = (
    _upper,
    _lower,
    _other_lines,
    _no_commas,
    _plain_marks,
    _torn,
    _in_list,
)
_HARMFUL: tuple[Callable[[str, random.Random], str], ...] = (
    *(_other_digit, _lost_word, _swapped, _lost_negation, _cut_negation, _new_negation, _one_letter),
)


def run(peers: bool) -> list[Result]:  # noqa: ARG001
    """The share of each kind of change that holds."""
    path = _DATA / "squad" / "dev_v1.1_from_pages.json"
    if not path.exists():
        print(f"skipped: {path} is not there", file=sys.stderr)
        return []
    chosen = random.Random(_SEED).sample(list(_read(path)), _SENTENCES)
    return [
        *(_measure(change, chosen, wanted=True) for change in _HARMLESS),
        *(_measure(change, chosen, wanted=False) for change in _HARMFUL),
    ]


def _read(path: Path) -> Iterator[tuple[str, str]]:
    """Each sentence of eight words or more with its paragraph."""
    for paragraphs in json.loads(path.read_text(encoding="utf-8")).values():
        for paragraph in paragraphs:
            text = paragraph["context"] if isinstance(paragraph, dict) else paragraph
            for start, end in sentences(text):
                if len(text[start:end].split()) >= 8:
                    yield text[start:end], text


def _measure(change: Callable[[str, random.Random], str], chosen: list[tuple[str, str]], wanted: bool) -> Result:
    chance = random.Random(_SEED)
    changed = [(new, text, old) for old, text in chosen if (new := change(old, chance)) != old]
    held = [(new, text) for new, text, _ in changed if check_citation(new, [text]).holds]
    interval = wilson_interval(len(held), len(changed))
    words = change.__name__.strip("_").replace("_", " ")
    note = f"{len(held)} of {len(changed)} hold, 95 % interval {interval.low:.4f} to {interval.high:.4f}"
    least, most = (0.95, None) if wanted else (None, 0.02)
    return Result(
        f"{'keeps the meaning' if wanted else 'changes it'}: {words}",
        len(held) / len(changed),
        "agreement",
        note=note,
        at_least=least,
        at_most=most,
    )
