"""The world's truth, and samples about it in which it is known which claim stands where.

Each sample asks for some attributes of one ship. For each attribute a fate is drawn: what the answer says about it and what
the chunks say. So it is known, without reading a text, which claims are right, supported, contradicted or made up.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.language import (
    FILLERS,
    REFUSALS,
    SHIP_ATTRIBUTES,
    SHIPS,
    Language,
    Proposition,
    Statement,
    ask,
    join,
    language_of_thing,
    say,
    values,
)

# What can become of an attribute that the question asks for.
FATES = (
    "right",  # the answer has it from a chunk
    "ignored",  # a chunk has it, the answer leaves it out
    "missing",  # neither has it
    "own_knowledge",  # the answer is right, no chunk says it
    "misread",  # the answer is wrong, with a chunk that also has something right
    "misled",  # the answer is wrong, with a chunk that has nothing right
    "misled_twice",  # the answer is wrong, with a chunk of either kind
    "made_up",  # the answer is wrong, no chunk says it and one denies it
    "split",  # the answer is right; it takes two chunks together to see it
)


@dataclass
class World:
    """One sample of the world, as statements: what it says is known before there is a text."""

    id: str
    language: Language
    subject: str
    asked: list[str]
    reference: list[Statement] | None
    answer: list[Statement]
    chunks: list[list[Statement]]
    fates: dict[str, str] = field(default_factory=dict)

    @property
    def question(self) -> str:
        return ask(self.subject, self.asked)

    @property
    def noncommittal(self) -> bool:
        return any(statement.text in REFUSALS.values() for statement in self.answer)

    def row(self) -> dict[str, Any]:
        """The sample as a user's file would have it."""
        row: dict[str, Any] = {
            "id": self.id,
            "question": self.question,
            "answer": join(self.language, self.answer),
            "contexts": [join(self.language, chunk) for chunk in self.chunks],
        }
        if self.reference is not None:
            row["references"] = [join(self.language, self.reference)]
            row["facts"] = [statement.text for statement in self.reference]
        return row


def truth(language: Language, subject: str, attribute: str) -> Proposition:
    """What is true in the world: drawn once for all by a hash, except a ship's flag, which follows from its port."""
    if attribute == "flag":
        port = truth(language, subject, "port").value
        return Proposition(subject, "flag", truth(language, port, "country").value)
    digest = hashlib.blake2b(f"{subject}/{attribute}".encode(), digest_size=4).digest()
    known = values(language, attribute)
    return Proposition(subject, attribute, known[int.from_bytes(digest, "big") % len(known)])


def is_true(meaning: Proposition) -> bool:
    """Whether the world is so."""
    return truth(language_of_thing(meaning.subject), meaning.subject, meaning.attribute) == meaning


def make_samples(
    count: int, seed: int = 0, languages: tuple[Language, ...] = ("en", "en", "en", "de", "zh")
) -> list[World]:
    """Samples of all kinds: every seventh is one of the special ones, the others draw a fate for each attribute."""
    chance = random.Random(seed)
    made = []
    for number in range(count):
        language = languages[number % len(languages)]
        sample = _Maker(chance, language, f"w{seed}-{number}").make(chance.choice(SHIPS[language]))
        if number % 7 == 6:
            _make_special(sample, ("noncommittal", "nothing_found", "no_reference", "wrong_and_lost")[number // 7 % 4])
        made.append(sample)
    return made


def _make_special(sample: World, kind: str) -> None:
    sample.fates = {"all": kind}
    if kind == "noncommittal":
        sample.answer = [Statement(REFUSALS[sample.language], "nothing")]
    elif kind == "nothing_found":
        sample.chunks = []
    elif kind == "no_reference":
        sample.reference = None
    else:
        sample.chunks = [[Statement(FILLERS[sample.language][0], "nothing")]]
        wrong = [
            _other_value(sample.language, statement.meaning)
            for statement in sample.reference or ()
            if statement.meaning
        ]
        sample.answer = [say(sample.language, meaning) for meaning in wrong]


def _other_value(language: Language, right: Proposition, step: int = 1) -> Proposition:
    known = values(language, right.attribute)
    return right._replace(value=known[(known.index(right.value) + step) % len(known)])


class _Maker:
    """Draws one sample: what goes into the answer, into chunks with something right and into chunks with nothing right."""

    def __init__(self, chance: random.Random, language: Language, name: str) -> None:
        self.chance, self.language, self.name = chance, language, name
        self.answer: list[Statement] = []
        self.good: list[list[Statement]] = [[]]
        self.bad: list[list[Statement]] = []

    def make(self, subject: str) -> World:
        asked = self.chance.sample(SHIP_ATTRIBUTES, self.chance.randint(2, 4))
        fates = {attribute: self._fate(attribute, asked) for attribute in asked}
        self._settle(fates)
        for attribute, fate in fates.items():
            self._apply(fate, truth(self.language, subject, attribute))
        if self.chance.random() < 0.3:
            self._add_extra(subject, asked)
        chunks = [self._padded(chunk, subject) for chunk in (*self.good, *self.bad)]
        self.chance.shuffle(chunks)
        reference = [say(self.language, truth(self.language, subject, attribute)) for attribute in asked]
        answer = self.answer or [Statement(REFUSALS[self.language], "nothing")]
        return World(self.name, self.language, subject, asked, reference, answer, chunks, fates)

    def _fate(self, attribute: str, asked: list[str]) -> str:
        """Only a flag can be split; with the port asked too, its half would be a claim of the reference."""
        if attribute == "flag":
            return "right" if "port" in asked else "split"
        return self.chance.choice(FATES[:-1])

    def _settle(self, fates: dict[str, str]) -> None:
        """`misread` needs a chunk with something right; without one the wrong chunk is just wrong."""
        if not {"right", "ignored"} & set(fates.values()):
            fates.update({name: "misled" for name, fate in fates.items() if fate in ("misread", "misled_twice")})

    def _apply(self, fate: str, right: Proposition) -> None:
        wrong = _other_value(self.language, right)
        if fate in ("right", "own_knowledge", "split"):
            self.answer.append(self._say(right))
        elif fate not in ("ignored", "missing"):
            self.answer.append(self._say(wrong))
        if fate in ("right", "ignored"):
            self.good[0].append(self._say(right, 1))
        if fate in ("misread", "misled_twice"):
            self.good[0].append(self._say(wrong, 1))
        if fate in ("misled", "misled_twice"):
            self.bad.append([self._say(wrong, 1)])
        if fate == "made_up":
            self.bad.append(
                [self._say(wrong, 0, "denies"), self._say(_other_value(self.language, right, 2), 0, "quotes")]
            )
        if fate == "own_knowledge":
            self.bad.append([self._say(right, 0, "quotes")])
        if fate == "split":
            port = truth(self.language, right.subject, "port")
            self.bad.append([self._say(port, 1)])
            self.bad.append([self._say(truth(self.language, port.value, "country"), 1)])

    def _add_extra(self, subject: str, asked: list[str]) -> None:
        """A true claim that a chunk supports and that nobody asked for: the reference does not have it."""
        for attribute in [name for name in SHIP_ATTRIBUTES if name not in (*asked, "port", "flag")][:1]:
            meaning = truth(self.language, subject, attribute)
            self.answer.append(self._say(meaning))
            self.bad.append([self._say(meaning, 1)])

    def _padded(self, chunk: list[Statement], subject: str) -> list[Statement]:
        """A chunk among sentences that say nothing of the ship: a filler, and often another ship of a similar name."""
        mixed = [*chunk, Statement(self.chance.choice(FILLERS[self.language]), "nothing")]
        if (other := self.chance.choice(SHIPS[self.language])) != subject:
            mixed.append(self._say(truth(self.language, other, "captain"), 1))
        self.chance.shuffle(mixed)
        return mixed

    def _say(self, meaning: Proposition, wording: int = 0, stance: Any = "asserts") -> Statement:
        return say(self.language, meaning, wording, stance)
