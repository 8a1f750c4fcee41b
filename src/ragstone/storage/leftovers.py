"""Leftovers of killed processes: half-read data, rescores, downloads and temporary folders. Live work is never listed."""

from __future__ import annotations

import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from pyarrow import fs

from ragstone.errors import StorageError
from ragstone.storage.durable import is_running, read_owner, record_owner
from ragstone.storage.places import TEMPORARY_ENDING, Place, open_place, read_json, storage_errors
from ragstone.storage.runs import RunFolder

# The entry of plan.json that marks a rescore; such a run cannot be resumed.
RESCORES = "rescores"
# Prefix of folders under the system's temporary folder.
TEMPORARY_PREFIX = "ragstone-"
# Work without a recorded owner counts as alive for this long after its last change.
QUIET_S = 3600.0
_RUN = re.compile(r"\d{8}-\d{6}-[0-9a-f]+")
_ANY = re.compile(".*", re.DOTALL)
_VERSION = re.compile(r"v[1-9]\d*")


@dataclass(frozen=True)
class Leftover:
    """A folder or file that no process will finish."""

    place: Place
    what: str
    size_bytes: int

    def remove(self) -> None:
        """Remove it."""
        if self.place.is_folder():
            self.place.remove_folder()
        else:
            self.place.remove()


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A temporary folder with a record of its owner; it is removed at the end of the process at the latest."""
    home = tempfile.TemporaryDirectory(prefix=TEMPORARY_PREFIX)
    record_owner(open_place(home.name).as_private())
    return home


def store_leftovers(root: Place) -> Iterator[Leftover]:
    """Killed work under the root of a store: runs that cannot be resumed, half-written files, versions without content."""
    for place in _folders(root / "runs", _RUN):
        folder = RunFolder(place)
        plan = read_json(folder.plan) if folder.plan.exists() else None
        if folder.manifest.exists() or (plan is not None and RESCORES not in plan):
            yield from _half_written(place)
        elif is_dead(place):
            yield _leftover(place, "data that was being read" if plan is None else "rescore")
    for version in (place for name in _folders(root / "truth", _ANY) for place in _folders(name, _VERSION)):
        if (version / "metadata.json").exists():
            yield from _half_written(version)
        elif is_dead(version):
            yield _leftover(version, "version of a ground truth")


def temporary_leftovers() -> Iterator[Leftover]:
    """Killed work of this user in the system's temporary folder, if it has a record of its owner."""
    for place in open_place(tempfile.gettempdir()).children():
        with suppress(StorageError, OSError):  # it was removed in the meantime
            about = os.lstat(place.path)
            # A link, or a folder of another user, could lead anywhere.
            is_own = stat.S_ISDIR(about.st_mode) and (not hasattr(os, "getuid") or about.st_uid == os.getuid())
            if is_own and place.name.startswith(TEMPORARY_PREFIX) and read_owner(place) and is_dead(place):
                yield _leftover(place, "temporary folder")


def folder_leftovers(parent: Place, prefix: str, what: str) -> Iterator[Leftover]:
    """The folders of a prefix that no process works on."""
    for place in _folders(parent, re.compile(f"{re.escape(prefix)}.*")):
        if is_dead(place):
            yield _leftover(place, what)


def is_dead(folder: Place) -> bool:
    """Whether no process works on a folder."""
    owner = read_owner(folder)
    return not is_running(owner) if owner else all(map(_is_quiet, _inside(folder)))


def _half_written(folder: Place) -> Iterator[Leftover]:
    """Temporary files of atomic writes that were killed."""
    owner = read_owner(folder)
    if owner is None or not is_running(owner):
        for info in _inside(folder):
            if info.base_name.endswith(TEMPORARY_ENDING) and _is_quiet(info):
                yield Leftover(folder / info.path[len(folder.path) + 1 :], "half-written file", info.size)


def _folders(parent: Place, name: re.Pattern[str]) -> list[Place]:
    return [place for place in parent.children() if name.fullmatch(place.name) and place.is_folder()]


def _leftover(folder: Place, what: str) -> Leftover:
    return Leftover(folder, what, sum(info.size or 0 for info in _inside(folder)))


def _inside(folder: Place) -> list[fs.FileInfo]:
    """The folder itself and all that it contains."""
    with storage_errors(f"cannot list {folder}"):
        own = folder.files.get_file_info(folder.path)
        return [own, *folder.files.get_file_info(fs.FileSelector(folder.path, allow_not_found=True, recursive=True))]


def _is_quiet(info: fs.FileInfo) -> bool:
    return info.mtime is None or time.time() - info.mtime.timestamp() > QUIET_S
