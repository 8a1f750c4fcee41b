"""ragstone view and receive: stored runs in a browser, and an OTLP-HTTP receiver that appends spans to a file."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import DEFAULT_ROOT, argument, option, shared
from ragstone.cli.output import command_line, find_run, next_steps
from ragstone.errors import UsageError
from ragstone.tools.model_options import COST

if TYPE_CHECKING:
    from ragstone.web.app import Viewer


def view(
    root: str = argument("[ROOT]", "Folder or s3:// root of the runs.", DEFAULT_ROOT, "RAGSTONE_ROOT"),
    port: int = shared("port"),
    host: str = shared("host"),
    token: str | None = shared("token"),
    names: list[str] = option(
        [], "--host-name --name", "Host name that browsers use, for example behind a proxy. Repeatable.", metavar="HOST"
    ),
    read_only: bool = option(False, "--read-only", "Do not allow labels and changes to ground truth."),
    run: str | None = shared("run", None),
    sample: str | None = option(None, "--sample", "Show this sample of --run first: id or row number.", metavar="ID"),
    browse: bool = shared("open"),
) -> None:
    """Show runs in a browser, label answers and edit ground truth."""
    from ragstone.cli.evaluation import leave_pandas_out

    leave_pandas_out()
    from ragstone.web.app import Viewer

    if sample and not run:
        raise UsageError("--sample needs --run, for example --run latest")
    path = page_of(run, sample, root) if run else ""
    viewer = Viewer(root, host, port, token, names, read_only)
    click.echo(f"runs under {root}: {_address(viewer, path)}   (Ctrl-C stops)")
    next_steps(_next_step(root))
    serve(viewer, path, browse)


def page_of(run: str, sample: str | None, root: str) -> str:
    """The path of the page of a run or of one of its samples."""
    from ragstone.analysis.explain import find_row
    from ragstone.storage.runs import read_table

    found = find_run(run, root)
    if sample is None:
        return f"runs/{found.id}"
    row = find_row(read_table(found.folder.samples, ["id"])["id"], sample)
    return f"runs/{found.id}/samples/{row + 1}"


def serve(viewer: Viewer, path: str, browse: bool) -> None:
    """Serves until Ctrl-C, which is not an error. Without a browser on this machine, the address is enough."""
    if browse and not _open_browser(_address(viewer, path)):
        click.echo("no browser on this machine: open the address above in one that can reach it")
    with suppress(KeyboardInterrupt):
        viewer.serve()


def open_viewer(root: str, path: str) -> Viewer:
    """A viewer on the usual port or, if that is taken, on a free one; its address is printed."""
    from ragstone.web.app import PORT, Viewer

    try:
        viewer = Viewer(root, port=PORT)
    except UsageError:
        viewer = Viewer(root, port=0)
    click.echo(f"\nopen {_address(viewer, path)}   (Ctrl-C stops)")
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


def receive(
    spool: str = option(..., "--spool --to", "JSON-lines file that spans are appended to.", metavar="FILE"),
    port: int = shared("port", 4318),
    host: str = shared("host"),
    token: str | None = shared("token"),
    request_mb: int = option(16, "--max-request", "Largest request, in MB.", COST, metavar="MB", min=1, max=1024),
    spool_gb: float = option(10.0, "--max-spool", "Largest file, in GB; then requests wait.", COST, metavar="GB"),
) -> None:
    """Receive spans by OTLP-HTTP and append them to a file.

    Spans are on disk before a request is answered: a process that is killed loses nothing that it has confirmed.
    """
    from ragstone.web.receiver import Receiver

    receiver = Receiver(spool, host, port, token, request_mb << 20, int(spool_gb * 2**30))
    click.echo(f"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT={receiver.url}   (spans go to {spool}; Ctrl-C stops)")
    if receiver.token:
        click.echo(f"OTEL_EXPORTER_OTLP_TRACES_HEADERS=authorization=Bearer%20{receiver.token}")
    next_steps((command_line("run", spool), "evaluate what has arrived"))
    # Ctrl-C ends the receiver and is not an error.
    with suppress(KeyboardInterrupt):
        receiver.serve()
