"""How a command finds a stored run: by its path, its id, the name that the user gave it, or the word `last`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.errors import StorageError, UnknownNameError

if TYPE_CHECKING:
    from ragstone.storage.runs import Run

RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run: its folder or URL, or under --out its id or name; last is the newest.",
        show_default=False,
    ),
]
LAST = "last"


def find_run(wanted: str, root: str) -> Run:
    """The run that answers to a path, an id, a name or `last`."""
    from ragstone.storage.places import open_place
    from ragstone.storage.runs import RunFolder, finished_runs, open_run

    place = open_place(wanted)
    if RunFolder(place).manifest.exists() or RunFolder(place).plan.exists():
        return open_run(wanted)
    below = f"{root.rstrip('/')}/runs/{wanted}"
    if RunFolder(open_place(below)).manifest.exists():
        return open_run(below)
    known: list[str] = []
    for run in finished_runs(open_place(root)):
        if wanted in (LAST, run.name):
            return run
        known += [run.id, run.name]
    if not known:
        raise StorageError(
            f"there is no run '{wanted}', and none under {root}. `ragstone run` makes one; -o names another root."
        )
    newest = f"The newest under {root} is {known[0]}."
    raise UnknownNameError("run", wanted, known, newest)
