"""A conversation as all outputs show it: the evaluated turns in order, each with its status, and the messages between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragstone.analysis.cause_names import Outcome
from ragstone.analysis.sample_evidence import Case
from ragstone.views.marks import Limits


@dataclass(frozen=True)
class Message:
    """A message that is not part of an evaluated turn; `number` is its place in the conversation from 1."""

    number: int
    role: str
    text: str


@dataclass(frozen=True)
class EvaluatedTurn:
    """A question with its answer and status. `number` is the place of the question among all messages."""

    row: int
    number: int
    earlier: tuple[Message, ...]
    question: str
    answer: str | None
    status: str
    wrong: float | None
    cause: str


@dataclass(frozen=True)
class TurnCounts:
    """A conversation in a list: its rows in order, how many seem wrong, and the row that is most probably wrong."""

    name: str
    rows: tuple[int, ...]
    statuses: tuple[str, ...]
    wrong: int
    worst: int
    probability: float


def conversation_turns(
    cases: Mapping[int, Case], outcomes: Mapping[int, Outcome], rows: Sequence[int], limits: Limits
) -> list[EvaluatedTurn]:
    """The turns of these rows in order. Messages of the history that no earlier row has are shown before their turn."""
    turns, known = [], 0
    for row in rows:
        sample, outcome = cases[row].sample, outcomes[row]
        history = sample.history or []
        earlier = [
            Message(at + 1, message.role, limits.shorten(message.text))
            for at, message in enumerate(history)
            if at >= known
        ]
        turns.append(
            EvaluatedTurn(
                row=row + 1,
                number=len(history) + 1,
                earlier=tuple(earlier),
                question=limits.shorten(sample.question or ""),
                answer=None if sample.answer is None else limits.shorten(sample.answer),
                status=outcome.status,
                wrong=outcome.wrong,
                cause=outcome.cause.name if outcome.cause else "",
            )
        )
        known = max(known, len(history) + 2)
    return turns


def worst_first(
    conversations: Mapping[str, Sequence[int]], status: Mapping[int, tuple[str, float | None]]
) -> list[TurnCounts]:
    """The conversations, those with most wrong turns first, then those with the most probably wrong turn."""
    counted = []
    for name, rows in conversations.items():
        known = [status.get(row, ("", None)) for row in rows]
        chances = [chance or 0.0 for _, chance in known]
        worst = max(range(len(rows)), key=chances.__getitem__)
        statuses = tuple(word for word, _ in known)
        counted.append(
            TurnCounts(name, tuple(rows), statuses, statuses.count("wrong"), rows[worst] + 1, chances[worst])
        )
    return sorted(counted, key=lambda one: (-one.wrong, -one.probability))
