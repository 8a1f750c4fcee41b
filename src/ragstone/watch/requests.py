"""Rows of logs as requests: samples with an id and a time. Spans are held until their trace is complete."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from ragstone.data.dataset import view_samples
from ragstone.data.types import Chunk, Sample
from ragstone.errors import InputError
from ragstone.formats.base import Draft, Format, RowFormat
from ragstone.formats.catalogue import find_format, recognise
from ragstone.formats.column_map import check_map
from ragstone.formats.dial_logs import DialLogsFormat
from ragstone.formats.reader import Reader, check_renames
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.spans import unpack_spans
from ragstone.formats.values import TIME_NAMES, as_time, find_time
from ragstone.storage.places import Place
from ragstone.text.personal import Masker
from ragstone.watch.sources import LINES, Line
from ragstone.watch.state import FileState, State

# A time further in the future comes from a wrong clock.
_CLOCK_TOLERANCE = timedelta(hours=1)
# Spans of a trace may arrive up to this long after the end of its root.
_TRACE_WAIT = timedelta(seconds=30)
# A trace whose root does not arrive is used without it after this time.
_ROOT_WAIT = timedelta(minutes=10)
# The row of a request, in its metadata while it is read.
_ROW = "ragstone.row"
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_TRACE_IDS = ("trace_id", "traceId", "context.trace_id")
_PARENTS = (
    *("parent_id", "parentSpanId", "parent_span_id", "parent_run_id", "parentObservationId", "parent_observation_id"),
)
_ROOT_ROWS = ("langfuse", "langsmith")
_ENDS = ("end_time", "endTimeUnixNano", "end_time_unix_nano", "endTime")


class LoggedRequest(NamedTuple):
    """A question with its answer, and when it was asked.

    `has_time` is False if the log has no readable time, and `time` is that of its arrival. `is_partial` is True if the
    request comes from a trace without its root.
    """

    sample: Sample
    time: datetime
    has_time: bool = True
    is_partial: bool = False
    # The row of the log.
    where: str = ""


class _WithIds:
    """A format whose samples all have an id: that of the log, otherwise one made of the row's position or content."""

    def __init__(self, inner: Format, row_ids: Sequence[str] | None) -> None:
        self._inner = inner
        self._row_ids = row_ids
        self.name, self.title, self.given = inner.name, inner.title, inner.given
        self.walks_folders = getattr(inner, "walks_folders", False)

    def recognises(self, sources: Sequence[Source]) -> bool:
        return self._inner.recognises(sources)

    def read(self, sources: Sequence[Source], report: Report) -> Iterator[Draft]:
        used: Counter[str] = Counter()
        for draft in self._inner.read(sources, report):
            known = draft.values.get("id")
            if known in (None, ""):
                name = self._make_id(draft)
                used[name] += 1
                known = f"{name}-{used[name]}" if used[name] > 1 else name
            metadata = draft.values.get("metadata") or {}
            if isinstance(metadata, Mapping):
                metadata = {**metadata, _ROW: draft.where}
            yield draft._replace(values={**draft.values, "id": known, "metadata": metadata})

    def _make_id(self, draft: Draft) -> str:
        word, _, number = draft.where.rpartition(" ")
        if self._row_ids is not None and word == "row" and number.isdecimal():
            return self._row_ids[int(number) - 1]
        content = json.dumps(draft.values, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
        return f"row-{hashlib.blake2b(content, digest_size=8).hexdigest()}"


@dataclass(frozen=True)
class Interpreter:
    """Turns rows into requests, with the options of the watch."""

    state: State
    now: datetime
    format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    mask: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """The options that decide how rows are read."""
        return {"format": self.format, "columns": dict(self.columns)}

    def source(self, given: Place | list[dict[str, Any]], entry: FileState | None = None) -> Source:
        """A file or rows, with the names of `--map` and those that were guessed."""
        source = Source(given, check_map(self.columns, "time"))
        if entry is not None:
            source.guess(entry.guessed)
        return source

    def recognise(self, given: Place | list[dict[str, Any]], entry: FileState, name: str, is_first: bool) -> list[str]:
        """Find format and columns as `ragstone run` does; returns what it would note. The first file has all mapped columns."""
        source = self.source(given)
        source.name = name
        if is_first:
            check_renames(source)
        entry.format = (find_format(self.format) if self.format else recognise([source])).name
        entry.guessed = source.guessed
        if entry.kind == LINES:  # in a file that grows, values that differ so far may be repeated later
            entry.guessed.pop("id", None)
        return source.remarks

    def before(self, entry: FileState) -> tuple[Interpreter, FileState]:
        """How the rows of a file were read before the options changed."""
        known = entry.again
        earlier = replace(self, state=State(), format=known["format"], columns=known["columns"])
        return earlier, FileState(entry.source, entry.path, format=known["read_as"], guessed=known["guessed"])

    def of_lines(self, lines: Sequence[Line], entry: FileState, file: str) -> list[LoggedRequest]:
        """The requests of rows with one request each."""
        ids = [f"line-{file}-{line.position}" for line in lines]
        source = self.source([line.values for line in lines], entry)
        return list(self._read(source, find_format(entry.format), ids, entry))

    def of_spans(self, rows: list[dict[str, Any]], format: str, is_partial: bool) -> list[LoggedRequest]:
        """The requests of the spans of complete traces."""
        found = self._read(self.source(rows), find_format(format), None)
        return [one._replace(is_partial=is_partial) for one in found]

    def of_file(self, place: Place, entry: FileState) -> Iterator[LoggedRequest]:
        """The requests of a whole file, in its order; raises if the file cannot be read yet."""
        found = DialLogsFormat() if entry.format == DialLogsFormat.name else find_format(entry.format)
        yield from self._read(self.source(place, entry), found, None, entry, strict=True)

    def _read(
        self,
        source: Source,
        format: Format,
        ids: Sequence[str] | None,
        entry: FileState | None = None,
        strict: bool = False,
    ) -> Iterator[LoggedRequest]:
        reader = Reader([source], _WithIds(format, ids), tolerant=True)
        samples = 0
        try:
            for batch in reader.batches():
                samples += batch.num_rows
                yield from self._requests(batch, reader.report)
        except InputError:
            if strict and not samples and not reader.report.left_out:
                raise
        for reason, count in reader.report.left_out.items():
            self.state.leave_out(reason, count.times, entry)

    def _requests(self, batch: Any, report: Report) -> Iterator[LoggedRequest]:
        for sample in view_samples(batch):
            where = sample.metadata.pop(_ROW, "")
            if not (sample.question or "").strip():
                report.leave_out("rows without a question", sample.id)
            elif not (sample.answer or "").strip():
                report.leave_out("rows without an answer", sample.id)
            else:
                time = find_time(sample.metadata)
                moment = datetime.fromisoformat(time) if time else self.now
                # A time in the future comes from a wrong clock.
                moment = moment if moment <= self.now + _CLOCK_TOLERANCE else self.now
                yield LoggedRequest(mask_sample(sample) if self.mask else sample, moment, time is not None, where=where)


def mask_sample(sample: Sample) -> Sample:
    """The sample without e-mail addresses, phone, card and account numbers; the same data gets the same placeholder."""
    masker = Masker()

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return masker.mask(value)
        if isinstance(value, Mapping):
            return {name: clean(item) for name, item in value.items()}
        return [clean(item) for item in value] if isinstance(value, list) else value

    def chunks(values: list[Chunk] | None) -> list[Chunk] | None:
        found = values or []
        clear = [replace(one, text=masker.mask(one.text), source=clean(one.source)) for one in found]
        return None if values is None else clear

    history = sample.history and [
        replace(turn, text=masker.mask(turn.text), contexts=chunks(turn.contexts)) for turn in sample.history
    ]
    steps = sample.steps and [
        replace(step, query=clean(step.query), contexts=chunks(step.contexts)) for step in sample.steps
    ]
    return replace(
        sample,
        question=clean(sample.question),
        answer=clean(sample.answer),
        contexts=chunks(sample.contexts),
        history=history,
        steps=steps,
        documents=clean(sample.documents),
        metadata={name: value if name in TIME_NAMES else clean(value) for name, value in sample.metadata.items()},
    )


def is_traced(format: str) -> bool:
    """Whether the rows of a format are spans, several of which make a request."""
    found = find_format(format)
    return not isinstance(found, RowFormat) and not isinstance(found, DialLogsFormat)


@dataclass
class _Trace:
    """The spans of a trace so far, and the moment at which the last one arrived."""

    format: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    arrived: float = 0.0

    @property
    def root_end(self) -> datetime | None:
        """The end of the root span; None if it has not arrived."""
        roots = [row for row in self.rows if not _at(row, _PARENTS)]
        if not roots:
            return None
        ends = [text for row in roots if (text := as_time(_at(row, _ENDS)))]
        return max(map(datetime.fromisoformat, ends), default=_NEVER)


class HeldTraces:
    """The spans that wait for the rest of their trace."""

    def __init__(self, content: bytes = b"") -> None:
        self._traces: dict[str, _Trace] = {}
        self._newest = _NEVER
        for name, *parts in json.loads(content or b"[]"):
            self._traces[name] = _Trace(*parts)

    def __bool__(self) -> bool:
        return bool(self._traces)

    def as_bytes(self) -> bytes:
        """The spans for the checkpoint."""
        return json.dumps([[name, one.format, one.rows, one.arrived] for name, one in self._traces.items()]).encode()

    def add(self, source: int, format: str, lines: Sequence[Line], now: datetime) -> list[Line]:
        """Hold the spans of traces; returns the lines that belong to none."""
        alone = []
        for line in (Line(one.position, dict(span)) for one in lines for span in unpack_spans(one.values)):
            row, name = line.values, _trace_name(line.values, format)
            if not isinstance(name, str):
                alone.append(line)
                continue
            trace = self._traces.setdefault(f"{source}:{name}", _Trace(format))
            if row not in trace.rows:  # an exporter may send a span twice
                trace.rows.append(row)
            trace.arrived = now.timestamp()
            if text := as_time(_at(row, _ENDS)):
                self._newest = max(self._newest, min(datetime.fromisoformat(text), now))
        return alone

    def take_complete(self, now: datetime | None) -> Iterator[tuple[str, list[dict[str, Any]], bool]]:
        """The format and rows of traces that are complete, and whether they lack their root; these are no longer held.

        With `now`, all sources were read to their ends. Without it, more spans may follow at once: then only later spans
        show that a trace is complete.
        """
        whole: dict[str, list[dict[str, Any]]] = {}
        partial: dict[str, list[dict[str, Any]]] = {}
        for name, trace in list(self._traces.items()):
            end = trace.root_end
            is_late = now is not None and now.timestamp() - trace.arrived >= _ROOT_WAIT.total_seconds()
            if end is not None and (now or self._newest) - _TRACE_WAIT >= end:
                whole.setdefault(trace.format, []).extend(trace.rows)
            elif is_late:
                partial.setdefault(trace.format, []).extend(trace.rows)
            else:
                continue
            del self._traces[name]
        yield from ((name, rows, False) for name, rows in whole.items())
        yield from ((name, rows, True) for name, rows in partial.items())


def _trace_name(row: Mapping[str, Any], format: str) -> Any:
    """The trace of a row. In some exports the row of a trace, or of its root, has its own id as that of the trace."""
    name = _at(row, _TRACE_IDS)
    return row.get("id") if name is None and format in _ROOT_ROWS and not _at(row, _PARENTS) else name


def _at(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """The first of several values; `context.trace_id` is a name or a path."""
    for name in names:
        outer, _, inner = name.partition(".")
        nested = row.get(outer)
        value = row.get(name) or (nested.get(inner) if inner and isinstance(nested, Mapping) else None)
        if value not in (None, "", "0" * 16):
            return value
    return None
