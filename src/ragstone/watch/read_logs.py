"""One pass over all sources: what is new becomes requests, and is committed block by block."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import date, datetime, timedelta

from ragstone.errors import InputError, UsageError
from ragstone.formats.dial_logs import DialLogsFormat
from ragstone.watch.calendar_periods import period_start
from ragstone.watch.intake import Intake
from ragstone.watch.requests import Interpreter, is_traced
from ragstone.watch.sources import LINES, WHOLE, Found, changed_files, find_files, kind_of_file, read_block, remember
from ragstone.watch.state import COMPLETE, FileState, State

_ROWS_PER_COMMIT = 2_000
# Parts of a day may be written so long after it.
_LOOK_BACK = timedelta(days=2)
# Files that were not listed for so long are forgotten.
_FORGET_AFTER = timedelta(days=8)


def read_logs(
    sources: list[str], intake: Intake, interpreter: Interpreter, since: str | None, note: Callable[[str], object]
) -> list[str]:
    """Take in all that is new; returns the sources that have never had a file.

    A file that cannot be read is noted. A source that cannot be reached raises.
    """
    empty: list[str] = []
    first = _first_day(intake.state, since)
    for number, url in enumerate(sources):
        found = list(find_files(url, first))
        if not found and all(entry.source != number for entry in intake.state.files.values()):
            empty.append(url)
        for name, one in changed_files(number, found, intake.state):
            entry = intake.state.files[name]
            try:
                _read_file(name, entry, one, intake, interpreter)
            except (InputError, UsageError) as error:
                note(f"{one.place} is left out until it changes: {' '.join(str(error).split())}")
            entry.looked = one.version
        _forget_missing(number, {one.place.path for one in found}, intake.state, interpreter.now)
    _take_traces(intake, interpreter, interpreter.now)
    intake.commit()
    return empty


def _take_traces(intake: Intake, interpreter: Interpreter, now: datetime | None) -> None:
    for name, spans, is_partial in intake.traces.take_complete(now):
        intake.take(interpreter.of_spans(spans, name, is_partial))


def _first_day(state: State, since: str | None) -> date | None:
    """The first day that can still have requests of an unfinished period."""
    done = state.in_phase(COMPLETE)
    unfinished = sorted(set(state.periods) - set(done))
    start = period_start(unfinished[0] if unfinished else done[-1]) - _LOOK_BACK if done else None
    days = [moment.date() for moment in (start, period_start(since) if since else None) if moment]
    return max(days, default=None)


def _read_file(name: str, entry: FileState, one: Found, intake: Intake, interpreter: Interpreter) -> None:
    entry.kind = entry.kind or kind_of_file(one) or ""
    if entry.kind == LINES and entry.format != DialLogsFormat.name:
        _read_lines(name, entry, one, intake, interpreter)
    if entry.kind == WHOLE:
        _read_whole(entry, one, intake, interpreter)


def _read_lines(name: str, entry: FileState, one: Found, intake: Intake, interpreter: Interpreter) -> None:
    while True:
        block = read_block(one.place, entry.position)
        if block.position == entry.position:
            return
        if block.lines:
            rows = interpreter.source([line.values for line in block.lines])
            entry.format = entry.format or interpreter.format_of(rows).name
            if entry.format == DialLogsFormat.name:  # its parts have a deployment and a day
                entry.kind = WHOLE
                return
            lines = block.lines
            if is_traced(entry.format):
                lines = intake.traces.add(entry.source, entry.format, lines, interpreter.now)
                _take_traces(intake, interpreter, None)
            if lines:
                intake.take(interpreter.of_lines(lines, entry.format, name))
        if block.broken:
            intake.state.leave_out("lines that are not JSON objects", block.broken)
        remember(entry, one.place, block.position)
        if not block.at_end:
            intake.commit()


def _read_whole(entry: FileState, one: Found, intake: Intake, interpreter: Interpreter) -> None:
    """A file that is not appended to. If it changes it is read again; requests with the same ids are not counted twice."""
    if entry.tail != one.version:
        entry.tail, entry.position = one.version, 0
    entry.format = entry.format or interpreter.format_of(interpreter.source(one.place)).name
    requests = itertools.islice(interpreter.of_file(one.place, entry.format), entry.position, None)
    while block := list(itertools.islice(requests, _ROWS_PER_COMMIT)):
        intake.take(block)
        entry.position += len(block)
        if len(block) == _ROWS_PER_COMMIT:
            intake.commit()


def _forget_missing(source: int, paths: set[str], state: State, now: datetime) -> None:
    for name, entry in list(state.files.items()):
        if entry.source != source or entry.path in paths:
            entry.gone = "" if entry.source == source else entry.gone
        elif not entry.gone:
            entry.gone = now.date().isoformat()
        elif now.date() - date.fromisoformat(entry.gone) > _FORGET_AFTER:
            del state.files[name]
