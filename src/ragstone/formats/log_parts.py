"""The parts of a log in folders, selected by deployment and day.

DIAL has two layouts: `<deployment>/parsed_logs/<year>/<month>/<day>/*.parquet` and `<deployment>/<date>/part-N.parquet`.
Access may be granted per deployment, so only selected folders are listed: never the parent of a named deployment, and no
other month or day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from urllib.parse import quote, unquote

from pyarrow import fs

from ragstone.errors import UsageError
from ragstone.storage.places import Place

_PARSED = "parsed_logs"
_ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".ndjson", ".log", ".log.gz")
# Some tools name the folder 2024 `year=2024`.
_KEY = re.compile(r"(?:deployment_name|deployment|date|year|month|day)=")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_YEAR = re.compile(r"(?:19|20)\d\d")
_TWO_DIGITS = re.compile(r"\d{1,2}")


@dataclass(frozen=True)
class Selection:
    """The selected deployments (all if empty), and the first and last day."""

    deployments: tuple[str, ...] = ()
    first: date | None = None
    last: date | None = None

    def __post_init__(self) -> None:
        if self.first and self.last and self.first > self.last:
            raise UsageError(f"--since {self.first} is after --until {self.last}; swap them")

    def may_hold(self, known: Sequence[int]) -> bool:
        """Whether a year, month or day (the known part of a date) overlaps the selected days."""
        first, last = (self.first or date.min), (self.last or date.max)
        depth = len(known)
        return (first.year, first.month, first.day)[:depth] <= tuple(known) <= (last.year, last.month, last.day)[:depth]

    def has_day(self, day: date | None) -> bool:
        """Whether a day is selected; an unknown day is."""
        return day is None or self.may_hold((day.year, day.month, day.day))

    def has_deployment(self, name: str | None) -> bool:
        """Whether a deployment is selected; an unknown one is only if all are."""
        return not self.deployments or name in self.deployments


@dataclass(frozen=True)
class LogPart:
    """One file of a log; `place` is None for standard input and data in memory."""

    place: Place | None = None
    deployment: str | None = None
    day: date | None = None
    # Size and time of change, if the file was listed.
    info: fs.FileInfo | None = field(default=None, compare=False)


def find_parts(root: Place, selection: Selection) -> Iterator[LogPart]:
    """The selected parts under a folder, or the file itself."""
    if root.name.lower().endswith(_ENDINGS) and not root.is_folder():
        folder = root.path.rpartition("/")[0]
        known = _date_in(folder)
        yield LogPart(root, _owner(folder) if known else None, _as_day(known))
    elif not selection.deployments or _owner(root.path) in selection.deployments:
        yield from _walk(root, None, _date_in(root.path), selection)
    else:
        for name in selection.deployments:
            yield from _walk(_find_deployment(root, name), name, (), selection)


def _find_deployment(root: Place, name: str) -> Place:
    """The folder of a deployment, found without listing others."""
    spellings = dict.fromkeys((name, quote(name, safe=""), f"deployment={quote(name, safe='')}"))
    for folder in (root, root / _PARSED):
        for spelling in spellings:
            if (found := folder / spelling).is_folder():
                return found
    raise UsageError(
        f"there is no folder {root / name}. Check --deployment and the path of the logs; "
        "if all deployments are in one file, pass the file."
    )


def _walk(folder: Place, deployment: str | None, known: tuple[int, ...], selection: Selection) -> Iterator[LogPart]:
    for child, info in folder.entries():
        name = _KEY.sub("", child.name, count=1)
        if child.name.startswith(("_", ".")):
            continue
        if name.lower().endswith(_ENDINGS):
            owner = deployment or (_owner(folder.path) if known else None)
            if selection.has_deployment(owner):
                yield LogPart(child, owner, _as_day(known), info)
        elif name == _PARSED:
            yield from _walk(child, deployment, (), selection)
        elif (deeper := _deeper(name, known)) is not None:
            # The parent of the folders of days is the deployment.
            owner = deployment or _owner(folder.path)
            if selection.has_deployment(owner) and selection.may_hold(deeper):
                yield from _walk(child, owner, deeper, selection)
        elif not (deployment or known) and _may_be_folder(child, name) and selection.has_deployment(unquote(name)):
            yield from _walk(child, unquote(name), (), selection)


def _deeper(name: str, known: tuple[int, ...]) -> tuple[int, ...] | None:
    """The known part of the date extended by a folder name; None if the name is not part of a date."""
    if found := _DATE.fullmatch(name):
        return tuple(map(int, found.groups()))
    if not known:
        return (int(name),) if _YEAR.fullmatch(name) else None
    return (*known, int(name)) if len(known) < 3 and _TWO_DIGITS.fullmatch(name) else None


def _date_in(path: str) -> tuple[int, ...]:
    """The (partial) date at the end of a path."""
    known: tuple[int, ...] = ()
    for step in _steps(path):
        known = _deeper(step, known) or ()
    return known


def _owner(path: str) -> str | None:
    """The deployment of a path: the last step that is not part of a date."""
    steps = _steps(path)
    while steps and (steps[-1] == _PARSED or _DATE.fullmatch(steps[-1]) or steps[-1].isdecimal()):
        steps.pop()
    return unquote(steps[-1]) if steps else None


def _steps(path: str) -> list[str]:
    return [_KEY.sub("", step, count=1) for step in path.strip("/").split("/") if step]


def _may_be_folder(place: Place, name: str) -> bool:
    """Whether this may be a deployment's folder; names of deployments may contain dots."""
    # Remote storage would need one request per folder.
    return place.is_folder() if place.is_local else not re.search(r"\.(?:json|csv|txt|md|crc|tmp|gz|inprogress)$", name)


def _as_day(known: Sequence[int]) -> date | None:
    try:
        return date(*known) if len(known) == 3 else None
    except ValueError:
        return None
