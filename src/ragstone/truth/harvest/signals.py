"""User signals on answers, from tables and from ratings in the log, and the weights of the signals.

If one user rates an answer twice, the later rating counts. A signal from long before its answer is ignored, because its
clock is wrong. The sum of the log-odds of its signals gives the probability that an answer is good.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

import numpy as np

from ragstone.errors import InputError, Problem, UnknownNameError
from ragstone.formats.dial_logs import Rating
from ragstone.formats.log_parts import Selection, find_parts
from ragstone.formats.messages import decode
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.values import as_time
from ragstone.storage.places import open_place
from ragstone.text.feedback import KINDS, MEANINGS, WEIGHTS

Verdict = Literal["good", "bad", "unclear"]
VERDICTS: tuple[Verdict, ...] = ("good", "bad", "unclear")
FEATURES = tuple(WEIGHTS)


@dataclass(frozen=True)
class Weights:
    """The log-odds per signal; `prior` is the log-odds of an answer that has any signal."""

    weights: Mapping[str, float] = field(default_factory=lambda: dict(WEIGHTS))
    prior: float = 0.0
    # The probability from which an answer counts as good, and up to which it counts as bad.
    good_from: float = 0.8
    bad_up_to: float = 0.2

    def vector(self) -> np.ndarray:
        """The weights in the order of `FEATURES`."""
        return np.array([self.weights.get(name, 0.0) for name in FEATURES])

    def probabilities(self, features: np.ndarray) -> np.ndarray:
        """The probability that each answer is good; one row of features per answer."""
        # The logistic function, in a form that does not overflow.
        found: np.ndarray = (1.0 + np.tanh((self.prior + features @ self.vector()) / 2)) / 2
        return found

    def verdicts(self, probabilities: np.ndarray, has_signal: np.ndarray) -> np.ndarray:
        """Positions in VERDICTS; an answer without a signal is unclear."""
        good, bad, unclear = range(len(VERDICTS))
        found = np.full(len(probabilities), unclear)
        found[has_signal & (probabilities >= self.good_from)] = good
        found[has_signal & (probabilities <= self.bad_up_to)] = bad
        return found

    def lines(self) -> list[tuple[str, float, float]]:
        """Each signal with its weight and its confidence, the probability that it is right on its own."""
        return [(name, self.weights.get(name, 0.0), confidence_of(self.weights.get(name, 0.0))) for name in FEATURES]


def save_weights(weights: Weights, path: str, note: str = "") -> None:
    """Writes weights as TOML that the user can edit."""
    lines = [
        f"# {line}" for line in ["Log-odds per signal: + means that the answer is good.", *note.split("\n")] if line
    ]
    settings = {"prior": weights.prior, "good_from": weights.good_from, "bad_up_to": weights.bad_up_to}
    lines += [f"{name} = {value!r}" for name, value in settings.items()]
    lines += ["", "[weights]"]
    lines += [f"{name} = {float(weights.weights.get(name, 0.0))!r}  # {MEANINGS[name]}" for name in FEATURES]
    open_place(path).write_bytes(("\n".join(lines) + "\n").encode())


def load_weights(path: str) -> Weights:
    """Reads weights from TOML; signals that are not in the file keep their default weight."""
    try:
        content = tomllib.loads(open_place(path).read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            path, [Problem(f"is not TOML: {error}", hint="write `[weights]` and lines such as like = 3.0")]
        ) from None
    named = {name: _finite(path, name, value) for name, value in content.get("weights", {}).items()}
    for name in named:
        if name not in FEATURES:
            raise UnknownNameError("signal", name, FEATURES, f"Choose from: {', '.join(FEATURES)}.")
    settings = {
        name: _finite(path, name, content[name]) for name in ("prior", "good_from", "bad_up_to") if name in content
    }
    weights = Weights({**WEIGHTS, **named}, **settings)
    if not 0 <= weights.bad_up_to < weights.good_from <= 1:
        raise InputError(path, [Problem("bad_up_to must be below good_from, both from 0 to 1")])
    return weights


def _finite(path: str, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(path, [Problem(f"must be a number, got {value!r}", field=name)])
    return float(value)


def confidence_of(weight: float) -> float:
    """The probability that a signal of this weight alone is right."""
    return 1.0 / (1.0 + math.exp(-abs(weight)))


# The clocks of browser and server may differ by minutes.
CLOCK_TOLERANCE_S = 300.0
_NAMES = {
    "answer": ("response_id", "responseId", "answer_id", "sample_id", "message_id", "id"),
    "kind": ("kind", "signal", "event", "type"),
    "value": ("value", "text", "seconds"),
    "time": ("time", "timestamp", "created_at"),
    "user": ("user", "user_id", "user.id"),
}
_KINDS = {
    **{kind: kind for kind in KINDS},
    **dict.fromkeys(("liked", "thumbs_up", "upvote"), "like"),
    **dict.fromkeys(("disliked", "thumbs_down", "downvote"), "dislike"),
    **dict.fromkeys(("copied", "copy_code"), "copy"),
    **dict.fromkeys(("regenerated", "retry", "regen"), "regenerate"),
    **dict.fromkeys(("dwell_time", "focus_time", "time_in_focus"), "reading_time"),
    **dict.fromkeys(("followup", "follow_up", "reply"), "next_message"),
    **dict.fromkeys(("rate", "rating"), "rating"),
}


_NOTHING: tuple[str, Any] = ("", None)


class Signal(NamedTuple):
    """One user action on an answer."""

    kind: str
    value: Any
    time: float | None
    user: str | None


@dataclass
class Signals:
    """All signals by answer, with counts of the rows that were left out."""

    by_answer: dict[str, list[Signal]] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, answer: str, signal: Signal) -> None:
        """Adds a signal."""
        self.seen[signal.kind] += 1
        self.by_answer.setdefault(answer, []).append(signal)

    def add_rating(self, rating: Rating) -> None:
        """Adds a rating from a log."""
        kind = "like" if rating.liked else "dislike"
        self.add(rating.response_id, Signal(kind, 1.0, _seconds(rating.time), rating.user))

    def leave_out(self, reason: str, where: str) -> None:
        """Counts a row that cannot be used."""
        self.left_out[reason] += 1
        self.first.setdefault(reason, where)

    def of(self, answer: str, answered_at: float | None) -> list[tuple[str, Any]]:
        """The kinds and values of one answer's valid signals; the others are counted."""
        usable = [signal for signal in self.by_answer.get(answer, ()) if self._is_possible(signal, answered_at, answer)]
        usable.sort(key=lambda signal: -math.inf if signal.time is None else signal.time)
        return [*self._ratings(usable, answer), *_others(usable)]

    def _is_possible(self, signal: Signal, answered_at: float | None, answer: str) -> bool:
        if answered_at is None or signal.time is None or signal.time >= answered_at - CLOCK_TOLERANCE_S:
            return True
        self.leave_out("signals from before their answer", answer)
        return False

    def _ratings(self, signals: list[Signal], answer: str) -> list[tuple[str, Any]]:
        """The last rating of each user."""
        last: dict[str | None, str] = {}
        for signal in signals:
            if signal.kind in ("like", "dislike"):
                earlier = last.get(signal.user)
                if earlier is not None:
                    what = "repeated" if earlier == signal.kind else "changed"
                    self.leave_out(f"ratings that the same user {what} later", answer)
                last[signal.user] = signal.kind
        return [(kind, 1.0) for kind in dict.fromkeys(last.values())]


def _others(signals: list[Signal]) -> list[tuple[str, Any]]:
    """Each kind once: the longest reading time, and the first message that followed."""
    values: dict[str, Any] = {}
    for kind, value, _, _ in signals:
        if kind == "reading_time":
            values[kind] = max(value, values.get(kind, 0.0))
        elif kind == "next_message":
            values.setdefault(kind, value)
        elif kind in ("copy", "regenerate"):
            values[kind] = 1.0
    return list(values.items())


def read_signals(path: str, signals: Signals, selection: Selection | None = None) -> None:
    """Adds the signals of a table or a folder of tables: Parquet, JSON lines or CSV with one row per signal."""
    place, sources = open_place(path), [Source(path)]
    if place.is_folder():
        sources = [Source(part.place) for part in find_parts(place, selection or Selection())]
    rows = sum(_read_table(source, signals, alone=len(sources) == 1) for source in sources)
    if not rows:
        raise InputError(path, [Problem("has no signals", hint="write rows with response_id, kind and value")])


def _read_table(source: Source, signals: Signals, alone: bool) -> int:
    """Returns the number of rows of a table; one of several may be incomplete."""
    report, rows = Report(), 0
    try:
        for row in source.rows(report):
            rows += 1
            _add_row(row.values, f"{source}, {row.where}", signals)
    except InputError:
        if alone:
            raise
        signals.leave_out("incomplete or damaged parts", str(source))
    for problem in report.problems:
        signals.leave_out("rows that cannot be read", f"{source}, {problem.where}")
    return rows


def _add_row(row: Mapping[str, Any], where: str, signals: Signals) -> None:
    body = decode(row["request"].get("body")) if isinstance(row.get("request"), Mapping) else None
    values = {**row, **body} if isinstance(body, Mapping) else row
    answer = first_value(values, _NAMES["answer"])
    kind, value = _kind_of(values)
    if answer is None:
        signals.leave_out("signals without the id of their answer", where)
    elif kind is None:
        signals.leave_out(f"signals of an unknown kind: {value}", where)
    elif (fit := _fit(kind, value)) is None:
        signals.leave_out(f"invalid values of {kind}", where)
    elif fit is not _NOTHING:
        user = first_value(values, _NAMES["user"])
        time = _seconds(first_value(values, _NAMES["time"]))
        signals.add(str(answer), Signal(*fit, time, None if user is None else str(user)))


def _kind_of(row: Mapping[str, Any]) -> tuple[str | None, Any]:
    """The kind and value of a row; None and the original word if the kind is unknown."""
    if isinstance(row.get("rate"), bool):
        return "rating", row["rate"]
    word = first_value(row, _NAMES["kind"])
    kind = _KINDS.get(str(word).strip().lower().replace("-", "_").replace(" ", "_"))
    return (None, word) if kind is None else (kind, first_value(row, _NAMES["value"]))


def _fit(kind: str, value: Any) -> tuple[str, Any] | None:
    """The stored kind and value; None if the value is invalid, `_NOTHING` if it means that nothing was done."""
    if kind == "next_message":
        return (kind, value) if isinstance(value, str) else None
    number = _number(value)
    if kind == "reading_time":
        return (kind, number) if number is not None and 0 <= number < math.inf else None
    if value is None and kind != "rating":
        return kind, 1.0
    if number is None:
        return None
    if kind == "rating":
        return ("like" if number > 0 else "dislike"), 1.0
    return (kind, 1.0) if number > 0 else _NOTHING


def _number(value: Any) -> float | None:
    words = {"true": 1.0, "up": 1.0, "like": 1.0, "false": 0.0, "down": -1.0, "dislike": -1.0}
    if isinstance(value, str) and value.strip().lower() in words:
        return words[value.strip().lower()]
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def first_value(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first value under one of the names that is not empty."""
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _seconds(value: Any) -> float | None:
    time = as_time(value)
    return datetime.fromisoformat(time).timestamp() if time else None
