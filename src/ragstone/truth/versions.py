"""Ground truth in versions: saved under a new number each time, never overwritten, each with who, when, why and from what."""

from __future__ import annotations

import io
import json
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow.parquet as pq

from ragstone._version import __version__
from ragstone.data.fingerprint import fingerprint
from ragstone.errors import StorageError, TruthConflictError, UnknownNameError, UsageError
from ragstone.storage.claims import claiming, is_claimed
from ragstone.storage.places import Place, open_place, read_json
from ragstone.storage.runs import read_table
from ragstone.truth.cases import Case, cases_from_table, cases_to_table

# The layout of a version's files; another number means files that this code cannot read.
LAYOUT = 1
TABLE = "ground_truth.parquet"
# For so long a number is left to somebody who took it and has not finished; then that one is taken to be dead.
PATIENCE_S = 20.0
_NAME = re.compile(r"\w[\w.-]*")
_FOLDER = re.compile(r"v([1-9][0-9]*)")


@dataclass(frozen=True)
class Lineage:
    """What a version was made from: sources, tools with their versions, the hashes of prompts, and how many of what."""

    sources: list[Any] = field(default_factory=list)
    tools: dict[str, Any] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class VersionInfo:
    """What is known about a version without its cases."""

    name: str
    number: int
    created_at: str
    author: str
    note: str
    parent: int | None
    rows: int
    fingerprint: str
    lineage: Lineage

    @property
    def reference(self) -> str:
        """As a command names it."""
        return f"{self.name}@{self.number}"


@dataclass(frozen=True)
class Version:
    """A version with its cases."""

    info: VersionInfo
    cases: list[Case]


class TruthStore:
    """All ground truth under a root: `<root>/truth/<name>/v<number>/`, a table of cases and, written last, metadata.json."""

    def __init__(self, root: Place | str) -> None:
        self.root = open_place(root) if isinstance(root, str) else root
        self._home = self.root / "truth"

    def names(self) -> list[str]:
        """Every ground truth that has a version."""
        return [place.name for place in self._home.children() if _NAME.fullmatch(place.name) and self._numbers(place)]

    def versions(self, name: str) -> list[VersionInfo]:
        """All versions of one ground truth, the oldest first; none if there is no such ground truth."""
        return [self._info(name, number) for number in self._numbers(self._home / check_name(name))]

    def numbers(self, name: str) -> list[int]:
        """The numbers of all versions, the oldest first."""
        return self._numbers(self._home / check_name(name))

    def newest(self, name: str) -> int | None:
        """The number of the newest version, if there is one."""
        return max(self.numbers(name), default=None)

    def table(self, name: str, number: int) -> Place:
        """The file with the cases of a version, for those who need only some of its columns."""
        return self._folder(check_name(name), number) / TABLE

    def info(self, name: str, number: int | None = None) -> VersionInfo:
        """What is known about a version, the newest one unless it is named."""
        numbers = self._numbers(self._home / check_name(name))
        if not numbers:
            raise self._unknown(name)
        if number is not None and number not in numbers:
            raise UsageError(f"'{name}' has no version {number}; there are: {', '.join(map(str, numbers))}")
        return self._info(name, numbers[-1] if number is None else number)

    def read(self, name: str, number: int | None = None) -> Version:
        """A version with its cases, the newest one unless it is named."""
        info = self.info(name, number)
        return Version(info, cases_from_table(read_table(self.table(name, info.number))))

    def save(
        self,
        name: str,
        cases: Sequence[Case],
        *,
        author: str,
        note: str = "",
        parent: int | None = None,
        lineage: Lineage | Mapping[str, Any] | None = None,
    ) -> VersionInfo:
        """Keep cases as the next version; `parent` is the one that the work on them began from, None for the first.

        A TruthConflictError tells that somebody has saved since: then merge with the newest and save again.
        """
        _check_cases(cases)
        table = cases_to_table(cases)
        content = io.BytesIO()
        pq.write_table(table, content, compression="zstd")
        with self._next_number(check_name(name), parent) as number:
            made = VersionInfo(
                name, number, _now(), author, note, parent, len(cases), fingerprint([table]), _as_lineage(lineage)
            )
            folder = self._folder(name, number)
            (folder / TABLE).write_bytes(content.getvalue())
            # An upload that took longer than others were patient must not appear below what they saved.
            self._check_newest(name, parent)
            (folder / "metadata.json").write_bytes(_metadata(made))
        return made

    @contextmanager
    def _next_number(self, name: str, parent: int | None) -> Iterator[int]:
        """A number that is ours alone, and that follows the parent: no other version is finished while we hold it."""
        passed_over, deadline = 0, time.monotonic() + PATIENCE_S
        while True:
            self._check_newest(name, parent)
            number = (parent or 0) + 1 + passed_over
            with claiming(self._folder(name, number)) as ours:
                if ours:
                    # Somebody may have finished between our look and our claim.
                    self._check_newest(name, parent)
                    yield number
                    return
            if not is_claimed(self._folder(name, number)):
                continue
            if time.monotonic() > deadline:
                passed_over, deadline = passed_over + 1, time.monotonic() + PATIENCE_S
            time.sleep(random.uniform(0.02, 0.2))  # noqa: S311  (so that two do not stay in step)

    def _check_newest(self, name: str, parent: int | None) -> None:
        newest = self.newest(name)
        if newest != parent and newest is not None:
            raise TruthConflictError(name, newest, parent)
        if newest is None and parent is not None:
            raise self._unknown(name)

    def _numbers(self, home: Place) -> list[int]:
        """The numbers of finished versions, in order."""
        folders = [(int(found[1]), place) for place in home.children() if (found := _FOLDER.fullmatch(place.name))]
        return sorted(number for number, place in folders if (place / "metadata.json").exists())

    def _folder(self, name: str, number: int) -> Place:
        return self._home / name / f"v{number}"

    def _info(self, name: str, number: int) -> VersionInfo:
        place = self._folder(name, number) / "metadata.json"
        said = read_json(place)
        if not isinstance(said, dict) or said.pop("layout", None) != LAYOUT:
            raise StorageError(f"cannot read {place}: it is of another layout. Upgrade Ragstone, or check the path.")
        lineage = Lineage(**{part: said.pop(part) for part in ("sources", "tools", "prompts", "counts")})
        return VersionInfo(**said, lineage=lineage)

    def _unknown(self, name: str) -> UnknownNameError:
        known = self.names()
        hint = f"There are: {', '.join(known)}." if known else f"There is none under {self.root}."
        return UnknownNameError(
            "ground truth", name, known, f"{hint} `ragstone truth import FILE {name}` makes one; -o names another root."
        )


def parse_reference(text: str) -> tuple[str, int | None]:
    """`NAME` or `NAME@3` as a name and a number."""
    name, at, number = text.partition("@")
    if at and not (number.removeprefix("v").isdecimal() and int(number.removeprefix("v"))):
        raise UsageError(f"'{text}': write NAME for the newest version, or NAME@3 for the third")
    return check_name(name), int(number.removeprefix("v")) if at else None


def check_name(name: str) -> str:
    """A name that is safe as the name of a folder."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"'{name}' cannot name a ground truth: use letters, digits, '.', '-' and '_'")
    return name


def _check_cases(cases: Sequence[Case]) -> None:
    seen: set[str] = set()
    for case in cases:
        if not case.id or case.id in seen:
            raise UsageError(f"ground truth needs an id for each case, and {case.id!r} is there twice or empty")
        seen.add(case.id)


def _as_lineage(lineage: Lineage | Mapping[str, Any] | None) -> Lineage:
    """With this version of Ragstone among the tools."""
    found = lineage if isinstance(lineage, Lineage) else Lineage(**(lineage or {}))
    return Lineage(found.sources, {"ragstone": __version__, **found.tools}, found.prompts, found.counts)


def _metadata(info: VersionInfo) -> bytes:
    said = asdict(info)
    lineage = said.pop("lineage")
    return json.dumps({"layout": LAYOUT, **said, **lineage}, indent=2, ensure_ascii=False).encode() + b"\n"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
