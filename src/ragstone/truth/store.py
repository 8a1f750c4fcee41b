"""Stores ground truth in numbered versions that are never overwritten, with author, time, note and lineage.

Exclusive claims on folders: two processes that save at once never get the same name.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow.parquet as pq

from ragstone._version import __version__
from ragstone.data.fingerprint import fingerprint
from ragstone.errors import StorageError, TruthConflictError, UnknownNameError, UsageError
from ragstone.storage.places import Place, make_private_folders, open_place, private_opener, read_json, storage_errors
from ragstone.storage.runs import read_table
from ragstone.truth.model import Case, cases_from_table, cases_to_table

_CLAIM = "claim"


@contextmanager
def claiming(folder: Place) -> Iterator[bool]:
    """Claim a folder until the block ends. Yields whether the claim succeeded; at most one process has it.

    On a local disk, an exclusively created file decides. Arrow has no such operation for object stores: there each process
    writes its own claim and has the folder if it sees no other claim. Two processes at once may both be refused.
    """
    name = _CLAIM if folder.is_local else f"{_CLAIM}.{secrets.token_hex(8)}"
    claim, held = folder / name, False
    try:
        held = _create(claim) if folder.is_local else _is_only_claim(claim, folder)
        yield held
    finally:
        if held or not folder.is_local:
            claim.remove()
        if held and folder.is_local:
            with suppress(OSError):  # usually the folder is not empty
                os.rmdir(folder.path)


def is_claimed(folder: Place) -> bool:
    """Whether a process has claimed the folder, or was killed while it had it."""
    return any(child.name.startswith(_CLAIM) for child in folder.children())


def _create(claim: Place) -> bool:
    with storage_errors(f"cannot write {claim}"):
        while True:
            make_private_folders(os.path.dirname(claim.path))
            try:
                os.close(private_opener(claim.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError:
                return False
            except FileNotFoundError:  # another process has just removed the folder
                continue
            return True


def _is_only_claim(claim: Place, folder: Place) -> bool:
    claim.write_bytes(str(os.getpid()).encode())
    return not any(child.name.startswith(_CLAIM) and child.name != claim.name for child in folder.children())


# The layout of a version's files; this code reads no other layout.
LAYOUT = 1
TABLE = "ground_truth.parquet"
# How long to wait for another process that has claimed a number, before it is assumed to be dead.
PATIENCE_S = 20.0
# Windows opens a device for these names, with any ending.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_NAME = re.compile(r"\w[\w.-]*")
# File systems allow 255.
_MAX_NAME_BYTES = 200
_FOLDER = re.compile(r"v([1-9][0-9]*)")


@dataclass(frozen=True)
class Lineage:
    """The origin of a version: sources, tools with their versions, hashes of prompts, and counts."""

    sources: list[Any] = field(default_factory=list)
    tools: dict[str, Any] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class VersionInfo:
    """A version without its cases."""

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
        """The name for commands, such as `name@3`."""
        return f"{self.name}@{self.number}"


@dataclass(frozen=True)
class Version:
    """A version with its cases."""

    info: VersionInfo
    cases: list[Case]


class TruthStore:
    """All ground truth under a root: `<root>/truth/<name>/v<number>/`; metadata.json is written last."""

    def __init__(self, root: Place | str) -> None:
        self.root = open_place(root) if isinstance(root, str) else root
        self._home = self.root.as_private() / "truth"

    def names(self) -> list[str]:
        """Every ground truth that has a version."""
        return [place.name for place in self._home.children() if _NAME.fullmatch(place.name) and self._numbers(place)]

    def versions(self, name: str) -> list[VersionInfo]:
        """All versions, the oldest first; empty if the name is unknown."""
        return [self._info(name, number) for number in self.numbers(name)]

    def numbers(self, name: str) -> list[int]:
        """The numbers of all versions, the oldest first."""
        return self._numbers(self._home / check_name(name))

    def newest(self, name: str) -> int | None:
        """The number of the newest version, or None."""
        return max(self.numbers(name), default=None)

    def table(self, name: str, number: int) -> Place:
        """The file with the cases of a version, to read single columns."""
        return self._folder(check_name(name), number) / TABLE

    def info(self, name: str, number: int | None = None) -> VersionInfo:
        """The metadata of a version, by default the newest."""
        numbers = self.numbers(name)
        if not numbers:
            raise self._unknown(name)
        if number is not None and number not in numbers:
            raise UsageError(f"'{name}' has no version {number}. Choose from: {', '.join(map(str, numbers))}")
        return self._info(name, numbers[-1] if number is None else number)

    def read(self, name: str, number: int | None = None) -> Version:
        """A version with its cases, by default the newest."""
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
        """Saves cases as the next version; `parent` is the version that was edited, None for the first.

        Raises TruthConflictError if a newer version exists: merge with it and save again.
        """
        seen: set[str] = set()
        for case in cases:
            if not case.id or case.id in seen:
                raise UsageError(f"each case needs a unique id, and {case.id!r} is there twice or empty")
            seen.add(case.id)
        if name.endswith(".json"):
            raise UsageError(
                f"'{name}' cannot name a ground truth: in the viewer, the address of a page with .json returns its data"
            )
        table = cases_to_table(cases)
        content = io.BytesIO()
        pq.write_table(table, content, compression="zstd")
        with self._next_number(check_name(name), parent) as number:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            known = lineage if isinstance(lineage, Lineage) else Lineage(**(lineage or {}))
            origin = Lineage(known.sources, {"ragstone": __version__, **known.tools}, known.prompts, known.counts)
            made = VersionInfo(name, number, now, author, note, parent, len(cases), fingerprint([table]), origin)
            folder = self._folder(name, number)
            (folder / TABLE).write_bytes(content.getvalue())
            # A very slow upload must not appear below a version that was saved in the meantime.
            self._check_newest(name, parent)
            about = asdict(made)
            about |= about.pop("lineage")
            text = json.dumps({"layout": LAYOUT, **about}, indent=2, ensure_ascii=False)
            (folder / "metadata.json").write_bytes(text.encode() + b"\n")
        return made

    @contextmanager
    def _next_number(self, name: str, parent: int | None) -> Iterator[int]:
        """Claims the number after the parent; no other version can be finished during the claim."""
        passed_over, deadline = 0, time.monotonic() + PATIENCE_S
        while True:
            self._check_newest(name, parent)
            number = (parent or 0) + 1 + passed_over
            with claiming(self._folder(name, number)) as ours:
                if ours:
                    # Another process may have finished between the check and the claim.
                    self._check_newest(name, parent)
                    yield number
                    return
            if not is_claimed(self._folder(name, number)):
                continue
            if time.monotonic() > deadline:
                passed_over, deadline = passed_over + 1, time.monotonic() + PATIENCE_S
            time.sleep(random.uniform(0.02, 0.2))  # noqa: S311  (two processes must not stay in step)

    def _check_newest(self, name: str, parent: int | None) -> None:
        newest = self.newest(name)
        if newest != parent and newest is not None:
            raise TruthConflictError(name, newest, parent)
        if newest is None and parent is not None:
            raise self._unknown(name)

    def _numbers(self, home: Place) -> list[int]:
        """The numbers of complete versions, in order."""
        folders = [(int(match[1]), place) for place in home.children() if (match := _FOLDER.fullmatch(place.name))]
        return sorted(number for number, place in folders if (place / "metadata.json").exists())

    def _folder(self, name: str, number: int) -> Place:
        return self._home / name / f"v{number}"

    def _info(self, name: str, number: int) -> VersionInfo:
        place = self._folder(name, number) / "metadata.json"
        content = read_json(place)
        if not isinstance(content, dict) or content.pop("layout", None) != LAYOUT:
            raise StorageError(f"cannot read {place}: it has another layout. Upgrade Ragstone, or check the path.")
        lineage = Lineage(**{part: content.pop(part) for part in ("sources", "tools", "prompts", "counts")})
        return VersionInfo(**content, lineage=lineage)

    def _unknown(self, name: str) -> UnknownNameError:
        known = self.names()
        hint = f"Choose from: {', '.join(known)}." if known else f"{self.root} has no ground truth."
        return UnknownNameError(
            "ground truth",
            name,
            known,
            f"{hint} `ragstone truth import FILE {name}` creates it; -o names another root.",
        )


def parse_reference(text: str) -> tuple[str, int | None]:
    """Splits `NAME` or `NAME@3` into a name and a number."""
    name, at, version = text.partition("@")
    number = version.removeprefix("v")
    if at and not (number.isdecimal() and int(number)):
        raise UsageError(f"'{text}': write NAME for the newest version, or NAME@3 for the third")
    return check_name(name), int(number) if at else None


def check_name(name: str) -> str:
    """Raises UsageError if a name is not safe as a folder name."""
    if len(name.encode(errors="replace")) > _MAX_NAME_BYTES:
        raise UsageError(f"'{name[:40]}…' cannot name a ground truth: it is longer than {_MAX_NAME_BYTES} bytes")
    if not _NAME.fullmatch(name):
        raise UsageError(f"'{name}' cannot name a ground truth: use letters, digits, '.', '-' and '_'")
    if _DEVICE.fullmatch(name) or name.endswith("."):
        raise UsageError(f"'{name}' cannot name a ground truth: Windows has no such folder. Choose another name.")
    return name
