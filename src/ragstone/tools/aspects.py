"""Aspects in which answers are graded (packaged, or from a user's TOML file)."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from ragstone.errors import UnknownNameError, UsageError

# Fields that a prompt may show next to the answer.
SHOWN = ("question", "contexts")
_WORDS = ("task", "opposite", "instruction")
_KEYS = {*_WORDS, "shows", "rubric", "examples"}
# Of an aspect that answers pass or fail.
_PASS_KEYS = {"pass", "fail", "task", "shows", "reason"}
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class GradedExample:
    """An answer with the grade that it deserves, as a share of the scale."""

    question: str
    answer: str
    share: float
    reasoning: str
    reference: str | None = None
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Aspect:
    """One respect in which answers are graded: the words that fill the prompt, and what the judge sees."""

    name: str
    task: str
    opposite: str
    instruction: str
    shows: tuple[str, ...] = ("question",)
    # What each step of the scale means, from worst to best.
    rubric: tuple[str, ...] = ()
    examples: tuple[GradedExample, ...] = field(default=())
    # Whether the answer passes or fails, in place of a grade: `instruction` says what passes and `opposite` what fails.
    is_binary: bool = False
    # Whether the judge writes its reasons before a verdict.
    reasons: bool = False

    @property
    def words(self) -> str:
        """The name as it is written in a sentence."""
        return self.name.replace("_", " ")

    @property
    def hash(self) -> str:
        """A hash of the wording, for signatures."""
        parts = [getattr(self, name) for name in (*_WORDS, "shows", "rubric")]
        binary = ["pass_fail", self.reasons] if self.is_binary else []
        wording = json.dumps([self.name, *parts, *map(repr, self.examples), *binary])
        return hashlib.sha256(wording.encode()).hexdigest()[:12]


@cache
def packaged_aspects() -> Mapping[str, Aspect]:
    """The aspects that come with us."""
    text = resources.files("ragstone.evidence_functions").joinpath("aspects.toml").read_text(encoding="utf-8")
    return {name: _read_aspect(name, entry, "aspects.toml") for name, entry in tomllib.loads(text).items()}


# Those of users' files, once they are read.
_USERS: dict[str, Aspect] = {}


def find_aspect(name: str) -> Aspect:
    """The aspect of that name: ours, or one of a file that was read."""
    known = {**packaged_aspects(), **_USERS}
    if name not in known:
        raise UnknownNameError("aspect", name, known, f"Choose from: {', '.join(known)}.")
    return known[name]


def read_aspects(path: str | Path) -> dict[str, Aspect]:
    """The aspects of a user's file, or a UsageError that says what is wrong where; checklists are left out."""
    entries = {name: entry for name, entry in read_entries(path).items() if not is_checklist(entry)}
    aspects = {name: _read_aspect(name, entry, str(path)) for name, entry in entries.items()}
    if taken := sorted(aspects.keys() & packaged_aspects().keys()):
        raise UsageError(f"{path}: the aspect '{taken[0]}' comes with Ragstone; give yours another name.")
    _USERS.update(aspects)
    return aspects


def is_checklist(entry: Any) -> bool:
    """Whether an entry of a file of aspects is a checklist or a decision tree."""
    return isinstance(entry, Mapping) and not {"checklist", "tree"}.isdisjoint(entry)


def read_entries(path: str | Path) -> dict[str, Any]:
    """The tables of a user's file of aspects and checklists."""
    try:
        entries = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise UsageError(f"the file of aspects '{path}' does not exist.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as TOML: {error}") from None
    if not entries:
        raise UsageError(f"{path}: it contains no aspect. Write one as [politeness] with task, opposite, instruction.")
    return entries


def _read_aspect(name: str, entry: Any, place: str) -> Aspect:
    where = f"{place}, [{name}]"
    if not _NAME.fullmatch(name):
        raise UsageError(f"{where}: a name has lower-case letters, digits and '_' only.")
    if not isinstance(entry, Mapping):
        raise UsageError(f"{place}: '{name}' is outside of any aspect; write [{name}] and its keys below.")
    if "pass" in entry:
        return _read_pass_fail(name, entry, where)
    if unknown := sorted(set(entry) - _KEYS):
        raise UsageError(f"{where}: unknown key '{unknown[0]}'. Choose from: {', '.join(sorted(_KEYS))}.")
    for word in _WORDS:
        if not isinstance(entry.get(word), str) or not entry[word].strip():
            raise UsageError(f"{where}: '{word}' is missing; it must be a text.")
    shows = read_shows(entry, where)
    rubric = _texts(entry.get("rubric", []), f"{where}: 'rubric'")
    if len(rubric) == 1:
        raise UsageError(f"{where}: a rubric needs two steps or more, from worst to best.")
    examples = tuple(_read_example(item, shows, where) for item in entry.get("examples", ()))
    task, opposite, instruction = (entry[word].strip() for word in _WORDS)
    return Aspect(name, task, opposite, instruction, shows, rubric, examples)


def _read_pass_fail(name: str, entry: Mapping[str, Any], where: str) -> Aspect:
    """An aspect that answers pass or fail; without `fail`, everything that does not pass fails."""
    if unknown := sorted(set(entry) - _PASS_KEYS):
        raise UsageError(f"{where}: unknown key '{unknown[0]}'. Choose from: {', '.join(sorted(_PASS_KEYS))}.")
    texts = {
        key: entry.get(key, default) for key, default in (("pass", ""), ("fail", "everything else"), ("task", "answer"))
    }
    for key, text in texts.items():
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"{where}: '{key}' must be a text.")
    passes, fails, task = (text.strip() for text in texts.values())
    shows, reasons = read_shows(entry, where), read_reason(entry, where)
    return Aspect(name, task, fails, passes, shows, is_binary=True, reasons=reasons)


def read_shows(entry: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """The fields that the judge sees next to the answer."""
    shows = _texts(entry.get("shows", ["question"]), f"{where}: 'shows'")
    if strange := [shown for shown in shows if shown not in SHOWN]:
        raise UsageError(f"{where}: 'shows' cannot have '{strange[0]}'. Choose from: {', '.join(SHOWN)}.")
    return shows


def read_reason(entry: Mapping[str, Any], where: str) -> bool:
    """Whether the judge writes a reason before each verdict."""
    reason = entry.get("reason", False)
    if not isinstance(reason, bool):
        raise UsageError(f"{where}: 'reason' must be true or false, got {reason!r}.")
    return reason


def _texts(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError(f"{where} must be a list of texts.")
    return tuple(value)


def _read_example(entry: Any, shows: tuple[str, ...], where: str) -> GradedExample:
    needed = {"question", "answer", "share", "reasoning", *(["contexts"] if "contexts" in shows else [])}
    if not isinstance(entry, Mapping):
        raise UsageError(f"{where}: an example must be a table with {', '.join(sorted(needed))}.")
    if missing := sorted(needed - set(entry)):
        raise UsageError(f"{where}: an example has no '{missing[0]}'.")
    if unknown := sorted(set(entry) - needed - {"contexts", "reference"}):
        raise UsageError(f"{where}: an example has an unknown key '{unknown[0]}'.")
    share = entry["share"]
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise UsageError(f"{where}: the share of an example must be from 0 to 1, got {share!r}.")
    return GradedExample(
        question=str(entry["question"]),
        answer=str(entry["answer"]),
        share=float(share),
        reasoning=str(entry["reasoning"]),
        reference=entry.get("reference"),
        contexts=_texts(entry.get("contexts", []), f"{where}: 'contexts'"),
    )


@dataclass(frozen=True)
class Scale:
    """From which to which number, in the words of a prompt."""

    name: str
    lowest: int
    highest: int
    words: str
    lowest_words: str
    highest_words: str
    whole: bool

    def share(self, grade: float) -> float:
        """A grade as a share of the scale, from 0 to 1."""
        return (grade - self.lowest) / (self.highest - self.lowest)

    def grade(self, share: float) -> int:
        """The whole grade that is nearest to a share of the scale."""
        return round(self.lowest + share * (self.highest - self.lowest))

    def check(self, grade: float) -> str | None:
        """The error message for a grade, or None."""
        if not self.lowest <= grade <= self.highest:
            return f"the grade {grade:g} is not on the scale from {self.lowest} to {self.highest}"
        if self.whole and grade != int(grade):
            return f"the grade {grade:g} is not a whole number from {self.lowest} to {self.highest}"
        return None
