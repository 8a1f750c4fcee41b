"""One pass over all sources: what is new becomes requests, and is committed block by block."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

from ragstone.errors import InputError, Problem, RagstoneError, UsageError
from ragstone.formats.dial_logs import DialLogsFormat
from ragstone.watch.intake import Intake
from ragstone.watch.requests import Interpreter, is_traced
from ragstone.watch.sample_design import period_start
from ragstone.watch.sources import (
    LINES,
    WHOLE,
    Found,
    Line,
    changed_files,
    find_files,
    kind_of_file,
    read_block,
    remember,
    rewind,
)
from ragstone.watch.state import COMPLETE, FileState, State

_ROWS_PER_COMMIT = 2_000
# Parts of a day may be written up to this long after its end.
_LOOK_BACK = timedelta(days=2)
# A file that is missing for longer than this is forgotten.
_FORGET_AFTER = timedelta(days=8)


class Reading(NamedTuple):
    """The sources without any file so far, and the reason if nothing can be read from a source."""

    empty: list[str]
    problem: RagstoneError | None


def read_logs(
    sources: list[str], intake: Intake, interpreter: Interpreter, since: str | None, note: Callable[[str], object]
) -> Reading:
    """Read everything new.

    An unreadable file is reported through `note`, or returned as the problem if its source has no other file. An unreachable
    source raises.
    """
    empty: list[str] = []
    problem: RagstoneError | None = None
    # The first day that can still have requests of an unfinished period.
    done = intake.state.in_phase(COMPLETE)
    unfinished = sorted(set(intake.state.periods) - set(done))
    start = period_start(unfinished[0] if unfinished else done[-1]) - _LOOK_BACK if done else None
    days = [moment.date() for moment in (start, period_start(since) if since else None) if moment]
    first = max(days, default=None)
    _look_again(intake.state, interpreter)
    for number, url in enumerate(sources):
        refused: RagstoneError | None = None
        found = list(find_files(url, first))
        if not found and all(entry.source != number for entry in intake.state.files.values()):
            empty.append(url)
        for name, one in changed_files(number, found, intake.state):
            entry, entry.looked = intake.state.files[name], ""
            try:
                entry.kind = entry.kind or kind_of_file(one) or ""
                if entry.options != interpreter.options:
                    _change_options(entry, one, intake.state, interpreter)
                if entry.kind == LINES and entry.format != DialLogsFormat.name:
                    _read_lines(name, entry, one, intake, interpreter, note)
                if entry.kind == WHOLE:
                    _read_whole(entry, one, intake, interpreter, note)
                entry.looked = one.version
            except (InputError, UsageError) as error:
                refused = refused or error
                if _is_read(number, intake.state):
                    entry.looked = one.version
                    note(f"{one.place} is left out until it changes: {' '.join(str(error).split())}")
        _forget_missing(number, {one.place.path for one in found}, intake.state, interpreter.now)
        problem = problem or _explain(number, url, refused, intake.state)
    _take_traces(intake, interpreter, interpreter.now)
    intake.commit()
    if not intake.state.periods and intake.state.left_out:  # spans have no file of their own
        problem = problem or _nothing(" + ".join(sources), intake.state.left_out)
    return Reading(empty, problem)


def _look_again(state: State, interpreter: Interpreter) -> None:
    """Look at unchanged files too if the options have changed; states of earlier versions have no options."""
    for entry in state.files.values():
        if entry.options != interpreter.options and (entry.options is not None or state.left_out):
            entry.looked = ""
    if any(entry.options is None and entry.kind for entry in state.files.values()):
        state.left_out = {}


def _is_read(source: int, state: State) -> bool:
    """Whether a source has ever given a request."""
    return any(entry.requests for entry in state.files.values() if entry.source == source)


def _explain(source: int, url: str, refused: RagstoneError | None, state: State) -> RagstoneError | None:
    """The reason if nothing can be read from a source; None if something can, or if it has no rows yet."""
    counts: Counter[str] = Counter()
    for entry in state.files.values():
        counts.update(entry.left_out if entry.source == source else {})
    if _is_read(source, state) or not (refused or counts):
        return None
    return refused or _nothing(url, counts)


def _nothing(name: str, counts: Mapping[str, int]) -> InputError:
    reasons = ", ".join(f"{reason}: {times:,}" for reason, times in counts.items())
    hint = "name the columns with --map question=COLUMN --map answer=COLUMN; what was left out is then read again"
    return InputError(name, [Problem(f"nothing can be read: {reasons}", hint=hint)])


def _take_traces(intake: Intake, interpreter: Interpreter, now: datetime | None) -> None:
    for name, spans, is_partial in intake.traces.take_complete(now):
        intake.take(interpreter.of_spans(spans, name, is_partial))


def _change_options(entry: FileState, one: Found, state: State, interpreter: Interpreter) -> None:
    """Read a file with other options from now on, and again from its start if rows of it were left out."""
    is_old = entry.options is None and bool(entry.format)
    if entry.format and (entry.left_out or is_old) and not is_traced(entry.format):
        until = one.version if entry.kind == WHOLE else entry.position
        before = entry.options or {"format": None, "columns": {}}
        entry.again = {**before, "read_as": entry.format, "guessed": entry.guessed, "until": until}
        state.forget_left_out(entry)
        rewind(entry)
    if is_old and state.periods:
        entry.requests = max(entry.requests, 1)
    if entry.format != DialLogsFormat.name:
        entry.format, entry.guessed = "", {}
    entry.options = interpreter.options


def _read_lines(
    name: str, entry: FileState, one: Found, intake: Intake, interpreter: Interpreter, note: Callable[[str], object]
) -> None:
    while True:
        block = read_block(one.place, entry)
        if block.position == entry.position:
            return
        if block.lines:
            if not entry.format:
                rows = [line.values for line in block.lines]
                is_first = not _is_read(entry.source, intake.state)
                for remark in interpreter.recognise(rows, entry, str(one.place), is_first):
                    note(remark)
            if entry.format == DialLogsFormat.name:  # its parts have a deployment and a day
                entry.kind = WHOLE
                return
            _take_lines(name, entry, block.lines, intake, interpreter)
        if block.broken:
            intake.state.leave_out("lines that are not JSON objects", block.broken, entry)
        remember(entry, block)
        if not block.at_end:
            intake.commit()


def _take_lines(name: str, entry: FileState, lines: list[Line], intake: Intake, interpreter: Interpreter) -> None:
    if is_traced(entry.format):
        alone = intake.traces.add(entry.source, entry.format, lines, interpreter.now)
        entry.requests += len(lines) - len(alone)
        lines = alone
        _take_traces(intake, interpreter, None)
    requests = interpreter.of_lines(lines, entry, name) if lines else []
    entry.requests += len(requests)
    known: set[str] = set()
    earlier = [line for line in lines if entry.again and line.position < entry.again["until"]]
    if earlier:  # the first lines of the block, so that rows have the same numbers
        before, how = interpreter.before(entry)
        known = {one.where for one in before.of_lines(earlier, how, name)}
    intake.take(one for one in requests if one.where not in known)


def _read_whole(
    entry: FileState, one: Found, intake: Intake, interpreter: Interpreter, note: Callable[[str], object]
) -> None:
    """A file that is not appended to. If it changes it is read again; requests with the same ids are not counted twice."""
    if entry.tail != one.version:
        entry.tail, entry.position = one.version, 0
        intake.state.forget_left_out(entry)
    if not entry.format:
        is_first = not _is_read(entry.source, intake.state)
        for remark in interpreter.recognise(one.place, entry, str(one.place), is_first):
            note(remark)
    known: set[str] = set()
    if entry.again and entry.again["until"] == one.version:
        before, how = interpreter.before(entry)
        known = {request.where for request in before.of_file(one.place, how)}
    requests = itertools.islice(interpreter.of_file(one.place, entry), entry.position, None)
    while block := list(itertools.islice(requests, _ROWS_PER_COMMIT)):
        intake.take(request for request in block if request.where not in known)
        entry.position += len(block)
        entry.requests += len(block)
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
