"""What reading a file brings to light, beside its samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ragstone.errors import InputError, Problem

MOST_PROBLEMS_KEPT = 100


class LeftOut(NamedTuple):
    """How often something could not be used, and where first."""

    times: int
    first: str


@dataclass
class Report:
    """Problems that make the data unfit, notes that do not, and what the file says about all samples together."""

    problems: list[Problem] = field(default_factory=list)
    total: int = 0
    notes: list[str] = field(default_factory=list)
    info: dict[str, Any] = field(default_factory=dict)
    # What could not be used, by reason: how often, and where first.
    left_out: dict[str, LeftOut] = field(default_factory=dict)

    def problem(self, where: str, message: str, field: str = "", hint: str = "") -> None:
        """Remember something that is wrong; the first hundred are kept, all are counted."""
        self.total += 1
        if len(self.problems) < MOST_PROBLEMS_KEPT:
            self.problems.append(Problem(message, where, field, hint))

    def note(self, text: str) -> None:
        """Remember something worth saying, once."""
        if text not in self.notes:
            self.notes.append(text)

    def note_all(self, what: str, names: Sequence[object], then: str) -> None:
        """Remember how many there are of a kind, one of them by name, and what becomes of them; nothing if there are none."""
        if names:
            self.note(f"{what}: {len(names)}, for instance {names[0]!r}; {then}")

    def leave_out(self, reason: str, where: str, count: int = 1) -> None:
        """Count what could not be used and is passed over; logs have such rows, and nobody can mend them."""
        earlier = self.left_out.get(reason)
        self.left_out[reason] = LeftOut(earlier.times + count, earlier.first) if earlier else LeftOut(count, where)

    def forgive(self) -> None:
        """Count the problems among what is left out, with a note for every reason."""
        if self.total:
            self.leave_out(
                "rows that cannot be read", f"{self.problems[0].where}: {self.problems[0].message}", self.total
            )
            self.problems.clear()
            self.total = 0
        for reason, found in self.left_out.items():
            self.note(f"{reason}: {found.times:,}, first in {found.first}; they are left out")

    @property
    def why_left_out(self) -> str:
        """What was left out, in a few words."""
        return ", ".join(f"{reason}: {found.times:,}" for reason, found in self.left_out.items())

    def within(self, name: str) -> Report:
        """The same report for one file of several: its problems say which file they are in."""
        return _FileReport(self, name)

    def clear(self) -> None:
        """Start anew, with the same lists: who holds them sees what the next reading brings."""
        self.problems.clear()
        self.notes.clear()
        self.info.clear()
        self.left_out.clear()
        self.total = 0

    def raise_problems(self, source: str) -> None:
        """Stop here if anything was wrong."""
        if self.total:
            raise InputError(source, self.problems, self.total)


class _FileReport(Report):
    """Passes everything on to the report of all files."""

    def __init__(self, whole: Report, name: str) -> None:
        super().__init__(whole.problems, 0, whole.notes, whole.info, whole.left_out)
        self._whole = whole
        self._name = name

    def problem(self, where: str, message: str, field: str = "", hint: str = "") -> None:
        """Remember something that is wrong, and in which file."""
        self._whole.problem(f"{self._name}, {where}", message, field, hint)

    def leave_out(self, reason: str, where: str, count: int = 1) -> None:
        """Count what is passed over, and in which file."""
        self._whole.leave_out(reason, f"{self._name}, {where}", count)
