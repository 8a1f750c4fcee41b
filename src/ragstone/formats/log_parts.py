"""The parts of a log in folders: which deployment and which day a part is of, and only those that are asked for.

Two layouts of DIAL: `<deployment>/parsed_logs/<year>/<month>/<day>/*.parquet` and `<deployment>/<date>/part-N.parquet`.
Access is given per deployment, so no folder is listed that is not asked for: not that above a named deployment, and none
of another month or day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import quote, unquote

from ragstone.errors import UsageError
from ragstone.storage.places import Place

_PARSED = "parsed_logs"
_ENDINGS = (".parquet", ".jsonl", ".jsonl.gz", ".ndjson", ".log", ".log.gz")
# `year=2024` is how some tools name the folder 2024.
_KEY = re.compile(r"(?:deployment_name|deployment|date|year|month|day)=")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_YEAR = re.compile(r"(?:19|20)\d\d")
_TWO_DIGITS = re.compile(r"\d{1,2}")


@dataclass(frozen=True)
class Selection:
    """What is asked for: deployments (all if none is named), and the first and the last day."""

    deployments: tuple[str, ...] = ()
    first: date | None = None
    last: date | None = None

    def __post_init__(self) -> None:
        if self.first and self.last and self.first > self.last:
            raise UsageError(f"--since {self.first} is after --until {self.last}; turn them round")

    def may_hold(self, known: Sequence[int]) -> bool:
        """Whether days of a year, of a month of it, or a day can be asked for, given as much of the date as is known."""
        first, last = (self.first or date.min), (self.last or date.max)
        depth = len(known)
        return (first.year, first.month, first.day)[:depth] <= tuple(known) <= (last.year, last.month, last.day)[:depth]

    def has_day(self, day: date | None) -> bool:
        """Whether a day is asked for; a day that is not known is."""
        return day is None or self.may_hold((day.year, day.month, day.day))

    def has_deployment(self, name: str | None) -> bool:
        """Whether a deployment is asked for; one that is not known is, if none was named."""
        return not self.deployments or name in self.deployments


@dataclass(frozen=True)
class Part:
    """One file of a log; without a place it is what came in by standard input or from memory."""

    place: Place | None = None
    deployment: str | None = None
    day: date | None = None


def find_parts(root: Place, selection: Selection) -> Iterator[Part]:
    """The parts under a folder that are asked for, by deployment and day; the file itself if it is one."""
    if _ends_like_a_part(root.name) and not root.is_folder():
        folder = root.path.rpartition("/")[0]
        known = _date_in(folder)
        yield Part(root, _owner(folder) if known else None, _as_day(known))
    elif not selection.deployments or _owner(root.path) in selection.deployments:
        yield from _walk(root, None, _date_in(root.path), selection)
    else:
        for name in selection.deployments:
            yield from _walk(_find_deployment(root, name), name, (), selection)


def _find_deployment(root: Place, name: str) -> Place:
    """The folder of a deployment, found without a look at those of others."""
    spellings = dict.fromkeys((name, quote(name, safe=""), f"deployment={quote(name, safe='')}"))
    for folder in (root, root / _PARSED):
        for spelling in spellings:
            if (found := folder / spelling).is_folder():
                return found
    raise UsageError(
        f"there is no folder {root / name}. Check --deployment and the path of the logs; "
        "where all deployments are in one file, name the file."
    )


def _walk(folder: Place, deployment: str | None, known: tuple[int, ...], selection: Selection) -> Iterator[Part]:
    for child in folder.children():
        name = _KEY.sub("", child.name, count=1)
        if child.name.startswith(("_", ".")):
            continue
        if _ends_like_a_part(name):
            owner = deployment or (_owner(folder.path) if known else None)
            if selection.has_deployment(owner):
                yield Part(child, owner, _as_day(known))
        elif name == _PARSED:
            yield from _walk(child, deployment, (), selection)
        elif (deeper := _deeper(name, known)) is not None:
            # Where days begin, the folder above them is that of a deployment.
            owner = deployment or _owner(folder.path)
            if selection.has_deployment(owner) and selection.may_hold(deeper):
                yield from _walk(child, owner, deeper, selection)
        elif (
            deployment is None and not known and _may_be_folder(child, name) and selection.has_deployment(unquote(name))
        ):
            yield from _walk(child, unquote(name), (), selection)


def _deeper(name: str, known: tuple[int, ...]) -> tuple[int, ...] | None:
    """The date as far as a folder of this name tells it, below one that told `known`; None if it tells none."""
    if found := _DATE.fullmatch(name):
        return tuple(map(int, found.groups()))
    if not known:
        return (int(name),) if _YEAR.fullmatch(name) else None
    return (*known, int(name)) if len(known) < 3 and _TWO_DIGITS.fullmatch(name) else None


def _date_in(path: str) -> tuple[int, ...]:
    """The date at the end of a path, as far as it is there."""
    known: tuple[int, ...] = ()
    for step in _steps(path):
        known = _deeper(step, known) or ()
    return known


def _owner(path: str) -> str | None:
    """The deployment whose folder a path is in: the last step that is no date."""
    steps = _steps(path)
    while steps and (steps[-1] == _PARSED or _DATE.fullmatch(steps[-1]) or steps[-1].isdecimal()):
        steps.pop()
    return unquote(steps[-1]) if steps else None


def _steps(path: str) -> list[str]:
    return [_KEY.sub("", step, count=1) for step in path.strip("/").split("/") if step]


def _ends_like_a_part(name: str) -> bool:
    return name.lower().endswith(_ENDINGS)


def _may_be_folder(place: Place, name: str) -> bool:
    """Not a file of another kind beside the parts: names of deployments may have dots, endings of files are short."""
    if place.is_local:  # elsewhere it would be one more request for each
        return place.is_folder()
    return not re.search(r"\.(?:json|csv|txt|md|crc|tmp|gz|inprogress)$", name)


def _as_day(known: Sequence[int]) -> date | None:
    try:
        return date(*known) if len(known) == 3 else None
    except ValueError:
        return None
