"""The addresses of the viewer. An address that ends in .json gives the data of the page without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ragstone.errors import RagstoneError, UsageError
from ragstone.web.errors import NotThereError
from ragstone.web.library import Library
from ragstone.web.pages.comparing import choose, comparison_page
from ragstone.web.pages.facts import facts_page
from ragstone.web.pages.live import live_page
from ragstone.web.pages.pair import pair_page
from ragstone.web.pages.run import run_page
from ragstone.web.pages.runs import runs_page
from ragstone.web.pages.sample import sample_page
from ragstone.web.render import page_html, page_json, static_file
from ragstone.web.safety import Guard, Guarded
from ragstone.web.truth.views import TRUTH_CHANGES, TRUTH_TWINS, TRUTH_VIEWS
from ragstone.web.writing import change_endpoint

_JSON = ".json"
Page = dict[str, Any]
# From the library, the names in the path and the query to page data.
View = Callable[[Library, Sequence[str], QueryParams], Page]


def make_app(library: Library, guard: Guard | None = None) -> ASGIApp:
    """The viewer over a library, behind its guard."""
    routes = [Route("/", lambda request: _go(request, "/runs"))]
    routes += [Route("/static/{name}", _static), Route("/favicon.ico", lambda _: _file("icon.svg"))]
    guard = guard or Guard()
    for path, change in TRUTH_CHANGES.items():
        changing = change_endpoint(library, guard, change, lambda *said: _answer(guard, *said))
        routes += [Route(f"{path}{ending}", changing, methods=["POST"]) for ending in (_JSON, "")]
    for path, view in VIEWS.items():
        endpoint = _endpoint(library, guard, view)
        # The twin first: the name of a run may have a dot in it.
        routes += [Route(f"{path}{_JSON}", endpoint)]
        routes += [Route(path, endpoint)] if path not in TRUTH_TWINS else []
    app = Starlette(routes=routes, exception_handlers={HTTPException: _fail, RagstoneError: _fail, Exception: _fail})
    return Guarded(app, guard)


def _endpoint(library: Library, guard: Guard, view: View) -> Callable[[Request], Response]:
    def show(request: Request) -> Response:
        return _answer(guard, request, view(library, list(request.path_params.values()), request.query_params), 200)

    return show


def _answer(guard: Guard, request: Request, data: Page, status: int) -> Response:
    """Page data as a page, as JSON, as a file to keep, or as the way to another page."""
    if "go" in data:
        return _go(request, data["go"])
    if "file" in data:
        name = quote(data["called"], safe="")
        disposition = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
        return Response(data["file"], media_type="application/octet-stream", headers=disposition)
    if request.url.path.endswith(_JSON):
        return Response(page_json(data), status, media_type="application/json")
    query = f"?{request.url.query}" if request.url.query else ""
    data["twin"] = f"{request.url.path}{_JSON}{query}" if request.method == "GET" else ""
    data |= {"token": guard.secret, "read_only": guard.read_only}
    return Response(page_html(f"{data['page']}.html", data), status, media_type="text/html")


def _runs(library: Library, _: Sequence[str], query: QueryParams) -> Page:
    return runs_page(library, query)


def _run(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    folder = library.folder(names[0])
    under_way = live_page(folder)
    return under_way or run_page(library, library.run(names[0]), query, query.getlist("col"))


def _sample(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return sample_page(library, library.run(names[0]), _row(names[1]), query, query.getlist("col"))


def _facts(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return facts_page(library, library.run(names[0]), _row(names[1]), query, query.getlist("col"))


def _choose(library: Library, _: Sequence[str], query: QueryParams) -> Page:
    return choose(library, query.getlist("run"))


def _comparison(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return comparison_page(library, library.run(names[0]), library.run(names[1]), query)


def _pair(library: Library, names: Sequence[str], query: QueryParams) -> Page:
    return pair_page(library, library.run(names[0]), library.run(names[1]), _row(names[2]), query)


def _row(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise NotThereError(f"{text[:80]} is no row number; samples are counted from 1")
    return int(text)


VIEWS: dict[str, View] = {
    **TRUTH_TWINS,
    **TRUTH_VIEWS,
    "/runs": _runs,
    "/runs/{run}": _run,
    "/runs/{run}/samples/{row}": _sample,
    "/runs/{run}/samples/{row}/facts": _facts,
    "/compare": _choose,
    "/compare/{before}/{after}": _comparison,
    "/compare/{before}/{after}/samples/{row}": _pair,
}


def _go(request: Request, path: str) -> Response:
    """To another page of ours; a program stays among the twins."""
    twin = request.url.path.endswith(_JSON)
    base, mark, query = path.partition("?")
    return RedirectResponse(f"{base}{_JSON if twin else ''}{mark}{query}", 303)


def _static(request: Request) -> Response:
    return _file(request.path_params["name"])


def _file(name: str) -> Response:
    found = static_file(name)
    if found is None:
        raise HTTPException(404)
    return Response(found[0], media_type=found[1])


def _fail(request: Request, error: Exception) -> Response:
    """What went wrong, as a page or for programs; of our own faults no more than that."""
    status, words = _explain(error)
    data = {
        "page": "error",
        "title": "Not here" if status == 404 else "That did not work",
        "status": status,
        "words": words,
    }
    if request.url.path.endswith(_JSON):
        return Response(page_json(data), status, media_type="application/json")
    return Response(page_html("error.html", {**data, "twin": "", "read_only": True}), status, media_type="text/html")


def _explain(error: Exception) -> tuple[int, str]:
    if isinstance(error, NotThereError):
        return error.status, str(error)
    if isinstance(error, HTTPException):
        return error.status_code, "There is no such page." if error.status_code == 404 else str(error.detail)
    if isinstance(error, UsageError):
        return 400, str(error)
    if isinstance(error, RagstoneError):
        return 500, str(error)
    return 500, "This is a bug in Ragstone; the terminal in which the viewer runs shows where."
