"""ragstone receive: an OTLP-HTTP receiver that appends spans to a file."""

from __future__ import annotations

from contextlib import suppress

import typer

from ragstone.cli.options import COST, option
from ragstone.cli.output import command_line, next_steps


def receive(
    spool: str = option(..., "--spool --to", "JSON-lines file that spans are appended to.", metavar="FILE"),
    port: int = option(4318, "--port", "Port; 0 takes a free one.", metavar="N", min=0, max=65535),
    host: str = option("127.0.0.1", "--host", "Address to listen on; any but this machine's own needs a token."),
    token: str | None = option(None, "--token", "Access token; created if needed.", envvar="RAGSTONE_TOKEN"),
    request_mb: int = option(16, "--max-request", "Largest request, in MB.", COST, metavar="MB", min=1, max=1024),
    spool_gb: float = option(10.0, "--max-spool", "Largest file, in GB; then requests wait.", COST, metavar="GB"),
) -> None:
    """Receive spans by OTLP-HTTP and append them to a file.

    Spans are on disk before a request is answered: a process that is killed loses nothing that it has confirmed.
    """
    from ragstone.web.receiver import Receiver

    receiver = Receiver(spool, host, port, token, request_mb << 20, int(spool_gb * 2**30))
    typer.echo(f"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT={receiver.url}   (spans go to {spool}; Ctrl-C stops)")
    if receiver.token:
        typer.echo(f"OTEL_EXPORTER_OTLP_TRACES_HEADERS=authorization=Bearer%20{receiver.token}")
    next_steps((command_line("run", spool), "evaluate what has arrived"))
    # Ctrl-C ends the receiver and is not an error.
    with suppress(KeyboardInterrupt):
        receiver.serve()
