"""The exceptions that Ragstone raises.

RagstoneError                 caught by the command line and printed without a traceback
├── UsageError                the request is not valid                         exit 2
│   ├── UnknownNameError      an unknown name, with the nearest known names
│   └── UnknownColumnsError   a file with other column names, with the options that would map them
├── DefinitionError           a metric or evidence function is declared wrongly  exit 2
├── InputError                the data has problems; lists all of them         exit 2
├── MissingExtraError         an optional package is not installed             exit 2
├── StorageError              reading or writing a file or a bucket failed      exit 1
│   └── DamagedError          a file of a run is missing, cut off or has another content
├── ServiceError              a web service failed or refused a request          exit 1
├── TruthConflictError        a newer version of the ground truth was saved      exit 1
├── StopRunError              an external failure affects every row (a wrong key) exit 1
└── InterruptedRunError       stopped by the user; finished parts are kept      exit 130

Skip is not an error: evidence and metric functions raise it if a row has no value. Its text is the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

MOST_PROBLEMS_SHOWN = 20
_MOST_PLACES = 3
_BYTE = re.compile(r"byte 0x[0-9a-f]{2} at position \d+")


class RagstoneError(Exception):
    """Base class of all errors that the user can fix."""

    exit_code = 1


class UsageError(RagstoneError):
    """The request is not valid."""

    exit_code = 2


class UnknownNameError(UsageError):
    """A name is not known; the message suggests the nearest names."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "", similar: Sequence[str] = ()) -> None:
        near = list(similar) or nearest(name, known)
        parts = [f"unknown {kind} '{name}'."]
        if near:
            parts.append(f"Did you mean {' or '.join(near)}?")
        if hint:
            parts.append(hint)
        super().__init__(" ".join(parts))
        self.name = name


class UnknownColumnsError(UsageError):
    """The columns of a file have other names; `options` are those of a command line that seem to fit."""

    def __init__(self, text: str, options: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.options = list(options)


class DefinitionError(RagstoneError):
    """The declaration of a metric or evidence function is not valid."""

    exit_code = 2


class MissingExtraError(RagstoneError):
    """An optional package is not installed."""

    exit_code = 2

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package. Install it with: pip install 'ragstone[{extra}]'")


class StorageError(RagstoneError):
    """Reading or writing a file, folder or bucket failed."""


class DamagedError(StorageError):
    """A file of a stored run is missing, cut off or has another content."""

    def __init__(self, file: object, reason: str) -> None:
        advice = "Restore the run from a copy, or evaluate again and remove its folder."
        why = reason.removeprefix(f"cannot read {file}: ").rstrip(".")
        super().__init__(f"cannot read {file}: the run is damaged ({why}). {advice}")


class ServiceError(RagstoneError):
    """A web service that the user named failed or refused a request."""


class TruthConflictError(RagstoneError):
    """A newer version of the ground truth was saved in the meantime: merge with it, then save again."""

    def __init__(self, name: str, newest: int, parent: int | None = None) -> None:
        began = "is new" if parent is None else f"is based on version {parent}"
        super().__init__(
            f"ground truth '{name}' has a version {newest} that was saved in the meantime; this one {began}. "
            "Nothing was overwritten: merge the two, then save again."
        )
        self.newest = newest


class StopRunError(RagstoneError):
    """An external failure affects every row, so the run stops. Finished parts are kept."""


class InterruptedRunError(RagstoneError):
    """The user stopped the run. Finished parts are kept."""

    exit_code = 130


@dataclass(frozen=True)
class Problem:
    """One problem in the input: location, field, message and hint."""

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
        shown = _group_equal(self.problems)[:MOST_PROBLEMS_SHOWN]
        lines = [f"{source}: {self.total} problem{'s' if self.total != 1 else ''}"]
        lines += [f"  {_describe_group(group)}" for group in shown]
        if (more := self.total - sum(map(len, shown))) > 0:
            lines.append(f"  … and {more} more")
        super().__init__("\n".join(lines))


def _group_equal(problems: Sequence[Problem]) -> list[list[Problem]]:
    """The problems, those of several lines together that differ only in a byte and its position."""
    groups: dict[tuple[object, ...], list[Problem]] = {}
    for number, problem in enumerate(problems):
        message = _BYTE.sub("", problem.message)
        key = (problem.field, message, problem.hint) if problem.where else (number,)
        groups.setdefault(key, []).append(problem)
    return list(groups.values())


def _describe_group(group: Sequence[Problem]) -> str:
    """The first problem, with up to three places."""
    places = dict.fromkeys(problem.where for problem in group)
    more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return str(replace(group[0], where=", ".join(list(places)[:_MOST_PLACES]) + more))


class Skip(Exception):  # noqa: N818  (a signal, not an error)
    """This row has no value for this metric or evidence; the text is the reason."""


# A longer text is not a misspelled name; to compare it would take seconds.
LONGEST_NAME = 200


def nearest(name: str, known: Iterable[str], most: int = 3, cutoff: float = 0.6) -> list[str]:
    """The known names that are most similar to a misspelled name."""
    import difflib  # noqa: PLC0415  (only mistakes need it, and `--help` should not wait for it)

    if len(name) > LONGEST_NAME:
        return []
    by_folded, folded = {candidate.lower(): candidate for candidate in known}, name.lower()
    close = difflib.get_close_matches(folded, by_folded, n=most, cutoff=cutoff)
    is_part = len(folded) > 3 and not difflib.get_close_matches(folded, close, n=1, cutoff=0.85)
    whole = sorted((one for one in by_folded if is_part and folded in one), key=len)
    return [by_folded[match] for match in dict.fromkeys([*whole, *close])][:most]
