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
from ragstone.formats.reader import Reader
from ragstone.formats.reports import Report
from ragstone.formats.sources import Source
from ragstone.formats.spans import unpack_spans
from ragstone.formats.values import TIME_NAMES, as_time, find_time
from ragstone.storage.places import Place
from ragstone.text.personal import Masker
from ragstone.watch.sources import Line
from ragstone.watch.state import State

# A time further in the future comes from a wrong clock.
_CLOCK_TOLERANCE = timedelta(hours=1)
# Spans of a trace may arrive so long after the end of its root.
_TRACE_WAIT = timedelta(seconds=30)
# A trace whose root does not arrive is used without it after this time.
_ROOT_WAIT = timedelta(minutes=10)
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_TRACE_IDS = ("trace_id", "traceId", "context.trace_id")
_PARENTS = (
    "parent_id",
    "parentSpanId",
    "parent_span_id",
    "parent_run_id",
    "parentObservationId",
    "parent_observation_id",
)
_ROOT_ROWS = ("langfuse", "langsmith")
_ENDS = ("end_time", "endTimeUnixNano", "end_time_unix_nano", "endTime")


class Request(NamedTuple):
    """A question with its answer, and when it was asked.

    `has_time` is False if the log has no readable time, and `time` is that of its arrival. `is_partial` is True if the
    request comes from a trace without its root.
    """

    sample: Sample
    time: datetime
    has_time: bool = True
    is_partial: bool = False


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
            if draft.values.get("id") not in (None, ""):
                yield draft
                continue
            name = self._make_id(draft)
            used[name] += 1
            number = f"-{used[name]}" if used[name] > 1 else ""
            yield draft._replace(values={**draft.values, "id": f"{name}{number}"})

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

    def format_of(self, source: Source) -> Format:
        """The named format, otherwise the one that matches the content."""
        return find_format(self.format) if self.format else recognise([source])

    def source(self, given: Place | list[dict[str, Any]]) -> Source:
        """A file or rows, with the names of `--map`."""
        return Source(given, check_map(self.columns, "time"))

    def of_lines(self, lines: Sequence[Line], format: str, file: str) -> list[Request]:
        """The requests of rows with one request each."""
        ids = [f"line-{file}-{line.position}" for line in lines]
        return list(self._read(self.source([line.values for line in lines]), find_format(format), ids))

    def of_spans(self, rows: list[dict[str, Any]], format: str, is_partial: bool) -> list[Request]:
        """The requests of the spans of complete traces."""
        found = self._read(self.source(rows), find_format(format), None)
        return [one._replace(is_partial=is_partial) for one in found]

    def of_file(self, place: Place, format: str) -> Iterator[Request]:
        """The requests of a whole file, in its order; raises if the file cannot be read yet."""
        found = DialLogsFormat() if format == DialLogsFormat.name else find_format(format)
        yield from self._read(self.source(place), found, None, strict=True)

    def _read(
        self, source: Source, format: Format, ids: Sequence[str] | None, strict: bool = False
    ) -> Iterator[Request]:
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
            self.state.leave_out(reason, count.times)

    def _requests(self, batch: Any, report: Report) -> Iterator[Request]:
        for sample in view_samples(batch):
            if not (sample.question or "").strip():
                report.leave_out("rows without a question", sample.id)
            elif not (sample.answer or "").strip():
                report.leave_out("rows without an answer", sample.id)
            else:
                time = find_time(sample.metadata)
                moment = datetime.fromisoformat(time) if time else self.now
                # A time in the future comes from a wrong clock.
                moment = moment if moment <= self.now + _CLOCK_TOLERANCE else self.now
                yield Request(mask_sample(sample) if self.mask else sample, moment, time is not None)


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
