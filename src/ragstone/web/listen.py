"""Sockets of the servers on this machine."""

from __future__ import annotations

import socket

from ragstone.errors import UsageError


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; an error that names the flag if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        # Connections made before the server is up wait instead of being refused.
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror or error}. Choose another --port; 0 selects any free port."
        ) from None
    return bound
