"""ragstone demo: the shipped example, evaluated."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone.cli.options import DEFAULT_ROOT, Full, Json, Quiet, Root


def demo(
    system: Annotated[
        str, typer.Argument(metavar="[better|worse]", help="Which of the two systems of the example.")
    ] = "better",
    out: Root = DEFAULT_ROOT,
    full: Full = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate the shipped example: 25 questions about a ferry line, answered by a small RAG system."""
    from importlib import resources

    from ragstone.cli.run import show_run
    from ragstone.errors import UnknownNameError

    if system not in ("better", "worse"):
        raise UnknownNameError("system", system, ("better", "worse"), "There are: better, worse.")
    with resources.as_file(resources.files("ragstone.examples") / "harbour") as folder:
        show_run(str(folder / f"{system}.jsonl"), [], out, {"name": f"harbour-{system}"}, json, quiet, full=full)
    if not json and not quiet:
        _say_what_next(other="worse" if system == "better" else "better")


def _say_what_next(other: str) -> None:
    """Commands that work as they stand, whether or not the environment is activated."""
    import shutil
    import sys

    ragstone = "ragstone" if shutil.which("ragstone") else sys.argv[0]
    if ragstone.endswith("__main__.py"):
        ragstone = f"{sys.executable} -m ragstone"
    steps = [
        (f"{ragstone} demo {other}", "the other system of the example"),
        (f"{ragstone} metrics fact_recall", "what a metric means and when it misleads"),
        (f"{ragstone} run answers.jsonl", "your own data"),
    ]
    width = max(len(command) for command, _ in steps)
    typer.echo("\nnext:")
    for command, purpose in steps:
        typer.echo(f"  {command:<{width}}   {purpose}")
