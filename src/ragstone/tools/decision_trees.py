"""Decision trees: questions about an answer, each with answers that lead to another question or to a score."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ragstone.errors import UsageError
from ragstone.tools.aspects import read_shows

# A longer tree costs too many calls in a row.
MOST_QUESTIONS = 50


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


def read_tree(name: str, entry: Mapping[str, Any], where: str) -> DecisionTree:
    """A tree of a user's file, or a UsageError that says what is wrong where."""
    if unknown := sorted(set(entry) - {"tree", "shows"}):
        raise UsageError(f"{where}: unknown key '{unknown[0]}'. Choose from: shows, tree.")
    tables = entry["tree"]
    if not isinstance(tables, Mapping) or not 0 < len(tables) <= MOST_QUESTIONS:
        raise UsageError(f"{where}: write 1 to {MOST_QUESTIONS} questions as [{name}.tree.NAME], the first one first.")
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
