"""What reading a file brings to light, beside its samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ragstone.errors import InputError, Problem

MOST_PROBLEMS_KEPT = 100


@dataclass
class Report:
    """Problems that make the data unfit, notes that do not, and what the file says about all samples together."""

    problems: list[Problem] = field(default_factory=list)
    total: int = 0
    notes: list[str] = field(default_factory=list)
    info: dict[str, Any] = field(default_factory=dict)

    def problem(self, where: str, message: str, field: str = "", hint: str = "") -> None:
        """Remember something that is wrong; the first hundred are kept, all are counted."""
        self.total += 1
        if len(self.problems) < MOST_PROBLEMS_KEPT:
            self.problems.append(Problem(message, where, field, hint))

    def note(self, text: str) -> None:
        """Remember something worth saying, once."""
        if text not in self.notes:
            self.notes.append(text)

    def raise_problems(self, source: str) -> None:
        """Stop here if anything was wrong."""
        if self.total:
            raise InputError(source, self.problems, self.total)
