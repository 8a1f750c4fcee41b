"""A log as columns of numbers: all that choosing among its exchanges needs, some hundred bytes each and no text.

The first reading of a log fills these; the second fetches the exchanges that were chosen.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ragstone.text.feedback import read_feedback
from ragstone.text.languages import guess_language
from ragstone.text.questions import question_key
from ragstone.text.signals import features_of
from ragstone.truth.harvest.logs import Exchange
from ragstone.truth.harvest.signals import Signals
from ragstone.truth.harvest.weighing import FEATURES, VERDICTS, Weights

UNKNOWN = "unknown"
_FEEDBACK = {"thanks": 1, "complaint": 2}
# Words of a question: a keyword or two, a question, a task.
_LENGTHS = ((5, "short"), (20, "medium"))
_DAYS_TOLD_APART = 14
# "Thanks!" and "No, I wanted something else" are no questions; longer ones may hold one.
_LONGEST_REMARK = 5
_COLUMNS = (
    "id",
    "response",
    "chat",
    "question",
    "deployment",
    "day",
    "language",
    "length",
    "words",
    "feedback",
    "remark",
)


class Names:
    """Numbers for names, in the order in which they come."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of a name, a new one if it has none."""
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]


class Index:
    """The exchanges of a log in the order of reading."""

    def __init__(self) -> None:
        self.deployments, self.languages, self.lengths = Names(), Names(), Names()
        self._columns = {name: array("q") for name in _COLUMNS}
        self._times = array("d")

    def __len__(self) -> int:
        return len(self._times)

    def add(self, exchange: Exchange) -> None:
        """Keep what is needed of one exchange."""
        question, answer = exchange.sample.question or "", exchange.sample.answer or ""
        feedback = read_feedback(question)
        values = {
            "id": hash(exchange.sample.id),
            "response": hash(exchange.response or exchange.sample.id),
            # A deployment may ask others within the same chat; what the user says next is about the one that was asked.
            "chat": hash((exchange.chat, exchange.deployment)) if exchange.chat else 0,
            "question": hash(question_key(question)),
            "deployment": self.deployments.number(exchange.deployment or UNKNOWN),
            "day": exchange.day.toordinal() if exchange.day else 0,
            "language": self.languages.number(guess_language(question)),
            "length": self.lengths.number(length_of(question)),
            "words": len(answer.split()),
            "feedback": _FEEDBACK[feedback.kind] if feedback else 0,
            "remark": bool(feedback) and "?" not in question and len(question.split()) <= _LONGEST_REMARK,
        }
        for name, value in values.items():
            self._columns[name].append(value)
        self._times.append(float("nan") if exchange.time is None else exchange.time)

    def column(self, name: str) -> np.ndarray:
        """One column as an array."""
        return np.frombuffer(self._columns[name], dtype=np.int64)

    @property
    def times(self) -> np.ndarray:
        """When each was asked, in seconds; nan where that is not known."""
        return np.frombuffer(self._times, dtype=np.float64)

    def periods(self) -> tuple[np.ndarray, str]:
        """The day of each, or its week where the log goes over many days."""
        days = self.column("day")
        known = days[days > 0]
        if len(known) and known.max() - known.min() >= _DAYS_TOLD_APART:
            # The ordinal of a Monday is 1 modulo 7.
            return np.where(days > 0, days - (days - 1) % 7, 0), "week"
        return days, "day"


def length_of(question: str) -> str:
    """Short, medium or long, by words; of scripts without spaces four letters are about a word."""
    words = max(len(question.split()), 0 if question.isascii() else len(question) // 8)
    return next((name for most, name in _LENGTHS if words <= most), "long")


@dataclass(frozen=True)
class Judged:
    """What the signals say of each exchange of an index."""

    features: np.ndarray
    probabilities: np.ndarray
    # Places in VERDICTS.
    verdicts: np.ndarray
    has_signal: np.ndarray
    unmatched: int
    derived: dict[str, int]

    def features_of(self, row: int) -> dict[str, float]:
        """The signals of one exchange, by name."""
        return {name: float(value) for name, value in zip(FEATURES, self.features[row], strict=True) if value}


def judge(index: Index, signals: Signals, weights: Weights) -> Judged:
    """Every exchange with its signals: those of the tables, and those that the conversations themselves hold."""
    features = np.zeros((len(index), len(FEATURES)), dtype=np.float32)
    derived = _derive(index, features)
    unmatched = _take_signals(index, signals, features)
    has_signal: np.ndarray = (features != 0).any(axis=1)
    probabilities = weights.probabilities(features)
    good, bad, unclear = range(len(VERDICTS))
    verdicts = np.full(len(index), unclear)
    verdicts[has_signal & (probabilities >= weights.good_from)] = good
    verdicts[has_signal & (probabilities <= weights.bad_up_to)] = bad
    return Judged(features, probabilities, verdicts, has_signal, unmatched, derived)


def _derive(index: Index, features: np.ndarray) -> dict[str, int]:
    """What the next message of a conversation says of the answer before it: the same question again, thanks, a complaint."""
    chats, times, questions = index.column("chat"), index.times, index.column("question")
    placed = np.flatnonzero((chats != 0) & ~np.isnan(times))
    order = placed[np.lexsort((placed, times[placed], chats[placed]))]
    before, after = order[:-1], order[1:]
    follows = chats[before] == chats[after]
    before, after = before[follows], after[follows]
    again = questions[before] == questions[after]
    said = np.where(again, 0, index.column("feedback")[after])
    found = {"regenerate": before[again], "thanks": before[said == 1], "complaint": before[said == 2]}
    for name, rows in found.items():
        features[rows, FEATURES.index(name)] = 1.0
    return {name: len(rows) for name, rows in found.items()}


def _take_signals(index: Index, signals: Signals, features: np.ndarray) -> int:
    """Add the signals of the tables; returns how many answers they name that the log does not have."""
    unmatched = 0
    rows = find_rows(index, signals.by_answer)
    times, words = index.times, index.column("words")
    for answer, row in zip(signals.by_answer, rows, strict=True):
        if row < 0:
            unmatched += 1
            continue
        time = None if np.isnan(times[row]) else float(times[row])
        for name, value in features_of(signals.of(answer, time), int(words[row])).items():
            features[row, FEATURES.index(name)] = value
    return unmatched


def find_rows(index: Index, answers: Iterable[str]) -> np.ndarray:
    """The row of each answer, −1 if there is none: by the id of the response, or else by that of the sample."""
    hashes = np.array([hash(answer) for answer in answers], dtype=np.int64)
    rows = np.full(len(hashes), -1)
    for column in (index.column("id"), index.column("response")):
        order = np.argsort(column, kind="stable")
        places = np.minimum(np.searchsorted(column[order], hashes), len(column) - 1)
        found = order[places]
        rows = np.where(column[found] == hashes, found, rows)
    return rows
