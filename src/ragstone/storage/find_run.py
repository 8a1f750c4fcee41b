"""Finds a stored run by its path, its id, its name or the word `latest`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from ragstone.errors import StorageError, UnknownNameError
from ragstone.storage.places import open_place
from ragstone.storage.runs import Run, RunFolder, finished_runs, open_run, unfinished_runs

NEWEST = ("latest", "last")
DEFAULT_ROOT = "ragstone-store"
_MOST_NAMED = 5


def default_root() -> str:
    """The folder or URL of runs if none is named: RAGSTONE_ROOT, or `ragstone-store`."""
    return os.environ.get("RAGSTONE_ROOT") or DEFAULT_ROOT


def find_run(wanted: str, root: str) -> Run:
    """The finished run of that path, id or name; `latest` is the newest under the root."""
    if (folder := _open_folder(wanted, root)) is not None:
        return open_run(str(folder.place))
    if wanted not in NEWEST and os.path.isfile(wanted):
        name = os.path.splitext(os.path.basename(wanted))[0]
        raise StorageError(
            f"'{wanted}' is a file of data, not a run. Evaluate it first: {_run_command(wanted, name, root)}"
        )
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
    raise UnknownNameError("run", wanted, known, f"{_newest(known)} `ragstone run --name` gives a run a name.")


def _run_command(file: str, name: str, root: str) -> str:
    place = [] if root == DEFAULT_ROOT else ["-o", root]
    return f"`{shlex.join(['ragstone', 'run', file, '--name', name, *place])}`"


def _newest(known: Sequence[str]) -> str:
    """The names of the newest runs, from their ids and names in turn."""
    names = list(dict.fromkeys(known[1::2]))
    more = f" and {len(names) - _MOST_NAMED} older ones" if len(names) > _MOST_NAMED else ""
    return f"The runs, newest first, are: {', '.join(names[:_MOST_NAMED])}{more}."


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
