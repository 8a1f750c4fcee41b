"""The checkpoint of a watch: one atomic file, which names all other files that count.

New files are written first, under names of the next generation; then `state.json` is replaced. A process that is killed
before that leaves files that no state names: the next step writes them again, or they are removed.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import Any

from ragstone.storage.durable import Checkpoint, from_fields, lock
from ragstone.storage.places import Place

VERSION = 1
OPEN, CLOSED, COMPLETE = "open", "closed", "complete"


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
    # The options of the user with which it is read; None in states of earlier versions.
    options: dict[str, Any] | None = None
    # Our fields and the columns that were guessed for them.
    guessed: dict[str, str] = field(default_factory=dict)
    # Requests that it gave, and rows that it did not give.
    requests: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    # What is read again after a change of options: up to which place, and how it was read before.
    again: dict[str, Any] = field(default_factory=dict)


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
    # How many of them the record of the period shows: a process may be killed before it writes them there.
    late_in_record: int = 0
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
    # The time of the last pass.
    clock: str = ""

    def spend(self, day: str, amount_usd: float) -> None:
        """Count money for a day; only the last days are kept."""
        self.spent[day] = max(0.0, self.spent.get(day, 0.0) + amount_usd)
        for old in sorted(self.spent)[:-31]:
            del self.spent[old]

    def leave_out(self, reason: str, times: int = 1, entry: FileState | None = None) -> None:
        """Count rows that are not requests, for all and for their file."""
        for counts in (self.left_out, *([entry.left_out] if entry else [])):
            counts[reason] = counts.get(reason, 0) + times

    def forget_left_out(self, entry: FileState) -> None:
        """Take back what was counted for a file, because it is read again."""
        for reason, times in entry.left_out.items():
            self.left_out[reason] = self.left_out.get(reason, 0) - times
        self.left_out = {reason: times for reason, times in self.left_out.items() if times > 0}
        entry.left_out = {}

    def in_phase(self, phase: str) -> list[str]:
        """The periods of a phase, oldest first."""
        return sorted(name for name, period in self.periods.items() if period.phase == phase)


def read_state(file: Place) -> State:
    """The stored state, or a new one."""
    if (content := Checkpoint(file, VERSION).read()) is None:
        return State()
    state = from_fields(State, content)
    state.files = {name: from_fields(FileState, one) for name, one in content["files"].items()}
    state.periods = {name: from_fields(PeriodState, one) for name, one in content["periods"].items()}
    for name, one in content["periods"].items():
        state.periods[name].attempt = from_fields(Attempt, one["attempt"]) if one.get("attempt") else None
    return state


def write_state(file: Place, state: State) -> None:
    """Replace the stored state: the moment at which a step has happened."""
    state.generation += 1
    Checkpoint(file, VERSION).write(asdict(state))


def only_watcher(folder: Place) -> AbstractContextManager[None]:
    """Refuse a second process on a watch, on any machine, until the block ends."""
    return lock(folder, f"watch {folder}", "Stop it first.", across_machines=True)
