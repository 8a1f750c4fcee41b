"""The server of the viewer. Addresses other than loopback require a token."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterable

import uvicorn

from ragstone.errors import UsageError
from ragstone.web.app import make_app
from ragstone.web.library import Library
from ragstone.web.security import Guard, is_loopback

PORT = 8765


class Viewer:
    """A viewer that is bound to a port when it is created, so that its address is known before it serves."""

    def __init__(
        self,
        root: str,
        host: str = "127.0.0.1",
        port: int = PORT,
        token: str | None = None,
        names: Iterable[str] = (),
        read_only: bool = False,
    ) -> None:
        if token is not None and len(token) < 8:
            raise UsageError("the token must have at least 8 characters; omit --token to generate one")
        self.token = token or (None if is_loopback(host) else secrets.token_urlsafe(24))
        self._socket = _bind(host, port)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        self._library = Library(root)
        app = make_app(self._library, Guard(self.token, frozenset(name.lower() for name in names), read_only))
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    @property
    def url(self) -> str:
        """The address to open, with the token if one is required."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        shown = socket.gethostname() if self.host in ("0.0.0.0", "::") else name  # noqa: S104
        return f"http://{shown}:{self.port}/{f'?token={self.token}' if self.token else ''}"

    def serve(self) -> None:
        """Serve until stopped."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self.close()

    def close(self) -> None:
        """Release the port and cancel background work."""
        self._socket.close()
        self._library.close()

    def stop(self) -> None:
        """Stop the server from another thread."""
        self._server.should_exit = True


def _bind(host: str, port: int) -> socket.socket:
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
