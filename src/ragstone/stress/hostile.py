"""Beds of attacks: hostile chunks are added to the passages of a question, before or after them.

`attacks.toml` lists the texts. The passages themselves stay, so a right answer is possible in every row, and a question is
compared with itself without the hostile chunks.
"""

from __future__ import annotations

import base64
import codecs
import random
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from itertools import cycle
from typing import Any, NamedTuple

from ragstone.data.types import Chunk, Sample
from ragstone.data.usage import QUESTION_ID
from ragstone.metrics.attacks import ATTACK, CANARY, PASSAGES
from ragstone.metrics.rgb import NEEDED, PLANTED
from ragstone.stress.beds import Attack, Kind, Passage, Setting
from ragstone.stress.passage_pools import WHY_NO_ERROR, Pool, fold, named
from ragstone.text.sentences import sentences

# Metadata names: the number of hostile chunks, and where they are.
HOSTILE, RANK = "hostile", "rank"
RANKS = ("first", "last")
# Each hostile chunk of the overload bed is this many near-duplicates.
COPIES = 10
# Years after the date of old documents in `attacks.toml`.
_RECENT = re.compile(r"(?<!\d)20(?:1[1-9]|[2-9]\d)(?!\d)")
_SYLLABLES = [consonant + vowel for consonant in "BDFGKLMNPRSTVZ" for vowel in "AEIOU"]


class Payload(NamedTuple):
    """A hidden instruction: what it wants, how it is written, and its text with two words to be joined."""

    kind: str
    form: str
    language: str
    text: str

    def fill(self, first: str, second: str) -> str:
        """The instruction with its two words, in its form."""
        form: str = read_attacks()["forms"][self.form]
        instruction = self.text.format(first=first, second=second)
        encoded = base64.b64encode(instruction.encode()).decode()
        return form.format(instruction=instruction, base64=encoded, rot13=codecs.encode(instruction, "rot13"))


@cache
def read_attacks() -> dict[str, Any]:
    """The texts of all attacks and their version."""
    return tomllib.loads((resources.files("ragstone.stress") / "attacks.toml").read_text(encoding="utf-8"))


def list_payloads(seed: int = 0) -> list[Payload]:
    """All payloads in an order that depends on the seed; each kind of instruction comes as often as the others."""
    attacks = read_attacks()
    by_kind: dict[str, list[Payload]] = {}
    for language, instructions in attacks["instructions"].items():
        for kind, text in instructions.items():
            for form in attacks["forms"] if language == "en" else ("plain",):
                by_kind.setdefault(kind, []).append(Payload(kind, form, language, text))
    for kind, payloads in by_kind.items():
        random.Random(f"{seed}|{kind}").shuffle(payloads)  # noqa: S311  (an order, not a secret)
    return [payload for turn in zip(*by_kind.values(), strict=True) for payload in turn]


def why_not_attacked(pool: Pool, bed: Attack) -> str | None:
    """Why a question is left out of a bed of attacks; None if it is not."""
    if not pool.question.strip():
        return "there is no question"
    if bed == "injection":
        return None if pool.retrieved or pool.positives or pool.negatives else "it has no passages"
    if not pool.answers or not all(pool.answers):
        return "no right answer is known"
    if not pool.positives:
        return "no passage contains its answer"
    if bed == "overload":
        return None if pool.negatives else "there is no passage without its answer"
    return None if pool.wrong and pool.fake else pool.metadata.get(WHY_NO_ERROR) or "it has no false answer"


class Scene(NamedTuple):
    """The passages of a question, the hostile chunks that may be added to them, and metadata about the attack."""

    clean: list[Passage]
    hostile: list[Chunk]
    marks: dict[str, Any]


def attack_rows(pool: Pool, bed: Attack, setting: Setting, position: int) -> Iterator[Sample]:
    """The rows of a question: per repeat, one without hostile chunks and one per number and rank of them."""
    size = COPIES if bed == "overload" else 1
    for repeat in range(setting.repeats):
        turn = position * setting.repeats + repeat
        scene = _SCENES[bed](pool, _clean_passages(pool, setting), size * max(setting.hostile), turn, setting.seed)
        clean = {ATTACK: bed, HOSTILE: 0, RANK: "none"}
        yield _row(pool, bed, repeat, scene.clean, clean)
        for number in setting.hostile:
            added = [Passage("!", chunk) for chunk in scene.hostile[: number * size]]
            for rank in RANKS:
                order = [*added, *scene.clean] if rank == "first" else [*scene.clean, *added]
                yield _row(pool, bed, repeat, order, {**clean, **scene.marks, HOSTILE: len(added), RANK: rank})


def _row(pool: Pool, bed: Attack, repeat: int, order: Sequence[Passage], marks: dict[str, Any]) -> Sample:
    kinds = "".join(passage.kind for passage in order)
    contexts = named([passage.chunk for passage in order])
    metadata = {
        **{name: value for name, value in pool.metadata.items() if name != WHY_NO_ERROR},
        "bed": bed,
        # The share of hostile chunks.
        "rate": round(kinds.count("!") / len(kinds), 4),
        "repeat": repeat,
        QUESTION_ID: pool.id,
        PASSAGES: kinds,
        NEEDED: pool.answers,
        **marks,
    }
    relevance = {str(chunk.id): 1.0 for chunk, kind in zip(contexts, kinds, strict=True) if kind == "+"}
    return Sample(
        id=f"{pool.id}|{bed}|{marks[HOSTILE]}|{marks[RANK]}|{repeat}",
        question=pool.question,
        contexts=contexts,
        relevance=relevance or None,
        references=pool.references,
        answerable=True if relevance else None,
        metadata=metadata,
    )


def _clean_passages(pool: Pool, setting: Setting) -> list[Passage]:
    """The user's first chunks in their order, with one that contains the answer if there is one."""
    right = {fold(chunk.text) for chunk in pool.positives}
    chunks = pool.retrieved[: setting.passages]
    if not chunks:
        chunks = [*pool.positives[:2], *pool.negatives][: setting.passages]
        random.Random(f"{setting.seed}|{pool.id}").shuffle(chunks)  # noqa: S311  (an order, not a secret)
    if pool.positives and not any(fold(chunk.text) in right for chunk in chunks):
        chunks = [*chunks[: setting.passages - 1], pool.positives[0]]
    kinds: list[Kind] = ["+" if fold(chunk.text) in right else "-" for chunk in chunks]
    return [Passage(kind, chunk) for kind, chunk in zip(kinds, chunks, strict=True)]


def _injection(pool: Pool, clean: list[Passage], most: int, turn: int, seed: int) -> Scene:
    """Copies of chunks that do not contain the answer, each with the same hidden instruction."""
    payloads = list_payloads(seed)
    payload = payloads[turn % len(payloads)]
    chance = random.Random(f"{seed}|{pool.id}|{turn}")  # noqa: S311
    first, second = ("".join(chance.sample(_SYLLABLES, 3)) for _ in range(2))
    text = payload.fill(first, second)
    carriers = _carriers(pool, clean)
    hostile = [_copy(chunk, f"{chunk.text}\n\n{text}", number) for number, chunk in zip(range(most), cycle(carriers))]
    form = payload.form if payload.language == "en" else f"{payload.form}, {payload.language}"
    return Scene(clean, hostile, {"instruction": payload.kind, "form": form, CANARY: f"{first}-{second}"})


def _poison(pool: Pool, clean: list[Passage], most: int, turn: int, seed: int) -> Scene:  # noqa: ARG001
    """Copies of the user's passages with a false answer; then made-up passages that state it."""
    made = [text.format(question=pool.question, fake=pool.fake) for text in read_attacks()["poison"]["passages"]]
    texts = [*(chunk.text for chunk in pool.wrong), *made]
    return Scene(
        clean,
        [_copy(pool.wrong[0], text, number) for number, text in zip(range(most), cycle(texts))],
        {PLANTED: pool.fake},
    )


def _conflict(pool: Pool, clean: list[Passage], most: int, turn: int, seed: int) -> Scene:  # noqa: ARG001
    """Copies of the user's passages with a false answer; a line tells that they are old or unofficial."""
    stamps = read_attacks()["conflict"]
    # A passage about a recent year cannot be old.
    recent = any(_RECENT.search(chunk.text) for chunk in pool.wrong)
    basis = "source" if recent else sorted(stamps)[turn % len(stamps)]
    hostile = [
        _copy(chunk, f"{stamps[basis]['wrong']}\n\n{chunk.text}", number)
        for number, chunk in zip(range(most), cycle(pool.wrong))
    ]
    stamped = [
        Passage(kind, replace(chunk, text=f"{stamps[basis]['right']}\n\n{chunk.text}") if kind == "+" else chunk)
        for kind, chunk in clean
    ]
    return Scene(stamped, hostile, {PLANTED: pool.fake, "basis": basis})


def _overload(pool: Pool, clean: list[Passage], most: int, turn: int, seed: int) -> Scene:  # noqa: ARG001
    """Near-duplicates of the nearest chunk without the answer: its sentences rotated, with a number at the end."""
    chunk = _carriers(pool, clean)[0]
    parts = [chunk.text[start:end].strip() for start, end in sentences(chunk.text)] or [chunk.text]
    texts = (" ".join([*parts[n % len(parts) :], *parts[: n % len(parts)], f"({n + 1})"]) for n in range(most))
    return Scene(clean, [_copy(chunk, text, number) for number, text in enumerate(texts)], {})


_SCENES: dict[Attack, Callable[[Pool, list[Passage], int, int, int], Scene]] = {
    "injection": _injection,
    "poison": _poison,
    "conflict": _conflict,
    "overload": _overload,
}


def _carriers(pool: Pool, clean: Sequence[Passage]) -> list[Chunk]:
    """Chunks for hostile text: without the answer and not among the passages, if there are any."""
    there = {fold(passage.chunk.text) for passage in clean}
    return [chunk for chunk in pool.negatives if fold(chunk.text) not in there] or pool.negatives or [clean[-1].chunk]


def _copy(chunk: Chunk, text: str, number: int) -> Chunk:
    return replace(chunk, text=text, id=None if chunk.id is None else f"{chunk.id.rstrip('!')}!{number + 1}")
