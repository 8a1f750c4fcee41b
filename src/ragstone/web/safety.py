"""Who may ask, and what a page may do: checked before any page is made, said in the headers of every answer.

A page of the viewer holds what may be private. Another web site that is open in the same browser can send requests to this
machine; it is told apart by Host (a name that was made to lead here) and by Origin. Off this machine a token is asked for.
Changes carry a secret besides, which only our own pages hold.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "ragstone-token"
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With no-referrer, browsers would send our own forms with the origin null, as if from nowhere.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_METHODS = ("GET", "HEAD")
# What alone can be changed through the viewer: ground truth, of which every version stays. Runs cannot.
_WRITABLE = "/truth"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Guard:
    """What is allowed: with no token the names of this machine's loopback only."""

    token: str | None = None
    names: frozenset[str] = field(default_factory=frozenset)
    read_only: bool = False
    # What our own pages send along with a change; no other site can read it.
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def knows_host(self, host: str) -> bool:
        """Whether a Host header is one of ours; a name that was made to lead here (DNS rebinding) is none."""
        name = _without_port(host)
        if is_loopback(name) or name in self.names:
            return True
        return self.token is not None and (_is_address(name) or name == socket.gethostname().lower())

    def refuses(self, method: str, path: str, headers: Headers) -> Response | None:
        """The answer to a request that must not be served; None if it may."""
        host = headers.get("host", "")
        if not self.knows_host(host):
            return _say(
                400, "This name does not lead to the viewer. Use the address that `ragstone view` printed, or --name."
            )
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return _say(403, "Requests of other web sites are refused.")
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return _say(403, "Requests of other web sites are refused.")
        return None if method in _METHODS else self._refuses_change(method, path, headers)

    def _refuses_change(self, method: str, path: str, headers: Headers) -> Response | None:
        if method != "POST" or not (path == _WRITABLE or path.startswith(f"{_WRITABLE}/")):
            return _say(405, "The viewer only shows; it changes nothing.", {"allow": ", ".join(_METHODS)})
        if self.read_only:
            return _say(403, "The viewer was started with --read-only; it changes nothing.")
        if headers.get("sec-fetch-site") not in (None, "same-origin"):
            return _say(403, "Requests of other web sites are refused.")
        return None

    def allows_change(self, given: str | None) -> bool:
        """Whether a change comes from one of our own pages."""
        return given is not None and secrets.compare_digest(given.encode(), self.secret.encode())

    def admits(self, given: str | None) -> bool:
        """Whether a token is the right one."""
        return self.token is None or (given is not None and secrets.compare_digest(given.encode(), self.token.encode()))


class Guarded:
    """The app behind the guard."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or serve with our headers."""
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        headers = Headers(scope=scope)
        answer = self._guard.refuses(scope["method"], scope["path"], headers) or self._ask_token(scope, headers)
        await (answer or self._app)(scope, receive, with_headers)

    def _ask_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Once in the address, then in a cookie, so that it stands in no link and in no history."""
        guard = self._guard
        if guard.token is None:
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = dict(query).get("token")
        if given is not None and guard.admits(given):
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            answer = RedirectResponse(f"{_local(scope['path'])}{f'?{rest}' if rest else ''}", 303)
            answer.set_cookie(COOKIE, guard.token, httponly=True, samesite="strict", path="/")
            return answer
        kind, _, word = headers.get("authorization", "").partition(" ")
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        if guard.admits(word if kind.lower() == "bearer" else cookie):
            return None
        return _say(
            401, "A token is needed: open the address that `ragstone view` printed.", {"www-authenticate": "Bearer"}
        )


def _local(path: str) -> str:
    """A path on this server: two slashes at its beginning would name another."""
    return "/" + path.lstrip("/\\")


def _without_port(host: str) -> str:
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _say(status: int, words: str, headers: Mapping[str, str] | None = None) -> Response:
    return PlainTextResponse(f"{words}\n", status, dict(headers or {}))
