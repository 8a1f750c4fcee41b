"""Logs of any format as a stream of exchanges; what cannot be used is counted, and only what is asked for is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, NamedTuple

from ragstone.data.dataset import view_samples
from ragstone.data.types import Sample
from ragstone.errors import InputError, Problem, RagstoneError, UsageError
from ragstone.formats.base import Format
from ragstone.formats.catalogue import find_format, recognise
from ragstone.formats.dial_logs import DialLogsFormat
from ragstone.formats.dial_rows import Rating
from ragstone.formats.log_parts import Selection
from ragstone.formats.reader import Reader
from ragstone.formats.sources import Source
from ragstone.formats.times import as_time
from ragstone.storage.places import open_place

OnRating = Callable[[Rating], None]
# Where logs that have our names for questions and answers keep the rest, the more particular names first.
_NAMES = {
    "time": ("time", "timestamp", "created_at", "date", "day"),
    "chat": ("chat_id", "chat.id", "conversation_id", "session_id", "thread_id"),
    "user": ("user", "user_id"),
    "deployment": ("deployment", "application", "app"),
    "response": ("response_id", "responseId", "message_id"),
}
_FILES = (".parquet", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".gz", ".log", ".arrow", ".feather")


class Exchange(NamedTuple):
    """A question and its answer, with when, where and by whom it was asked, as far as the log says."""

    sample: Sample
    time: float | None
    day: date | None
    chat: str | None
    user: str | None
    deployment: str | None
    response: str | None


@dataclass
class Tally:
    """What reading a log came to: rows, parts, and what was left out for which reason and where first."""

    rows: int = 0
    exchanges: int = 0
    parts: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def leave_out(self, reason: str, where: str, times: int = 1) -> None:
        """Count something that is passed over."""
        self.left_out[reason] += times
        self.first.setdefault(reason, where)


@dataclass(frozen=True)
class Log:
    """One log, or several as one: what is asked for of it, and how its columns are called."""

    paths: tuple[str, ...]
    selection: Selection = field(default_factory=Selection)
    format: str | None = None
    renames: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "-" in self.paths:
            raise UsageError("a log is read twice, so it cannot come by standard input; save it as a file first")

    def exchanges(self, tally: Tally, on_rating: OnRating | None = None) -> Iterator[Exchange]:
        """All exchanges in the order of the log, which is the same each time; ratings among them go to `on_rating`."""
        seen: set[int] = set()
        paths = [file for path in self.paths for file in self._files(path)]
        for number, path in enumerate(paths, start=1):
            fresh: set[int] = set()
            for exchange in self._of_path(path, tally, on_rating):
                if reason := self._unwanted(exchange) or _repeated(exchange, seen):
                    tally.leave_out(reason, exchange.sample.id)
                    continue
                tally.exchanges += 1
                distinct = _distinct(exchange, seen, number)
                if number < len(paths):
                    fresh.add(hash(distinct.sample.id))
                yield distinct
            seen |= fresh
        if not tally.exchanges:
            why = ", ".join(f"{reason}: {times:,}" for reason, times in tally.left_out.items())
            hint = f"left out: {why}" if why else "check the path, --deployment, --since and --until"
            raise InputError(" + ".join(self.paths), [Problem("holds no exchange that was asked for", hint=hint)])

    def _of_path(self, path: str, tally: Tally, on_rating: OnRating | None) -> Iterator[Exchange]:
        """The exchanges of one log; one of several may be damaged, or have none."""
        samples, reader = 0, None
        try:
            reader = self._open(path, on_rating)
            for batch in reader.batches():
                samples += batch.num_rows
                yield from map(_as_exchange, view_samples(batch))
        except InputError as error:
            # A log without a usable row has said why; what is no log at all is a mistake if it stands alone.
            if reader is None or not (reader.report.left_out or "parts" in reader.report.info):
                if len(self.paths) == 1:
                    raise
                tally.leave_out("files that cannot be read", " ".join(str(error).split()))
        if reader is not None:
            _take_over(reader, tally, samples)

    def _open(self, path: str, on_rating: OnRating | None) -> Reader:
        source = Source(path, self._back)
        found = self._format_of(path, source)
        if isinstance(found, DialLogsFormat):
            found = DialLogsFormat(self.selection, on_rating)
        return Reader([source], found, tolerant=True)

    def _files(self, path: str) -> list[str]:
        """The files of a folder on this disk that holds logs of another kind than DIAL's; else the path as it is."""
        place = open_place(path)
        if self.format or not place.is_local or not place.is_folder():
            return [path]
        files = [child for child in place.children() if child.name.lower().endswith(_FILES) and not child.is_folder()]
        try:
            is_dial = not files or isinstance(recognise([Source(files[0].path, self._back)]), DialLogsFormat)
        except RagstoneError:  # DIAL's reader counts what it cannot use
            is_dial = True
        return [path] if is_dial else [child.path for child in files]

    @property
    def _back(self) -> dict[str, str]:
        return {theirs: ours for ours, theirs in self.renames.items()}

    def _format_of(self, path: str, source: Source) -> Format:
        if self.format:
            return find_format(self.format)
        # A folder of logs may be one that nobody may list from the top.
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


def _repeated(exchange: Exchange, seen: set[int]) -> str | None:
    """Why an exchange of another file is not taken: it is the same one."""
    return "rows whose id was there before" if exchange.response and hash(exchange.sample.id) in seen else None


def _distinct(exchange: Exchange, seen: set[int], number: int) -> Exchange:
    """An exchange whose id, made from its question, another file has as well, with an id of its own."""
    if hash(exchange.sample.id) not in seen:
        return exchange
    return exchange._replace(sample=replace(exchange.sample, id=f"{exchange.sample.id}-{number}"))


def _take_over(reader: Reader, tally: Tally, samples: int) -> None:
    """What the reader has counted beside the samples."""
    report = reader.report
    for reason, found in report.left_out.items():
        tally.leave_out(reason, found.first, found.times)
    left_out = sum(found.times for found in report.left_out.values())
    tally.rows += report.info.get("rows_read", samples + left_out)
    tally.parts += report.info.get("parts", [reader.name])


def _as_exchange(sample: Sample) -> Exchange:
    said = {name: _first(sample.metadata, names) for name, names in _NAMES.items()}
    time = as_time(sample.metadata.get("time") if "time" in sample.metadata else said["time"])
    moment = datetime.fromisoformat(time) if time else None
    day = _day(sample.metadata.get("day")) or (moment.date() if moment else None)
    texts = {name: None if value is None else str(value) for name, value in said.items()}
    return Exchange(
        sample,
        moment.timestamp() if moment else None,
        day,
        texts["chat"],
        texts["user"],
        texts["deployment"],
        texts["response"],
    )


def _first(metadata: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((metadata[name] for name in names if metadata.get(name) is not None), None)


def _day(value: Any) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None
