"""Leftovers of killed processes: half-read data, rescores, downloads and temporary folders. Live work is never listed."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from pyarrow import fs

from ragstone.errors import StorageError
from ragstone.storage.owners import is_running, read_owner, record_owner
from ragstone.storage.places import TEMPORARY_ENDING, Place, open_place, read_json, storage_errors
from ragstone.storage.runs import RunFolder

# The entry of plan.json that marks a rescore; such a run cannot be resumed.
RESCORES = "rescores"
# Prefix of folders under the system's temporary folder.
TEMPORARY_PREFIX = "ragstone-"
# Without a recorded owner, work is assumed to be alive for so long after its last change.
QUIET_S = 3600.0
_RUN = re.compile(r"\d{8}-\d{6}-[0-9a-f]+")
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
    for place in (root / "runs").children():
        if not _RUN.fullmatch(place.name) or not place.is_folder():
            continue
        folder = RunFolder(place)
        if not _is_lost(folder):
            yield from _half_written(place)
        elif is_dead(place):
            yield Leftover(place, "rescore" if folder.plan.exists() else "data that was being read", _size(place))
    for name in (root / "truth").children():
        for version in name.children() if name.is_folder() else []:
            if not _VERSION.fullmatch(version.name) or not version.is_folder():
                continue
            if (version / "metadata.json").exists():
                yield from _half_written(version)
            elif is_dead(version):
                yield Leftover(version, "version of a ground truth", _size(version))


def temporary_leftovers() -> Iterator[Leftover]:
    """Killed work in the system's temporary folder that has a record of its owner."""
    for place in open_place(tempfile.gettempdir()).children():
        with suppress(StorageError):  # it belongs to another user, or was removed in the meantime
            if place.name.startswith(TEMPORARY_PREFIX) and read_owner(place) and is_dead(place):
                yield Leftover(place, "temporary folder", _size(place))


def is_dead(folder: Place) -> bool:
    """Whether no process works on a folder."""
    owner = read_owner(folder)
    return not is_running(owner) if owner else _is_quiet(folder)


def folder_leftovers(parent: Place, prefix: str, what: str) -> Iterator[Leftover]:
    """The folders of a prefix that no process works on."""
    for place in parent.children():
        if place.name.startswith(prefix) and is_dead(place):
            yield Leftover(place, what, _size(place))


def _is_lost(folder: RunFolder) -> bool:
    """Whether a run is neither finished nor can be resumed."""
    if folder.manifest.exists():
        return False
    plan = read_json(folder.plan) if folder.plan.exists() else None
    return plan is None or (isinstance(plan, dict) and RESCORES in plan)


def _half_written(folder: Place) -> Iterator[Leftover]:
    """Temporary files of atomic writes that were killed."""
    owner = read_owner(folder)
    if owner and is_running(owner):
        return
    for info in _files(folder):
        if info.base_name.endswith(TEMPORARY_ENDING) and time.time() - _changed(info) > QUIET_S:
            place = Place(
                folder.files, info.path, f"{folder.url.rstrip('/')}{info.path[len(folder.path.rstrip('/')) :]}"
            )
            yield Leftover(place, "half-written file", info.size or 0)


def _is_quiet(folder: Place) -> bool:
    with storage_errors(f"cannot look at {folder}"):
        own = folder.files.get_file_info(folder.path)
    return time.time() - max(map(_changed, [own, *_files(folder)])) > QUIET_S


def _size(folder: Place) -> int:
    return sum(info.size or 0 for info in _files(folder))


def _files(folder: Place) -> list[fs.FileInfo]:
    with storage_errors(f"cannot list {folder}"):
        return list(folder.files.get_file_info(fs.FileSelector(folder.path, allow_not_found=True, recursive=True)))


def _changed(info: fs.FileInfo) -> float:
    return float(info.mtime.timestamp()) if info.mtime else 0.0
