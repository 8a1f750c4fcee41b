"""The viewer: its ASGI app, and the server that runs it. Appending .json to the address of a page returns its data.

Modules of `pages` and `truth` list their routes in VIEWS (GET) and CHANGES (POST). Changes require the token that our own pages contain.
Addresses other than loopback require a token.
"""

from __future__ import annotations

import getpass
import importlib
import pkgutil
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl, quote

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ragstone.errors import DamagedError, RagstoneError, UsageError
from ragstone.web import pages, truth
from ragstone.web.library import Library
from ragstone.web.navigation import NotFoundError
from ragstone.web.render import page_html, page_json, static_file
from ragstone.web.security import Guard, Guarded, bind, is_loopback

MAX_BODY_BYTES = 32 * 1024 * 1024
_MAX_FIELDS = 10_000
_STALE = (
    "This page is older than the running viewer, which was restarted. Your edits are kept in the browser: "
    "go back, reload the page and try again."
)
_JSON = ".json"
Page = dict[str, Any]
# Called with the library, the query or form, and the parameters in the path as keywords.
View = Callable[..., Page]

_MODULES = [
    importlib.import_module(f"{package.__name__}.{info.name}")
    for package in (pages, truth)
    for info in pkgutil.iter_modules(package.__path__)
]


def _collect(table: str) -> dict[str, View]:
    return {path: view for module in _MODULES for path, view in getattr(module, table, {}).items()}


VIEWS, CHANGES = _collect("VIEWS"), _collect("CHANGES")
# Used by scripts only: these addresses have no HTML page.
JSON_VIEWS = _collect("JSON_VIEWS")

PORT = 8765


def make_app(library: Library, guard: Guard | None = None) -> ASGIApp:
    """Create the viewer for a library, protected by a guard."""
    guard = guard or Guard()
    routes = [Route("/", lambda request: _redirect(request, "/watch" if library.watches.is_watch else "/runs"))]
    routes += [Route("/static/{name}", lambda request: _file(request.path_params["name"]))]
    routes += [Route("/favicon.ico", lambda _: _file("icon.svg"))]
    for path, change in CHANGES.items():
        post = _change_endpoint(library, guard, change)
        routes += [Route(f"{path}{ending}", post, methods=["POST"]) for ending in (_JSON, "")]
    # A path of any length comes last: other pages may be below it.
    for path, view in sorted((JSON_VIEWS | VIEWS).items(), key=lambda item: ":path}" in item[0]):
        show = _view_endpoint(library, guard, view)
        # The .json route comes first: the name of a run may contain a dot.
        routes += [Route(f"{path}{_JSON}", show)]
        routes += [Route(path, show)] if path in VIEWS else []
    app = Starlette(routes=routes, exception_handlers={HTTPException: _fail, RagstoneError: _fail, Exception: _fail})
    return Guarded(app, guard)


def _view_endpoint(library: Library, guard: Guard, view: View) -> Callable[[Request], Response]:
    def show(request: Request) -> Response:
        return _respond(guard, request, view(library, request.query_params, **request.path_params))

    return show


def _change_endpoint(library: Library, guard: Guard, change: View) -> Callable[[Request], Awaitable[Response]]:
    async def post(request: Request) -> Response:
        form = await _read_form(request)
        if not guard.allows_change(form.get("token")):
            raise HTTPException(403, _STALE)
        data = await run_in_threadpool(change, library, form, **request.path_params)
        return await run_in_threadpool(_respond, guard, request, data)

    return post


async def _read_form(request: Request) -> QueryParams:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise HTTPException(415, "Changes must be sent as application/x-www-form-urlencoded.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            limit = MAX_BODY_BYTES // 1024 // 1024
            raise HTTPException(413, f"The request is larger than {limit} MB. Save fewer edits at a time.")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")
    except ValueError:
        raise HTTPException(400, "The form cannot be parsed.") from None
    return QueryParams(pairs)


def _respond(guard: Guard, request: Request, data: Page) -> Response:
    """Return page data as HTML or JSON, as an image (`picture`), as a download (`file`), or as a redirect (`go`)."""
    status = data.pop("status", 200)
    if "go" in data:
        return _redirect(request, data["go"])
    if (picture := data.pop("picture", None)) and not request.url.path.endswith(_JSON):
        return Response(picture.data, media_type=picture.media)
    if "file" in data:
        name = quote(data["called"], safe="")
        disposition = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
        return Response(data["file"], media_type="application/octet-stream", headers=disposition)
    query = f"?{request.url.query}" if request.url.query else ""
    twin = f"{request.url.path}{_JSON}{query}" if request.method == "GET" else ""
    html_only = {"path": request.url.path, "twin": twin, "token": guard.secret, "read_only": guard.read_only}
    return _page(request, status, data, html_only)


def _page(request: Request, status: int, data: Page, html_only: Page) -> Response:
    if request.url.path.endswith(_JSON):
        return Response(page_json(data), status, media_type="application/json")
    return Response(page_html(f"{data['page']}.html", {**data, **html_only}), status, media_type="text/html")


def _redirect(request: Request, path: str) -> Response:
    """Redirect to another page of the viewer; a request for JSON is redirected to JSON."""
    base, mark, query = path.partition("?")
    ending = _JSON if request.url.path.endswith(_JSON) else ""
    return RedirectResponse(f"{base}{ending}{mark}{query}", 303)


def _file(name: str) -> Response:
    if (file := static_file(name)) is None:
        raise HTTPException(404)
    return Response(file[0], media_type=file[1])


def _fail(request: Request, error: Exception) -> Response:
    """Return an error page. Internal errors show no details."""
    status, words = _explain(error)
    title = {400: "This cannot be shown", 404: "Not found", 409: "Damaged run"}.get(status, "Something went wrong")
    data = {"page": "error", "title": title, "status": status, "words": words}
    html_only = {"twin": "", "read_only": True, "address": getattr(error, "address", "")}
    return _page(request, status, data, html_only)


def _explain(error: Exception) -> tuple[int, str]:
    if isinstance(error, NotFoundError):
        return error.status, str(error)
    if isinstance(error, HTTPException):
        return error.status_code, "This page does not exist." if error.status_code == 404 else str(error.detail)
    if isinstance(error, DamagedError):
        return 409, str(error)
    if isinstance(error, UsageError):
        return 400, str(error)
    if isinstance(error, RagstoneError):
        return 500, str(error)
    return 500, "This is a bug in Ragstone. The traceback is in the terminal that runs the viewer."


def _login_name() -> str:
    """The login name of the user who started the viewer; empty if there is none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the user of a container may have no name
        return ""


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
        self._socket = bind(host, port)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        # On this machine, the person at the browser is the one who started the viewer.
        self._library = Library(root, _login_name() if is_loopback(host) else "")
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
