"""Access control: every request is checked before a page is made, and every response has security headers.

Pages may contain private data, and other web sites in the same browser can send requests to this machine. Their requests
are refused by Host (DNS rebinding) and by Origin. Addresses other than loopback require a token. Changes also require
a secret that only our own pages contain. `bind` opens the sockets of the servers.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragstone.errors import UsageError

COOKIE = "ragstone-token"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With no-referrer, browsers would send our own forms with the origin null.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_METHODS = ("GET", "HEAD")
# Ground truth can be changed, and every version is kept; labels of people can be added. Runs cannot be changed; one that is
# computed can be stopped.
_WRITABLE = re.compile(r"/(truth|labels)(/.*)?|/runs/[^/]+/stop(\.json)?", re.DOTALL)
_OTHER_SITE = "Requests from other web sites are refused."


def is_loopback(host: str) -> bool:
    """Check whether an address can be reached from this machine only."""
    address = _ip_address(host.strip("[]"))
    return host == "localhost" or (address is not None and address.is_loopback)


@dataclass(frozen=True)
class Guard:
    """The rules for requests. Without a token only loopback names are accepted as Host."""

    token: str | None = None
    names: frozenset[str] = field(default_factory=frozenset)
    read_only: bool = False
    # Our own pages send it with every change; other sites cannot read it.
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def accepts_host(self, host: str) -> bool:
        """Check the Host header, which protects against DNS rebinding."""
        name = _without_port(host)
        if is_loopback(name) or name in self.names:
            return True
        return self.token is not None and (_ip_address(name) is not None or name == socket.gethostname().lower())

    def refuse(self, method: str, path: str, headers: Headers) -> Response | None:
        """Return an error response for a request that is not allowed; None if it is."""
        host = headers.get("host", "")
        if not self.accepts_host(host):
            return _error(
                400, "Unknown host name. Use the address that `ragstone view` printed, or allow it with --name."
            )
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return _error(403, _OTHER_SITE)
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return _error(403, _OTHER_SITE)
        return None if method in _METHODS else self._refuse_change(method, path, headers)

    def _refuse_change(self, method: str, path: str, headers: Headers) -> Response | None:
        if method != "POST" or not _WRITABLE.fullmatch(path):
            return _error(405, "This address is read-only.", {"allow": ", ".join(_METHODS)})
        if self.read_only:
            return _error(403, "The viewer was started with --read-only and accepts no changes.")
        if headers.get("sec-fetch-site") not in (None, "same-origin"):
            return _error(403, _OTHER_SITE)
        return None

    def allows_change(self, secret: str | None) -> bool:
        """Check that a change comes from one of our own pages."""
        return secret is not None and secrets.compare_digest(secret.encode(), self.secret.encode())

    def accepts_token(self, token: str | None) -> bool:
        """Check the access token."""
        return self.token is None or (token is not None and secrets.compare_digest(token.encode(), self.token.encode()))


class Guarded:
    """ASGI middleware that checks requests with a guard and adds the security headers."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request or pass it on."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        headers = Headers(scope=scope)
        answer = self._guard.refuse(scope["method"], scope["path"], headers) or self._require_token(scope, headers)
        await (answer or self._app)(scope, receive, with_headers)

    def _require_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Accept the token in the address once and store it in a cookie, so that links do not contain it."""
        guard = self._guard
        if guard.token is None:
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = dict(query).get("token")
        if token is not None and guard.accepts_token(token):
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            # A path that starts with two slashes would lead to another host.
            path = "/" + scope["path"].lstrip("/\\")
            answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
            answer.set_cookie(COOKIE, guard.token, httponly=True, samesite="strict", path="/")
            return answer
        kind, _, word = headers.get("authorization", "").partition(" ")
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        if guard.accepts_token(word if kind.lower() == "bearer" else cookie):
            return None
        words = "A token is required. Open the address that `ragstone view` printed."
        return _error(401, words, {"www-authenticate": "Bearer"})


def _without_port(host: str) -> str:
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _ip_address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _error(status: int, words: str, headers: Mapping[str, str] | None = None) -> Response:
    return PlainTextResponse(f"{words}\n", status, dict(headers or {}))


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; an error that names the flag if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    try:
        # On Windows SO_REUSEADDR lets two servers have one port; the other option prevents it.
        bound.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR), 1)
        bound.bind((host, port))
        # Connections made before the server is up wait instead of being refused.
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror or error}. Choose another --port; 0 selects any free port."
        ) from None
    return bound
