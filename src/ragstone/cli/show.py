"""ragstone show: the table of a stored run."""

from __future__ import annotations

from ragstone.cli.evaluation import show_run
from ragstone.cli.find_run import find_run
from ragstone.cli.options import RUN, argument, shared


def show(
    run: str = argument("RUN", RUN),
    full: bool = shared("full"),
    out: str = shared("out"),
    json: bool = shared("json"),
) -> None:
    """Print the scores of a stored run."""
    show_run(find_run(run, out), json, full)
