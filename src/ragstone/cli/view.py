"""ragstone view: look inside stored runs in a browser."""

from __future__ import annotations

import os
from contextlib import suppress

import typer

from ragstone.cli.options import DEFAULT_ROOT, option
from ragstone.cli.output import command_line, next_steps


def view(
    root: str = typer.Argument(
        DEFAULT_ROOT, metavar="[ROOT]", envvar="RAGSTONE_ROOT", help="Folder or s3:// root of the runs."
    ),
    port: int = option(8765, "--port", "Port; 0 takes a free one.", metavar="N", min=0, max=65535),
    host: str = option("127.0.0.1", "--host", "Address to listen on; any but this machine's own needs a token."),
    token: str | None = option(None, "--token", "Access token; created if needed.", envvar="RAGSTONE_TOKEN"),
    names: list[str] = option(
        [], "--host-name --name", "Host name that browsers use, for example behind a proxy. Repeatable.", metavar="HOST"
    ),
    read_only: bool = option(False, "--read-only", "Do not allow changes to ground truth."),
    browse: bool = option(False, "--open", "Open the browser."),
) -> None:
    """Show runs in a browser and edit ground truth."""
    from ragstone.web.app import Viewer

    viewer = Viewer(root, host, port, token, names, read_only)
    typer.echo(f"runs under {root}: {viewer.url}   (Ctrl-C stops)")
    next_steps(_next_step(root))
    if browse:
        import webbrowser

        webbrowser.open(viewer.url)
    # Ctrl-C ends the viewer and is not an error.
    with suppress(KeyboardInterrupt):
        viewer.serve()


def _next_step(root: str) -> tuple[str, str]:
    """Something to look at if there is no run yet; otherwise a report for people without the viewer."""
    from ragstone.storage.places import open_place
    from ragstone.storage.runs import RunFolder

    folders = map(RunFolder, (open_place(root) / "runs").children())
    if not any(folder.manifest.exists() for folder in folders):
        return command_line("demo", out=root), "a first run to look at"
    named = None if root in (DEFAULT_ROOT, os.environ.get("RAGSTONE_ROOT")) else root
    return command_line("report", "latest", root=named), "the newest run as one file to send"
