"""Finds a stored run for a command. The imports wait until a command needs a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.storage.runs import Run, RunFolder


def find_run(wanted: str, root: str) -> Run:
    """The finished run of that path, id or name; `latest` is the newest under the root."""
    from ragstone.storage.find_run import find_run as find

    return find(wanted, root)


def find_folder(wanted: str, root: str) -> RunFolder:
    """The folder of a run, finished or not; `latest` is the newest of all."""
    from ragstone.storage.find_run import find_folder as find

    return find(wanted, root)
