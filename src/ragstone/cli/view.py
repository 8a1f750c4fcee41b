"""ragstone view: look inside stored runs in a browser."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from ragstone.cli.options import DEFAULT_ROOT


def view(
    root: Annotated[
        str,
        typer.Argument(metavar="[ROOT]", envvar="RAGSTONE_ROOT", help="Folder or s3:// root of the stored runs."),
    ] = DEFAULT_ROOT,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 takes any free port.")
    ] = 8765,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; any but this machine's own asks for a token.")
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="RAGSTONE_TOKEN",
            help="The token to ask for; one is made where it is needed.",
            show_default=False,
        ),
    ] = None,
    names: Annotated[
        list[str],
        typer.Option(
            "--name",
            metavar="HOST",
            help="A name by which browsers reach the viewer, behind a proxy say. Repeatable.",
            show_default=False,
        ),
    ] = [],  # noqa: B006
    read_only: Annotated[bool, typer.Option("--read-only", help="Let nobody edit ground truth.")] = False,
    browse: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
) -> None:
    """Show runs, samples, facts and comparisons in a browser, on this machine alone, and edit ground truth."""
    from ragstone.web.serving import Viewer

    viewer = Viewer(root, host, port, token, names, read_only)
    typer.echo(f"runs under {root}: {viewer.url}   (Ctrl-C stops)")
    if browse:
        import webbrowser

        webbrowser.open(viewer.url)
    # Ctrl-C is how one stops looking, no failure.
    with suppress(KeyboardInterrupt):
        viewer.serve()
