"""Problems and notes that are collected while reading a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ragstone.errors import InputError, Problem

MOST_PROBLEMS_KEPT = 100


class LeftOut(NamedTuple):
    """How often something was left out, and where first."""

    times: int
    first: str


@dataclass
class Report:
    """Problems that make the data invalid, notes that do not, and information about the whole file."""

    problems: list[Problem] = field(default_factory=list)
    total: int = 0
    notes: list[str] = field(default_factory=list)
    info: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    # Options of a command line that seem to fit the data.
    options: list[str] = field(default_factory=list)
    _bare: tuple[str, list[str]] | None = None
    _bare_rows: int = 0

    def problem(self, where: str, message: str, field: str = "", hint: str = "") -> None:
        """Add a problem; the first hundred are kept, all are counted."""
        self.total += 1
        if len(self.problems) < MOST_PROBLEMS_KEPT:
            self.problems.append(Problem(message, where, field, hint))

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def note_all(self, what: str, names: Sequence[object], then: str) -> None:
        """Add a note with the number of items, an example and the consequence; nothing if there are no items."""
        if names:
            self.note(f"{what}: {len(names)}, for example {names[0]!r}; {then}")

    def bare_row(self, where: str, columns: Iterable[str]) -> None:
        """Count a row of which only the metadata was read."""
        self._bare = self._bare or (where, sorted(columns)[:12])
        self._bare_rows += 1

    def check_bare_rows(self, format: str, rows: int, is_recognised: Callable[[], bool]) -> None:
        """Some such rows get a note; if all are, and the format does not recognise the file, the file has another one."""
        if self._bare is None or self.total:
            return
        first, columns = self._bare
        if self._bare_rows < rows:
            self.note(
                f"rows without a question, an answer or another field of the format {format}: {self._bare_rows:,}, first in "
                f"{first}; they are kept, with all columns as metadata, and not scored"
            )
        elif columns and format != "ragstone" and not is_recognised():
            self.problem("", f"has no column that the format {format} reads", "", f"it has {', '.join(columns)}")

    def leave_out(self, reason: str, where: str, count: int = 1) -> None:
        """Count rows that are left out because they cannot be used, as happens in logs."""
        earlier = self.left_out.get(reason)
        self.left_out[reason] = LeftOut(earlier.times + count, earlier.first) if earlier else LeftOut(count, where)

    def forgive(self) -> None:
        """Turn problems into rows that are left out, with one note per reason."""
        if self.total:
            first = self.problems[0]
            self.leave_out("rows that cannot be read", f"{first.where}: {first.message}", self.total)
            self.problems.clear()
            self.total = 0
        for reason, count in self.left_out.items():
            self.note(f"{reason}: {count.times:,}, first in {count.first}; they are left out")

    @property
    def why_left_out(self) -> str:
        """The reasons and numbers of rows left out."""
        return ", ".join(f"{reason}: {count.times:,}" for reason, count in self.left_out.items())

    def within(self, name: str) -> Report:
        """The same report for one of several files; problems name the file."""
        return _FileReport(self, name)

    def clear(self) -> None:
        """Empty the report, keeping the list objects that others may share."""
        self.problems.clear()
        self.notes.clear()
        self.info.clear()
        self.left_out.clear()
        self.options.clear()
        self.total = self._bare_rows = 0
        self._bare = None

    def raise_problems(self, source: str) -> None:
        """Raise InputError if there are problems."""
        if self.total:
            raise InputError(source, self.problems, self.total)


class _FileReport(Report):
    """Passes everything to the report of all files."""

    def __init__(self, whole: Report, name: str) -> None:
        super().__init__(whole.problems, 0, whole.notes, whole.info, whole.left_out)
        self._whole = whole
        self._name = name

    def problem(self, where: str, message: str, field: str = "", hint: str = "") -> None:
        """Add a problem with the name of the file."""
        self._whole.problem(f"{self._name}, {where}", message, field, hint)

    def leave_out(self, reason: str, where: str, count: int = 1) -> None:
        """Count rows left out, with the name of the file."""
        self._whole.leave_out(reason, f"{self._name}, {where}", count)
