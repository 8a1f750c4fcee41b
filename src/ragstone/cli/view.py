"""ragstone view: look inside stored runs in a browser."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from ragstone.cli.find_run import find_run
from ragstone.cli.options import DEFAULT_ROOT, option
from ragstone.cli.output import command_line, next_steps
from ragstone.errors import UsageError

if TYPE_CHECKING:
    from ragstone.web.app import Viewer


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
    run: str | None = option(None, "--run", "Stored run: folder, id or name.", metavar="RUN"),
    sample: str | None = option(None, "--sample", "Show this sample of --run first: id or row number.", metavar="ID"),
    browse: bool = option(False, "--open", "Open the browser."),
) -> None:
    """Show runs in a browser and edit ground truth."""
    from ragstone.web.app import Viewer

    if sample and not run:
        raise UsageError("--sample needs --run, for example --run latest")
    path = page_of(run, sample, root) if run else ""
    viewer = Viewer(root, host, port, token, names, read_only)
    typer.echo(f"runs under {root}: {_address(viewer, path)}   (Ctrl-C stops)")
    next_steps(_next_step(root))
    serve(viewer, path, browse)


def page_of(run: str, sample: str | None, root: str) -> str:
    """The path of the page of a run or of one of its samples."""
    from ragstone.compare.explain import find_row
    from ragstone.storage.runs import read_table

    found = find_run(run, root)
    if sample is None:
        return f"runs/{found.id}"
    row = find_row(read_table(found.folder.samples, ["id"])["id"], sample)
    return f"runs/{found.id}/samples/{row + 1}"


def serve(viewer: Viewer, path: str, browse: bool) -> None:
    """Serves until Ctrl-C, which is not an error. Without a browser on this machine, the address is enough."""
    if browse and not _open_browser(_address(viewer, path)):
        typer.echo("no browser on this machine: open the address above in one that can reach it")
    with suppress(KeyboardInterrupt):
        viewer.serve()


def open_viewer(root: str, path: str) -> Viewer:
    """A viewer on the usual port or, if that is taken, on a free one; its address is printed."""
    from ragstone.web.app import PORT, Viewer

    try:
        viewer = Viewer(root, port=PORT)
    except UsageError:
        viewer = Viewer(root, port=0)
    typer.echo(f"\nopen {_address(viewer, path)}   (Ctrl-C stops)")
    return viewer


def _address(viewer: Viewer, path: str) -> str:
    base, mark, query = viewer.url.partition("?")
    return f"{base.rstrip('/')}/{path}{mark}{query}" if path else viewer.url


def _open_browser(address: str) -> bool:
    """Whether a browser was started; programs that show pages in the terminal do not count."""
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False


def _next_step(root: str) -> tuple[str, str]:
    """Something to look at if there is no run yet; otherwise a report for people without the viewer."""
    from ragstone.storage.places import open_place
    from ragstone.storage.runs import RunFolder

    folders = map(RunFolder, (open_place(root) / "runs").children())
    if not any(folder.manifest.exists() for folder in folders):
        return command_line("demo", out=root), "a first run to look at"
    named = None if root in (DEFAULT_ROOT, os.environ.get("RAGSTONE_ROOT")) else root
    return command_line("report", "latest", root=named), "the newest run as one file to send"
