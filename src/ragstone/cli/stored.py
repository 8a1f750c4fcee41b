"""How a command finds a stored run: by its path, its id, the name that the user gave it, or the word `latest`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.errors import StorageError, UnknownNameError

if TYPE_CHECKING:
    from ragstone.storage.runs import Run, RunFolder

RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run: its folder or URL, or under --out its id or name; latest is the newest.",
        show_default=False,
    ),
]
NEWEST = ("latest", "last")


def find_run(wanted: str, root: str) -> Run:
    """The run that answers to a path, an id, a name or `latest`."""
    from ragstone.storage.places import open_place
    from ragstone.storage.runs import RunFolder, finished_runs, open_run

    place = open_place(wanted)
    if RunFolder(place).manifest.exists() or RunFolder(place).plan.exists():
        return open_run(wanted)
    below = f"{root.rstrip('/')}/runs/{wanted}"
    if RunFolder(open_place(below)).manifest.exists() or RunFolder(open_place(below)).plan.exists():
        return open_run(below)
    known: list[str] = []
    for run in finished_runs(open_place(root)):
        if wanted in NEWEST or wanted == run.name:
            return run
        known += [run.id, run.name]
    if not known:
        raise StorageError(
            f"there is no run '{wanted}', and none under {root}. `ragstone run` makes one; -o names another root."
        )
    newest = f"The newest under {root} is {known[0]}."
    raise UnknownNameError("run", wanted, known, newest)


def find_folder(wanted: str, root: str) -> RunFolder:
    """The folder of a run that need not be finished; `latest` is the newest of all."""
    from ragstone.storage.places import open_place
    from ragstone.storage.runs import RunFolder, unfinished_runs

    for path in (wanted, f"{root.rstrip('/')}/runs/{wanted}"):
        folder = RunFolder(open_place(path))
        if folder.plan.exists() or folder.manifest.exists():
            return folder
    under_way = next(unfinished_runs(open_place(root)), None) if wanted in NEWEST else None
    try:
        newest = find_run(wanted, root).folder
    except StorageError:
        if under_way is None:
            raise
        return under_way
    return under_way if under_way and under_way.id > newest.id else newest
