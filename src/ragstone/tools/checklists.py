"""Checklists: items that an answer meets or not, from a user's TOML file or from the metadata of a sample.

Decision trees of the same file ask questions about an answer; each answer leads to another question or to a score.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from ragstone.errors import Skip, UsageError
from ragstone.tools.aspects import is_checklist, read_entries, read_reason, read_shows

YES, NO, NOT_APPLICABLE = "yes", "no", "not_applicable"
KEY = "checklist"
# The item after the last question of a tree's path: its verdict is the score.
SCORE = "score"
# More items do not fit a reply that can be trusted.
MOST_ITEMS = 50
_KEYS = {KEY, "shows", "reason"}
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Checklist:
    """A named list of items, what the judge sees next to the answer, and whether it writes a reason per item."""

    name: str
    items: tuple[str, ...]
    shows: tuple[str, ...] = ("question",)
    reasons: bool = False

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> Self:
        """The checklist in a sample's metadata."""
        if metadata.get(KEY) is None:
            raise Skip("the metadata has no checklist")
        items = as_items(metadata[KEY])
        if items is None:
            raise ValueError(f"metadata.checklist must be a list of 1 to {MOST_ITEMS} texts")
        return cls("own", items)

    @property
    def hash(self) -> str:
        """A hash of the wording, for signatures."""
        wording = json.dumps([self.name, self.items, self.shows, self.reasons])
        return hashlib.sha256(wording.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Leaf:
    """The score, from 0 to 1, at which a path ends, and why."""

    score: float
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A question, and the step that each answer leads to: the name of another question, or a leaf."""

    ask: str
    steps: Mapping[str, str | Leaf]

    @property
    def answers(self) -> dict[str, str]:
        """The answers by their folded words."""
        return {fold_answer(answer): answer for answer in self.steps}

    def check(self, reply: Any) -> str | None:
        """The error in the choice of a reply, worded for the model; None if there is none."""
        return None if fold_answer(reply.choice) in self.answers else f"choose one of: {', '.join(self.steps)}"


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """Named questions, the first one first. `lengths`: the most questions from each one on, itself included."""

    name: str
    decisions: Mapping[str, Decision]
    lengths: Mapping[str, int]
    shows: tuple[str, ...]

    @property
    def items(self) -> list[str]:
        """The questions."""
        return [decision.ask for decision in self.decisions.values()]

    @property
    def hash(self) -> str:
        """A hash of the wording, for signatures."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:12]

    def longest(self, decision: Decision) -> str:
        """The answer after which most questions may follow: a quote assumes it."""
        return max(decision.steps, key=lambda answer: self.lengths.get(str(decision.steps[answer]), 0))


def fold_answer(words: str) -> str:
    """Letters and digits in lower case."""
    return re.sub(r"[\W_]+", " ", words).strip().casefold()


def read_checklists(path: str | Path) -> dict[str, Checklist | DecisionTree]:
    """The checklists and decision trees of a user's file of aspects."""
    entries = {name: entry for name, entry in read_entries(path).items() if is_checklist(entry)}
    return {name: _read_checklist(name, entry, f"{path}, [{name}]") for name, entry in entries.items()}


def _read_checklist(name: str, entry: Mapping[str, Any], where: str) -> Checklist | DecisionTree:
    if not _NAME.fullmatch(name):
        raise UsageError(f"{where}: a name has lower-case letters, digits and '_' only.")
    if "tree" in entry:
        return _read_tree(name, entry, where)
    if unknown := sorted(set(entry) - _KEYS):
        raise UsageError(f"{where}: unknown key '{unknown[0]}'. Choose from: {', '.join(sorted(_KEYS))}.")
    items = as_items(entry[KEY])
    if items is None:
        raise UsageError(f"{where}: 'checklist' must be a list of 1 to {MOST_ITEMS} texts.")
    return Checklist(name, items, read_shows(entry, where), read_reason(entry, where))


def as_items(value: Any) -> tuple[str, ...] | None:
    """The items of a list of texts, each once; None if it is not one, or is empty or too long."""
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        return None
    items = tuple(dict.fromkeys(item.strip() for item in value if item.strip()))
    return items if 0 < len(items) <= MOST_ITEMS else None


def _read_tree(name: str, entry: Mapping[str, Any], where: str) -> DecisionTree:
    """A tree of a user's file, or a UsageError that says what is wrong where."""
    if unknown := sorted(set(entry) - {"tree", "shows"}):
        raise UsageError(f"{where}: unknown key '{unknown[0]}'. Choose from: shows, tree.")
    tables = entry["tree"]
    if not isinstance(tables, Mapping) or not 0 < len(tables) <= MOST_ITEMS:
        raise UsageError(f"{where}: write 1 to {MOST_ITEMS} questions as [{name}.tree.NAME], the first one first.")
    decisions = {key: _read_decision(table, f"{where}, question '{key}'") for key, table in tables.items()}
    lengths: dict[str, int] = {}
    _measure(next(iter(decisions)), decisions, lengths, (), where)
    if lost := [key for key in decisions if key not in lengths]:
        raise UsageError(f"{where}: no answer leads to {', '.join(map(repr, lost))}.")
    return DecisionTree(name, decisions, lengths, read_shows(entry, where))


def _read_decision(table: Any, where: str) -> Decision:
    if not isinstance(table, Mapping) or not isinstance(table.get("ask"), str) or not table["ask"].strip():
        raise UsageError(f"{where}: 'ask' is missing; it must be a text.")
    steps = {key: _read_step(step, f"{where}, answer '{key}'") for key, step in table.items() if key != "ask"}
    decision = Decision(table["ask"].strip(), steps)
    if len(steps) < 2 or len(decision.answers) < len(steps) or "" in decision.answers:
        raise UsageError(f"{where}: it needs two answers or more, which differ in letters or digits.")
    return decision


def _read_step(step: Any, where: str) -> str | Leaf:
    if isinstance(step, str):
        return step
    leaf = step if isinstance(step, Mapping) else {"score": step}
    score, reason = leaf.get("score", ""), leaf.get("reason")
    is_score = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
    if not is_score or set(leaf) - {"score", "reason"} or not isinstance(reason, str | None):
        raise UsageError(f"{where}: write the next question, a score from 0 to 1, or {{ score = 0.5, reason = '…' }}.")
    return Leaf(float(score), reason)


def _measure(
    name: str, decisions: Mapping[str, Decision], lengths: dict[str, int], path: tuple[str, ...], where: str
) -> None:
    """Fill in the longest path from a question on."""
    if name not in decisions:
        raise UsageError(f"{where}: '{path[-1]}' leads to '{name}', which is not a question of the tree.")
    if name in path:
        raise UsageError(f"{where}: the questions go in a circle: {' → '.join([*path[path.index(name) :], name])}.")
    if name not in lengths:
        nexts = [step for step in decisions[name].steps.values() if isinstance(step, str)]
        for step in nexts:
            _measure(step, decisions, lengths, (*path, name), where)
        lengths[name] = 1 + max((lengths[step] for step in nexts), default=0)
