"""The checkpoint of a watch: one atomic file, which names all other files that count.

New files are written first, under names of the next generation; then `state.json` is replaced. A process that is killed
before that leaves files that no state names: the next step writes them again, or they are removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from ragstone.errors import StorageError
from ragstone.storage.owners import FILE, describe_process, is_running, owning, read_owner
from ragstone.storage.places import Place, make_private_folders, read_json

VERSION = 1
OPEN, CLOSED, COMPLETE = "open", "closed", "complete"
_LOCK = "watch.lock"


@dataclass
class FileState:
    """How far a log file is read: a position in its decompressed bytes, or in its rows."""

    source: int
    path: str
    position: int = 0
    format: str = ""
    # `lines` grow; a file that is read as a `whole` is read again if it changes.
    kind: str = ""
    # Size and time at the last look; an unchanged file is not opened.
    looked: str = ""
    # Hashes of the first bytes and of those before the position, by which a renamed file is recognised.
    head: str = ""
    head_bytes: int = 0
    tail: str = ""
    # The day on which the file was first missing.
    gone: str = ""


@dataclass
class Attempt:
    """A run that has been started: its name, its rows, and the money reserved for it."""

    run: str
    rows: int
    reserved_usd: float = 0.0


@dataclass
class PeriodState:
    """A period: open (requests arrive), closed (its rows are evaluated) or complete."""

    phase: str = OPEN
    seen: dict[str, int] = field(default_factory=dict)
    drawn: dict[str, int] = field(default_factory=dict)
    # Names of the files with keys and drawn samples.
    segments: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)
    # The number of evaluated rows, in the order of evaluation.
    evaluated: int = 0
    attempt: Attempt | None = None
    late: int = 0
    spent_usd: float = 0.0
    closed_at: str = ""
    # Whether what follows a complete period has been done: proposals, alarms.
    followed: bool = False


@dataclass
class State:
    """All that a watch knows between two steps."""

    generation: int = 0
    next_file: int = 0
    files: dict[str, FileState] = field(default_factory=dict)
    periods: dict[str, PeriodState] = field(default_factory=dict)
    # The file with the spans of unfinished traces.
    held: str = ""
    # US dollars by day.
    spent: dict[str, float] = field(default_factory=dict)
    cost_per_row: float | None = None
    left_out: dict[str, int] = field(default_factory=dict)
    duplicates: int = 0

    def spend(self, day: str, amount_usd: float) -> None:
        """Count money for a day; only the last days are kept."""
        self.spent[day] = max(0.0, self.spent.get(day, 0.0) + amount_usd)
        for old in sorted(self.spent)[:-31]:
            del self.spent[old]

    def leave_out(self, reason: str, times: int = 1) -> None:
        """Count rows that are not requests."""
        self.left_out[reason] = self.left_out.get(reason, 0) + times

    def in_phase(self, phase: str) -> list[str]:
        """The periods of a phase, oldest first."""
        return sorted(name for name, period in self.periods.items() if period.phase == phase)


def read_state(file: Place) -> State:
    """The stored state, or a new one."""
    if not file.exists():
        return State()
    content = read_json(file)
    if not isinstance(content, dict) or content.pop("version", None) != VERSION:
        raise StorageError(f"{file} is not of version {VERSION}. Use the version of Ragstone that wrote it.")
    state: State = _build(State, content)
    state.files = {name: _build(FileState, one) for name, one in content["files"].items()}
    state.periods = {name: _read_period(one) for name, one in content["periods"].items()}
    return state


def _read_period(content: dict[str, Any]) -> PeriodState:
    period: PeriodState = _build(PeriodState, content)
    period.attempt = _build(Attempt, content["attempt"]) if content.get("attempt") else None
    return period


def write_state(file: Place, state: State) -> None:
    """Replace the stored state: the moment at which a step has happened."""
    state.generation += 1
    file.write_bytes(json.dumps({"version": VERSION, **asdict(state)}).encode())


def _build(kind: Any, content: dict[str, Any]) -> Any:
    known = {one.name for one in fields(kind)}
    return kind(**{name: value for name, value in content.items() if name in known})


@contextmanager
def only_watcher(folder: Place) -> Iterator[None]:
    """Refuses a second process on a watch until the block ends.

    On a local disk a lock of the operating system decides between two that start at the same time. Object stores have no
    such operation here: each process writes its name and reads it back.
    """
    _refuse_other(folder)
    with _exclusive(folder), owning(folder):
        owner = read_owner(folder)
        if owner is not None and owner != describe_process():
            _refuse_other(folder)
        yield


def _refuse_other(folder: Place) -> None:
    owner = read_owner(folder)
    if owner is not None and owner != describe_process() and is_running(owner):
        where = f"process {owner['pid']} on {owner['host']}"
        raise StorageError(
            f"{folder} is watched by {where}. Stop it first; if that machine is gone, remove {folder / FILE}."
        )


@contextmanager
def _exclusive(folder: Place) -> Iterator[None]:
    if not folder.is_local:
        yield
        return
    make_private_folders(folder.path)
    descriptor = os.open((folder / _LOCK).path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Place) -> None:
    """A lock of the operating system, which ends with the process."""
    with suppress(ImportError):  # not on Windows, where the record of the owner must do
        import fcntl  # noqa: PLC0415

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StorageError(f"{folder} is watched by another process. Stop it first.") from None
