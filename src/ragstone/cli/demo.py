"""ragstone demo: the shipped example, evaluated."""

from __future__ import annotations

from typing import Annotated

import typer

from ragstone.cli.options import DEFAULT_ROOT, Json, Quiet, Root


def demo(
    version: Annotated[
        str, typer.Option("--version", metavar="better|worse", help="Which of the two systems of the example.")
    ] = "better",
    out: Root = DEFAULT_ROOT,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Evaluate the shipped example: 25 questions about a ferry line, answered by a small RAG system."""
    from importlib import resources

    from ragstone.cli.run import show_run
    from ragstone.errors import UnknownNameError

    if version not in ("better", "worse"):
        raise UnknownNameError("version", version, ("better", "worse"), "There are: better, worse.")
    with resources.as_file(resources.files("ragstone.examples") / "harbour") as folder:
        show_run(str(folder / f"{version}.jsonl"), [], out, {"name": f"harbour-{version}"}, json, quiet)
    if not json and not quiet:
        other = "worse" if version == "better" else "better"
        typer.echo(
            "\nnext:\n"
            f"  ragstone demo --version {other:<8} the other version of this system\n"
            "  ragstone metrics fact_recall      what a metric means and when it misleads\n"
            "  ragstone run answers.jsonl        your own data"
        )
