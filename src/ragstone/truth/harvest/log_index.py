"""Reads logs of any format as exchanges, and indexes them as columns of numbers, about a hundred bytes per exchange.

The first reading of a log fills the index, which has all that the draw needs. The second fetches the drawn exchanges.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np

from ragstone.data.dataset import view_samples
from ragstone.data.types import Sample
from ragstone.errors import InputError, Problem, RagstoneError, UsageError
from ragstone.formats.base import Format
from ragstone.formats.catalogue import find_format, recognise
from ragstone.formats.column_map import check_map
from ragstone.formats.dial_logs import DialLogsFormat, Rating
from ragstone.formats.log_parts import Selection
from ragstone.formats.reader import Reader
from ragstone.formats.sources import Source
from ragstone.formats.values import as_time, find_time, watch_times
from ragstone.storage.places import open_place
from ragstone.text.feedback import features_of, read_feedback
from ragstone.text.languages import guess_language
from ragstone.text.questions import question_key
from ragstone.truth.harvest.signals import FEATURES, Signals, Weights, first_value

OnRating = Callable[[Rating], None]
# Metadata names in logs that use our names for questions and answers, the more specific first.
_NAMES = {
    "chat": ("chat_id", "chat.id", "conversation_id", "session_id", "thread_id"),
    "user": ("user", "user_id"),
    "deployment": ("deployment", "application", "app"),
    "response": ("response_id", "responseId", "message_id"),
}
UNKNOWN = "unknown"
_FEEDBACK = {"thanks": 1, "complaint": 2}
# Most words of a short and of a medium question.
_LENGTHS = ((5, "short"), (20, "medium"))
_MOST_DAYS = 14
# Most words of a remark such as "Thanks!"; longer messages may contain a question.
_LONGEST_REMARK = 5
_FILES = (".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".gz", ".log", ".arrow", ".feather")


class Exchange(NamedTuple):
    """A question and its answer, with time, chat, user and deployment if the log has them."""

    sample: Sample
    time: float | None
    day: date | None
    chat: str | None
    user: str | None
    deployment: str | None
    response: str | None


@dataclass
class Tally:
    """The counts of a reading: rows, parts, and left-out rows by reason with the first example."""

    rows: int = 0
    exchanges: int = 0
    parts: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    # Exchanges without a day, and their columns, each with whether it contains times.
    without_time: int = 0
    columns: dict[str, bool] = field(default_factory=dict)

    def leave_out(self, reason: str, where: str, times: int = 1) -> None:
        """Counts something that is left out."""
        self.left_out[reason] += times
        self.first.setdefault(reason, where)


@dataclass(frozen=True)
class Log:
    """One or several logs with the selection and the names of their columns."""

    paths: tuple[str, ...]
    selection: Selection = field(default_factory=Selection)
    format: str | None = None
    renames: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "-" in self.paths:
            raise UsageError("a log is read twice, so it cannot be read from standard input; save it as a file first")
        check_map(self.renames, "time")

    def exchanges(self, tally: Tally, on_rating: OnRating | None = None) -> Iterator[Exchange]:
        """All exchanges in the order of the log, the same each time; `on_rating` receives the ratings among them."""
        seen: set[int] = set()
        paths = [file for path in self.paths for file in self._files(path)]
        for number, path in enumerate(paths, start=1):
            fresh: set[int] = set()
            for exchange in self._of_path(path, tally, on_rating):
                sample = exchange.sample
                is_known = hash(sample.id) in seen
                repeated = "rows with a repeated id" if exchange.response and is_known else None
                if reason := self._unwanted(exchange) or repeated:
                    tally.leave_out(reason, sample.id)
                    continue
                tally.exchanges += 1
                if exchange.day is None:
                    tally.without_time += 1
                    watch_times(tally.columns, sample.metadata)
                if is_known:  # the id was made from the question, which another file has too
                    sample = replace(sample, id=f"{sample.id}-{number}")
                if number < len(paths):
                    fresh.add(hash(sample.id))
                yield exchange._replace(sample=sample)
            seen |= fresh
        if not tally.exchanges:
            why = ", ".join(f"{reason}: {times:,}" for reason, times in tally.left_out.items())
            hint = f"left out: {why}" if why else "check the path, --deployment, --since and --until"
            raise InputError(" + ".join(self.paths), [Problem("has no exchange that matches the selection", hint=hint)])

    def _of_path(self, path: str, tally: Tally, on_rating: OnRating | None) -> Iterator[Exchange]:
        """The exchanges of one file; one of several may be damaged or empty."""
        samples, reader = 0, None
        try:
            reader = self._open(path, on_rating)
            for batch in reader.batches():
                samples += batch.num_rows
                yield from map(_as_exchange, view_samples(batch))
        except InputError as error:
            # A log without usable rows has counted the reasons. A single file that is not a log is an error.
            if reader is None or not (reader.report.left_out or "parts" in reader.report.info):
                if len(self.paths) == 1:
                    raise
                tally.leave_out("files that cannot be read", " ".join(str(error).split()))
        if reader is not None:
            report = reader.report
            for reason, found in report.left_out.items():
                tally.leave_out(reason, found.first, found.times)
            left_out = sum(found.times for found in report.left_out.values())
            tally.rows += report.info.get("rows_read", samples + left_out)
            tally.parts += report.info.get("parts", [reader.name])

    def _open(self, path: str, on_rating: OnRating | None) -> Reader:
        source = Source(path, self._back)
        found = self._format_of(path, source)
        if isinstance(found, DialLogsFormat):
            found = DialLogsFormat(self.selection, on_rating)
        return Reader([source], found, tolerant=True)

    def _files(self, path: str) -> list[str]:
        """The files of a local folder with logs other than DIAL's; otherwise the path itself."""
        place = open_place(path)
        if self.format or not place.is_local or not place.is_folder():
            return [path]
        files = [child for child in place.children() if child.name.lower().endswith(_FILES) and not child.is_folder()]
        try:
            is_dial = not files or isinstance(recognise([Source(files[0].path, self._back)]), DialLogsFormat)
        except RagstoneError:  # DIAL's reader counts the rows that it cannot use
            is_dial = True
        return [path] if is_dial else [child.path for child in files]

    @property
    def _back(self) -> dict[str, str]:
        return check_map(self.renames, "time")

    def _format_of(self, path: str, source: Source) -> Format:
        if self.format:
            return find_format(self.format)
        # The user may lack the permission to list the top of a log folder.
        place = open_place(path)
        if not path.lower().endswith(_FILES) and not (place.is_local and not place.is_folder()):
            return DialLogsFormat()
        return recognise([source])

    def _unwanted(self, exchange: Exchange) -> str | None:
        wanted = self.selection
        if not exchange.sample.question:
            return "rows without a question"
        if not (exchange.sample.answer or "").strip():
            return "rows without an answer"
        if not wanted.has_deployment(exchange.deployment):
            return "rows of other deployments"
        if (wanted.first or wanted.last) and exchange.day is None:
            return "rows without a time"
        return None if wanted.has_day(exchange.day) else "rows of other days"


def _as_exchange(sample: Sample) -> Exchange:
    values = {name: first_value(sample.metadata, names) for name, names in _NAMES.items()}
    time = as_time(sample.metadata["time"]) if "time" in sample.metadata else find_time(sample.metadata)
    moment = datetime.fromisoformat(time) if time else None
    day = _day(sample.metadata.get("day")) or (moment.date() if moment else None)
    names = ("chat", "user", "deployment", "response")
    texts = [None if values[name] is None else str(values[name]) for name in names]
    return Exchange(sample, moment.timestamp() if moment else None, day, *texts)


def _day(value: Any) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


class Names:
    """Numbers names in order of appearance."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of a name; a new name gets the next number."""
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]


class Index:
    """The exchanges of a log in reading order."""

    def __init__(self) -> None:
        self.deployments, self.languages, self.lengths = Names(), Names(), Names()
        self._columns: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
        self._times = array("d")

    def __len__(self) -> int:
        return len(self._times)

    def add(self, exchange: Exchange) -> None:
        """Adds one exchange."""
        question, answer = exchange.sample.question or "", exchange.sample.answer or ""
        feedback = read_feedback(question)
        values = {
            "id": hash(exchange.sample.id),
            "response": hash(exchange.response or exchange.sample.id),
            # A deployment may call others within a chat; the user's next message is about the one that was asked.
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
        """The time of each exchange in seconds; nan if it is unknown."""
        return np.frombuffer(self._times, dtype=np.float64)

    def periods(self) -> tuple[np.ndarray, str]:
        """The day of each exchange, or its week if the log covers many days."""
        days = self.column("day")
        known = days[days > 0]
        if len(known) and known.max() - known.min() >= _MOST_DAYS:
            # The ordinal of a Monday is 1 modulo 7.
            return np.where(days > 0, days - (days - 1) % 7, 0), "week"
        return days, "day"


def length_of(question: str) -> str:
    """Short, medium or long, by words; in scripts without spaces, the number of characters decides."""
    words = max(len(question.split()), 0 if question.isascii() else len(question) // 8)
    return next((name for most, name in _LENGTHS if words <= most), "long")


@dataclass(frozen=True)
class Judged:
    """The verdict of the signals on each exchange of an index."""

    features: np.ndarray
    probabilities: np.ndarray
    # Positions in VERDICTS.
    verdicts: np.ndarray
    has_signal: np.ndarray
    unmatched: int
    derived: dict[str, int]

    def features_of(self, row: int) -> dict[str, float]:
        """The signals of one exchange by name."""
        return {name: float(value) for name, value in zip(FEATURES, self.features[row], strict=True) if value}


def judge(index: Index, signals: Signals, weights: Weights) -> Judged:
    """Judges every exchange by the signals of the tables and those in the conversations."""
    features = np.zeros((len(index), len(FEATURES)), dtype=np.float32)
    derived = _derive(index, features)
    unmatched = _take_signals(index, signals, features)
    has_signal: np.ndarray = (features != 0).any(axis=1)
    probabilities = weights.probabilities(features)
    verdicts = weights.verdicts(probabilities, has_signal)
    return Judged(features, probabilities, verdicts, has_signal, unmatched, derived)


def _derive(index: Index, features: np.ndarray) -> dict[str, int]:
    """Signals from the next message of a conversation: the same question again, thanks, or a complaint."""
    chats, times, questions = index.column("chat"), index.times, index.column("question")
    placed = np.flatnonzero((chats != 0) & ~np.isnan(times))
    order = placed[np.lexsort((placed, times[placed], chats[placed]))]
    before, after = order[:-1], order[1:]
    follows = chats[before] == chats[after]
    before, after = before[follows], after[follows]
    again = questions[before] == questions[after]
    feedback = np.where(again, 0, index.column("feedback")[after])
    signals = {"regenerate": before[again], "thanks": before[feedback == 1], "complaint": before[feedback == 2]}
    for name, rows in signals.items():
        features[rows, FEATURES.index(name)] = 1.0
    return {name: len(rows) for name, rows in signals.items()}


def _take_signals(index: Index, signals: Signals, features: np.ndarray) -> int:
    """Adds the signals of the tables; returns the number of answers that are not in the log."""
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
    """The row of each answer, by the id of the response or of the sample; −1 if there is none."""
    hashes = np.array([hash(answer) for answer in answers], dtype=np.int64)
    rows = np.full(len(hashes), -1)
    for column in (index.column("id"), index.column("response")):
        order = np.argsort(column, kind="stable")
        positions = np.minimum(np.searchsorted(column[order], hashes), len(column) - 1)
        candidates = order[positions]
        rows = np.where(column[candidates] == hashes, candidates, rows)
    return rows
