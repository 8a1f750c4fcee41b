"""Finds a stored run by its path, its id, its name or the word `latest`."""

from __future__ import annotations

import os

from ragstone.errors import StorageError, UnknownNameError
from ragstone.storage.places import open_place
from ragstone.storage.runs import Run, RunFolder, finished_runs, open_run, unfinished_runs

NEWEST = ("latest", "last")
DEFAULT_ROOT = "ragstone-store"


def default_root() -> str:
    """The folder or URL of runs if none is named: RAGSTONE_ROOT, or `ragstone-store`."""
    return os.environ.get("RAGSTONE_ROOT") or DEFAULT_ROOT


def find_run(wanted: str, root: str) -> Run:
    """The finished run of that path, id or name; `latest` is the newest under the root."""
    if (folder := _open_folder(wanted, root)) is not None:
        return open_run(str(folder.place))
    known: list[str] = []
    for run in finished_runs(open_place(root)):
        if wanted in NEWEST or wanted == run.name:
            return run
        known += [run.id, run.name]
    if not known:
        raise StorageError(
            f"there is no run '{wanted}', and no other run under {root}. Create one with `ragstone run`; "
            "-o (in Python: root) names another root."
        )
    raise UnknownNameError("run", wanted, known, f"The newest run under {root} is {known[0]}.")


def find_folder(wanted: str, root: str) -> RunFolder:
    """The folder of a run, finished or not; `latest` is the newest of all."""
    if (folder := _open_folder(wanted, root)) is not None:
        return folder
    unfinished = next(unfinished_runs(open_place(root)), None) if wanted in NEWEST else None
    try:
        newest = find_run(wanted, root).folder
    except StorageError:
        if unfinished is None:
            raise
        return unfinished
    return unfinished if unfinished and unfinished.id > newest.id else newest


def _open_folder(wanted: str, root: str) -> RunFolder | None:
    """The folder of that path, or of that id under the root."""
    for path in (wanted, f"{root.rstrip('/')}/runs/{wanted}"):
        folder = RunFolder(open_place(path))
        if folder.plan.exists() or folder.manifest.exists():
            return folder
    return None
