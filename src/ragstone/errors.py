"""Everything that Ragstone raises on purpose.

RagstoneError                 caught by the command line and printed without a traceback
├── UsageError                what was asked for cannot be understood          exit 2
│   └── UnknownNameError      a name that is not registered, with the nearest ones
├── DefinitionError           a metric or evidence function is declared wrongly  exit 2
├── InputError                the data has problems; all of them, with their places  exit 2
├── MissingExtraError         an optional package is needed, with the line that installs it  exit 2
├── StorageError              reading or writing a file or a bucket failed      exit 1
├── TruthConflictError        somebody else has saved a newer version of the ground truth  exit 1
├── StopRunError              something outside fails for all rows alike (a wrong key, say)  exit 1
└── InterruptedRunError       stopped by the user; finished parts are kept      exit 130

Skip is not an error: an evidence or metric function raises it to say that a row has no value, and why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_PROBLEMS_SHOWN = 20


class RagstoneError(Exception):
    """The root of all errors that a user can act on."""

    exit_code = 1


class UsageError(RagstoneError):
    """What was asked for cannot be understood."""

    exit_code = 2


class UnknownNameError(UsageError):
    """A name is not registered; the message offers the nearest ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        near = nearest(name, known)
        parts = [f"unknown {kind} '{name}'."]
        if near:
            parts.append(f"Did you mean {' or '.join(near)}?")
        if hint:
            parts.append(hint)
        super().__init__(" ".join(parts))
        self.name = name


class DefinitionError(RagstoneError):
    """A metric or evidence function is declared in a way that cannot work."""

    exit_code = 2


class MissingExtraError(RagstoneError):
    """An optional package is needed."""

    exit_code = 2

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package. Install it with: pip install 'ragstone[{extra}]'")


class StorageError(RagstoneError):
    """Reading or writing a file, folder or bucket failed."""


class TruthConflictError(RagstoneError):
    """Somebody else has saved a newer version of the ground truth: merge with it, then save again."""

    def __init__(self, name: str, newest: int, parent: int | None = None) -> None:
        began = "is new" if parent is None else f"began from version {parent}"
        super().__init__(
            f"ground truth '{name}' has a version {newest} that somebody saved in the meantime; this one {began}. "
            "Nothing was overwritten: merge the two, then save again."
        )
        self.newest = newest


class StopRunError(RagstoneError):
    """Something outside fails for all rows alike, so that going on would only repeat it; finished parts are kept."""


class InterruptedRunError(RagstoneError):
    """The user stopped a run; what was finished is kept."""

    exit_code = 130


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with the input: where, in which field, what, and what to do."""

    message: str
    where: str = ""
    field: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.where, self.field) if part)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text} ({self.hint})" if self.hint else text


class InputError(RagstoneError):
    """The data has problems; they are collected and raised together."""

    exit_code = 2

    def __init__(self, source: str, problems: Sequence[Problem], total: int | None = None) -> None:
        self.source = source
        self.problems = list(problems)
        self.total = len(self.problems) if total is None else total
        shown = self.problems[:MOST_PROBLEMS_SHOWN]
        lines = [f"{source}: {self.total} problem{'s' if self.total != 1 else ''}"]
        lines += [f"  {problem}" for problem in shown]
        if self.total > len(shown):
            lines.append(f"  … and {self.total - len(shown)} more")
        super().__init__("\n".join(lines))


class Skip(Exception):  # noqa: N818  (a signal, not an error)
    """This row has no value for this metric or evidence; the text says why."""


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The registered names that look most like a mistyped one."""
    import difflib  # noqa: PLC0415  (only mistakes need it, and `--help` should not wait for it)

    by_folded = {candidate.lower(): candidate for candidate in known}
    return [by_folded[match] for match in difflib.get_close_matches(name.lower(), by_folded, n=most, cutoff=0.6)]
